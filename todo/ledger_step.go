package todo

import (
	"context"

	"github.com/git-loopx/git-loopx/gitstore"
)

// Step is one mutation by an actor, ready to be decided on any snapshot of its goal. Its arguments are well formed.
type Step struct {
	Kind string         // the words of the command
	Args map[string]any // of the request digest, besides those of every call
	// Decide gathers what the rule needs from the snapshot and decides. It may be called more than once.
	Decide func(context.Context, *gitstore.Snapshot, Instant) (Decision, error)
}

// Run applies one step. A dry run answers with the Todo as it would be.
func (l *Ledger) Run(ctx context.Context, c Call, step Step) (Answer, error) {
	if _, err := l.Instant(); err != nil {
		return Answer{}, err
	}
	op, err := l.Operation(c, step.Kind, step.Args)
	if err != nil {
		return Answer{}, err
	}
	var last Decision
	op.Decide = func(ctx context.Context, s *gitstore.Snapshot) (gitstore.Change, error) {
		at, err := l.Instant() // not before: a lease may end while the operation waits for its turn
		if err != nil {
			return gitstore.Change{}, err
		}
		last, err = step.Decide(ctx, s, at)
		return ChangeOf(last, err)
	}
	a, err := l.Apply(ctx, c, op)
	if err != nil || a.Status != gitstore.Planned {
		return a, err
	}
	for _, t := range last.Todos {
		if t.ID == a.Todo {
			v := ViewOf(t)
			a.View = &v
		}
	}
	return a, nil
}

// run is [Ledger.Run] for a step that may be malformed.
func (l *Ledger) run(ctx context.Context, c Call) func(Step, error) (Answer, error) {
	return func(step Step, err error) (Answer, error) {
		if err != nil {
			return Answer{}, err
		}
		return l.Run(ctx, c, step)
	}
}

// step is that of a verb that needs one Todo and nothing else.
func (l *Ledger) step(c Call, malformed error, family Code, kind string, args map[string]any, decide func(State, Instant) (Decision, error)) (Step, error) {
	if err := First(malformed, checkTodoCall(c, family)); err != nil {
		return Step{}, err
	}
	return Step{Kind: kind, Args: args, Decide: func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		state, err := l.ReadMutable(ctx, s, c.Goal, c.Todo, at)
		if err != nil {
			return Decision{}, err
		}
		return decide(state, at)
	}}, nil
}

// endStep is that of a verb that ends work, with the Todos that the work goes on in.
func (l *Ledger) endStep(c Call, malformed error, kind string, args map[string]any, next []ID, decide func(State, Following, Instant) (Decision, error)) (Step, error) {
	if err := First(malformed, checkTodoCall(c, CodeInvalidLifecycle)); err != nil {
		return Step{}, err
	}
	return Step{Kind: kind, Args: args, Decide: func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		state, err := l.ReadMutable(ctx, s, c.Goal, c.Todo, at)
		if err != nil {
			return Decision{}, err
		}
		after, err := follow(ctx, s, next)
		if err != nil {
			return Decision{}, err
		}
		return decide(state, after, at)
	}}, nil
}

func checkTodoCall(c Call, family Code) error {
	if c.Todo == "" {
		return Fail(family, "no todo given")
	}
	return CheckCall(c, family)
}
