package todo

import (
	"context"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
)

// idsDrawn is how many ids add draws before it starts, so that a taken one costs nothing.
const idsDrawn = 4

// Add makes a Todo. Without c.Todo its id is drawn.
func (l *Ledger) Add(ctx context.Context, c Call, a AddArgs) (Answer, error) {
	return l.run(ctx, c)(l.AddStep(c, a))
}

// AddStep is the step of [Ledger.Add].
func (l *Ledger) AddStep(c Call, a AddArgs) (Step, error) {
	a, err := a.check()
	if err != nil {
		return Step{}, err
	}
	if err := CheckCall(c, CodeInvalidAdd); err != nil {
		return Step{}, err
	}
	ids := []ID{c.Todo}
	if c.Todo == "" {
		ids = make([]ID, idsDrawn)
		for i := range ids {
			if ids[i], err = NewID(l.Random); err != nil {
				return Step{}, err
			}
		}
	}
	decide := func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		id, err := firstFree(ctx, s, ids)
		if err != nil {
			return Decision{}, err
		}
		state, err := l.ReadState(ctx, s, c.Goal, id, at)
		if err != nil {
			return Decision{}, err
		}
		r := addRequest{Args: a, ID: id, Given: c.Todo != "", Actor: c.Agent, At: at}
		if state.Todo == nil {
			if r.Siblings, err = l.siblings(ctx, s, a.Role, a.Text); err != nil {
				return Decision{}, err
			}
			if r.Dependencies, err = l.dependencies(ctx, s, id, a.DependsOn); err != nil {
				return Decision{}, err
			}
		}
		return decideAdd(state, r)
	}
	return Step{Kind: "todo add", Args: a.request(), Decide: decide}, nil
}

// firstFree returns the first of the ids that no file of the snapshot belongs to, or the last one.
func firstFree(ctx context.Context, s *gitstore.Snapshot, ids []ID) (ID, error) {
	for _, id := range ids[:len(ids)-1] {
		free := true
		for _, file := range []string{TodoPath(id), NotePath(id), LeasePath(id)} {
			_, there, err := s.File(ctx, file)
			if err != nil {
				return "", err
			}
			free = free && !there
		}
		if free {
			return id, nil
		}
	}
	return ids[len(ids)-1], nil
}

// siblings returns the open, active Todos of a role and text, by id. The table says where they may be.
func (l *Ledger) siblings(ctx context.Context, s *gitstore.Snapshot, role Role, text string) ([]Todo, error) {
	rows, err := l.Store.Keys(ctx, s, "todos", rowVersion, makeRow)
	if err != nil {
		return nil, err
	}
	var found []Todo
	hash := sameHash(role, text)
	for _, r := range rows {
		k := rowKey(r.Key)
		if !k.readable() || !k.same(hash) || k.status() != Open || k.archived() {
			continue
		}
		t, err := ReadTodo(ctx, s, IDOf(r.Name))
		if err != nil {
			return nil, err
		}
		if t != nil && t.Role == role && t.Text == text && t.Status == Open && t.ArchiveState == Active {
			found = append(found, *t)
		}
	}
	slices.SortFunc(found, func(a, b Todo) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return found, nil
}

// Update changes members of a Todo.
func (l *Ledger) Update(ctx context.Context, c Call, a UpdateArgs) (Answer, error) {
	return l.run(ctx, c)(l.UpdateStep(c, a))
}

// UpdateStep is the step of [Ledger.Update].
func (l *Ledger) UpdateStep(c Call, a UpdateArgs) (Step, error) {
	if err := First(a.check(), checkTodoCall(c, CodeInvalidUpdate)); err != nil {
		return Step{}, err
	}
	decide := func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		state, err := l.ReadMutable(ctx, s, c.Goal, c.Todo, at)
		if err != nil {
			return Decision{}, err
		}
		var next Dependencies
		if a.DependsOn != nil {
			if next, err = l.dependencies(ctx, s, c.Todo, *a.DependsOn); err != nil {
				return Decision{}, err
			}
		}
		return decideUpdate(state, c, a, next, at)
	}
	return Step{Kind: "todo update", Args: a.request(), Decide: decide}, nil
}

// SetNote replaces or removes the note on a Todo.
func (l *Ledger) SetNote(ctx context.Context, c Call, a NoteArgs) (Answer, error) {
	return l.run(ctx, c)(l.NoteStep(c, a))
}

// NoteStep is the step of [Ledger.SetNote].
func (l *Ledger) NoteStep(c Call, a NoteArgs) (Step, error) {
	return l.step(c, a.check(), CodeInvalidUpdate, "todo note", a.request(), func(s State, at Instant) (Decision, error) {
		return decideNote(s, c, a, at)
	})
}

// Release frees a Todo.
func (l *Ledger) Release(ctx context.Context, c Call, a ReleaseArgs) (Answer, error) {
	return l.run(ctx, c)(l.ReleaseStep(c, a))
}

