package lease

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// ApplyBatch applies 1 to [MaxBatchLines] operations of one agent in one commit, all or nothing (continuation.md,
// section 5). lines is a file of JSON Lines, at most [MaxBatchBytes]. Later lines see what earlier ones did, as if each
// were a command. The ids of Todos that are added without one are drawn once, and a replay tells them again.
//
// A refusal says which line and op it is of, and in result what that line came to. Its code is the line's own, and
// invalid_coordination_todo_batch for what is malformed.
func (l *Ledger) ApplyBatch(ctx context.Context, c todo.Call, lines []byte) (BatchAnswer, error) {
	c.Todo = ""
	if err := checkNoProof(c, todo.CodeInvalidBatch); err != nil {
		return BatchAnswer{}, err
	}
	if err := todo.CheckCall(c, todo.CodeInvalidBatch); err != nil {
		return BatchAnswer{}, err
	}
	ops, err := parseBatch(c.Agent, lines)
	if err != nil {
		return BatchAnswer{}, err
	}
	steps, err := l.steps(c, ops)
	if err != nil {
		return BatchAnswer{}, err
	}
	whole := todo.Step{Kind: "todo apply", Args: map[string]any{"operations": ops}}
	whole.Decide = func(ctx context.Context, s *gitstore.Snapshot, at todo.Instant) (todo.Decision, error) {
		return decideBatch(ctx, s, ops, steps, at)
	}
	a, err := l.Run(ctx, c, whole)
	if err != nil {
		return BatchAnswer{}, err
	}
	var result BatchResult
	if err := json.Unmarshal(a.Receipt.Result, &result); err != nil {
		return BatchAnswer{}, err
	}
	return BatchAnswer{Answer: a, Lines: result.Results}, nil
}

// steps makes the steps of the operations of a batch, and draws the ids that they need.
func (l *Ledger) steps(c todo.Call, ops []operation) ([]todo.Step, error) {
	steps := make([]todo.Step, len(ops))
	for i, o := range ops {
		at := o.line()
		call := todo.Call{Goal: c.Goal, Todo: at.Todo, Agent: c.Agent, Session: c.Session, Proof: o.proof()}
		var err error
		if steps[i], err = o.step(l, call); err != nil {
			return nil, refusedAs(i+1, at, err, todo.CodeInvalidBatch)
		}
	}
	return steps, nil
}

// decideBatch decides line by line, each on what the lines before it leave.
func decideBatch(ctx context.Context, s *gitstore.Snapshot, ops []operation, steps []todo.Step, at todo.Instant) (todo.Decision, error) {
	whole := todo.Decision{Subject: fmt.Sprintf("todo apply (%d)", len(ops))}
	result := BatchResult{Schema: BatchSchema, Results: make([]LineResult, len(ops))}
	for i, step := range steps {
		if err := ctx.Err(); err != nil {
			return todo.Decision{}, err
		}
		line := LineResult{Line: i + 1, Op: ops[i].line().Op, TodoID: ops[i].line().Todo}
		d, err := step.Decide(ctx, s, at)
		change, err := todo.ChangeOf(d, err)
		if err != nil {
			return todo.Decision{}, refusedAs(i+1, ops[i].line(), err, "")
		}
		if line.Result, err = canonical.Marshal(d.Result); err != nil {
			return todo.Decision{}, err
		}
		line.Changed = d.Changes()
		if d.Todo != "" {
			line.TodoID = d.Todo
		}
		result.Results[i], result.Changed = line, result.Changed || line.Changed
		putTogether(&whole, d)
		if line.Changed {
			s = s.With(change.Files)
		}
	}
	whole.Result = result
	return whole, nil
}

// refusedAs is the refusal of a batch for an error of one of its lines, which is not the last word where it is none of a
// rule. code replaces the line's own, unless it is "".
func refusedAs(line int, at head, err error, code todo.Code) error {
	r := todo.AsRefusal(err)
	if r == nil {
		return err
	}
	whole, err := refusedLine(line, at, r)
	if err != nil {
		return err
	}
	if code != "" {
		whole.Code = code
	}
	return whole
}

func (o addLine) step(l *Ledger, c todo.Call) (todo.Step, error)    { return l.AddStep(c, o.args()) }
func (o updateLine) step(l *Ledger, c todo.Call) (todo.Step, error) { return l.UpdateStep(c, o.args()) }

func (o noteLine) step(l *Ledger, c todo.Call) (todo.Step, error) {
	return l.NoteStep(c, todo.NoteArgs{Text: o.Text, Clear: o.Clear})
}

func (o claimLine) step(l *Ledger, c todo.Call) (todo.Step, error) {
	return l.claimStep(c, o.ClaimedBy, o.request())
}

func (o releaseLine) step(l *Ledger, c todo.Call) (todo.Step, error) {
	return l.ReleaseStep(c, todo.ReleaseArgs{Override: o.Override, Reason: o.Reason})
}

func (o completeLine) step(l *Ledger, c todo.Call) (todo.Step, error) {
	return l.CompleteStep(c, todo.CompleteArgs{Evidence: o.Evidence, Reason: o.Reason, Successors: o.Successor})
}

func (o supersedeLine) step(l *Ledger, c todo.Call) (todo.Step, error) {
	return l.SupersedeStep(c, todo.SupersedeArgs{By: o.By, Reason: o.Reason})
}

func (o reopenLine) step(l *Ledger, c todo.Call) (todo.Step, error) {
	return l.ReopenStep(c, todo.ReopenArgs{Reason: o.Reason})
}

func (o archiveLine) step(l *Ledger, c todo.Call) (todo.Step, error) { return l.ArchiveStep(c) }