// ReleaseStep is the step of [Ledger.Release].
func (l *Ledger) ReleaseStep(c Call, a ReleaseArgs) (Step, error) {
	return l.step(c, a.check(), CodeInvalidClaim, "todo release", a.request(), func(s State, at Instant) (Decision, error) {
		return decideRelease(s, c, a, at)
	})
}

// Complete ends the work on a Todo.
func (l *Ledger) Complete(ctx context.Context, c Call, a CompleteArgs) (Answer, error) {
	return l.run(ctx, c)(l.CompleteStep(c, a))
}

// CompleteStep is the step of [Ledger.Complete].
func (l *Ledger) CompleteStep(c Call, a CompleteArgs) (Step, error) {
	a, err := a.check()
	return l.endStep(c, err, "todo complete", a.request(), a.Successors, func(s State, after Following, at Instant) (Decision, error) {
		return decideComplete(s, c, a, after, at)
	})
}

// Supersede ends a Todo because another takes its place.
func (l *Ledger) Supersede(ctx context.Context, c Call, a SupersedeArgs) (Answer, error) {
	return l.run(ctx, c)(l.SupersedeStep(c, a))
}

// SupersedeStep is the step of [Ledger.Supersede].
func (l *Ledger) SupersedeStep(c Call, a SupersedeArgs) (Step, error) {
	return l.endStep(c, a.check(), "todo supersede", a.request(), []ID{a.By}, func(s State, after Following, at Instant) (Decision, error) {
		return decideSupersede(s, c, a, after, at)
	})
}

// Reopen opens a Todo again.
func (l *Ledger) Reopen(ctx context.Context, c Call, a ReopenArgs) (Answer, error) {
	return l.run(ctx, c)(l.ReopenStep(c, a))
}

// ReopenStep is the step of [Ledger.Reopen].
func (l *Ledger) ReopenStep(c Call, a ReopenArgs) (Step, error) {
	return l.step(c, a.check(), CodeInvalidLifecycle, "todo reopen", a.request(), func(s State, at Instant) (Decision, error) {
		return decideReopen(s, c.Todo, a, c.Agent, at)
	})
}

// Archive puts a Todo away.
func (l *Ledger) Archive(ctx context.Context, c Call) (Answer, error) {
	return l.run(ctx, c)(l.ArchiveStep(c))
}

// ArchiveStep is the step of [Ledger.Archive].
func (l *Ledger) ArchiveStep(c Call) (Step, error) {
	return l.step(c, nil, CodeInvalidArchive, "todo archive", nil, func(s State, at Instant) (Decision, error) {
		return decideArchive(s, c.Todo, c.Agent, at)
	})
}

// ArchiveCompleted puts all but the newest done Todos away; without Execute it is a dry run.
func (l *Ledger) ArchiveCompleted(ctx context.Context, c Call, a ArchiveCompletedArgs) (ArchiveCompletedAnswer, error) {
	c.Todo, c.DryRun = "", c.DryRun || !a.Execute
	if err := First(a.check(), CheckCall(c, CodeInvalidArchive)); err != nil {
		return ArchiveCompletedAnswer{}, err
	}
	step := Step{Kind: "todo archive", Args: a.request(), Decide: func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		todos, err := l.surplus(ctx, s, c.Goal, a.MaxActiveDone, at)
		if err != nil {
			return Decision{}, err
		}
		return decideArchiveCompleted(a, todos, c.Agent, at), nil
	}}
	answer, err := l.Run(ctx, c, step)
	if err != nil {
		return ArchiveCompletedAnswer{}, err
	}
	var result ArchiveCompletedResult
	if err := json.Unmarshal(answer.Receipt.Result, &result); err != nil {
		return ArchiveCompletedAnswer{}, err
	}
	return ArchiveCompletedAnswer{Answer: answer, Todos: result.Todos}, nil
}

// surplus reads the done Todos that are too many.
func (l *Ledger) surplus(ctx context.Context, s *gitstore.Snapshot, g GoalID, keep int, at Instant) ([]Todo, error) {
	rows, err := l.table(ctx, s)
	if err != nil {
		return nil, err
	}
	var done []doneTodo
	for _, r := range rows {
		if k := rowKey(r.Key); k.readable() && k.status() == Done && !k.archived() {
			done = append(done, doneTodo{ID: IDOf(r.Name), When: k.completed()})
		}
	}
	var todos []Todo
	for _, id := range surplus(done, keep) {
		state, err := l.ReadMutable(ctx, s, g, id, at)
		if err != nil {
			return nil, err
		}
		todos = append(todos, *state.Todo)
	}
	return todos, nil
}

// follow reads the Todos that can be reached from some ids.
func follow(ctx context.Context, s *gitstore.Snapshot, next []ID) (Following, error) {
	after := Following{}
	for queue := slices.Clone(next); len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if _, ok := after[id]; ok {
			continue
		}
		t, err := ReadTodo(ctx, s, id)
		if err != nil {
			return nil, err
		}
		if t != nil {
			after[id] = *t
			queue = append(queue, t.next()...)
		}
	}
	return after, nil
}
