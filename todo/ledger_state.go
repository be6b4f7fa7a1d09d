package todo

import (
	"context"
	"errors"
	"slices"

	"github.com/git-loopx/git-loopx/gitstore"
)

// ReadGoal reads goal.json of a snapshot. Errors: *Refusal with a code of continuation.md, section 1.2, and those of
// gitstore.
func ReadGoal(ctx context.Context, s *gitstore.Snapshot, id GoalID) (Goal, error) {
	b, ok, err := s.File(ctx, GoalPath)
	if err != nil {
		return Goal{}, err
	}
	if !ok {
		return Goal{}, Fail(CodeInvalidProjection, "goal %s: no %s", id, GoalPath).With("record", GoalPath)
	}
	return DecodeGoal(id, b)
}

// ReadState gathers what a rule may know of one Todo at an instant: goal, Todo, note, lease and what the Todo depends on, of
// one snapshot. It refuses with a code of continuation.md, section 1.2, when the goal, the Todo or the lease cannot be read,
// and when a note or a lease is there without its Todo. A Todo that is not there is a nil Todo; what the note is worth, is
// not asked. The instant is judged (invalid_clock) only where there is a lease.
func (l *Ledger) ReadState(ctx context.Context, s *gitstore.Snapshot, g GoalID, id ID, at Instant) (State, error) {
	goal, err := ReadGoal(ctx, s, g)
	if err != nil {
		return State{}, err
	}
	state := State{Revision: s.Revision(), Goal: goal}
	if state.Todo, err = ReadTodo(ctx, s, id); err != nil {
		return State{}, err
	}
	note, hasNote, err := s.File(ctx, NotePath(id))
	if err != nil {
		return State{}, err
	}
	lease, hasLease, err := s.File(ctx, LeasePath(id))
	switch {
	case err != nil:
		return State{}, err
	case hasNote && state.Todo == nil:
		return State{}, orphan(NotePath(id))
	case hasLease && l.Leases == nil:
		return State{}, checkLease(id, lease)
	case hasLease && state.Todo == nil:
		return State{}, orphan(LeasePath(id))
	}
	if hasLease {
		if state.Lease, err = l.Leases.Judge(ctx, g, id, lease, at); err != nil {
			return State{}, err
		}
	}
	if hasNote {
		state.Note = note
	}
	if state.Todo != nil {
		state.Others, err = others(ctx, s, *state.Todo)
	}
	return state, err
}

// ReadAhead reads what a verb on a Todo (none: on the goal) will read first, for [gitstore.Opening.Guess]; it has no
// other effect. An empty goal is whatever goal the snapshot is of.
func ReadAhead(ctx context.Context, s *gitstore.Snapshot, g GoalID, id ID) {
	if id == "" || !id.Valid() {
		ReadGoal(ctx, s, g)
		return
	}
	state, err := (&Ledger{}).ReadState(ctx, s, g, id, "")
	if err == nil && state.Todo != nil {
		state.JudgeNote()
	}
}

// ReadMutable gathers as [Ledger.ReadState] does for a verb that will change the Todo: it also refuses with
// todo_not_found, and with the code of a note that is not understood.
func (l *Ledger) ReadMutable(ctx context.Context, s *gitstore.Snapshot, g GoalID, id ID, at Instant) (State, error) {
	state, err := l.ReadState(ctx, s, g, id, at)
	if err != nil {
		return State{}, err
	}
	if _, err := state.Found(id); err != nil {
		return State{}, err
	}
	if j := state.JudgeNote(); j.Refusal != nil {
		return State{}, j.Refusal
	}
	return state, nil
}

// others reads what a Todo depends on, and the Todos that took the place of those. What cannot be understood is left out,
// as what is not there: nobody can say that it is done.
func others(ctx context.Context, s *gitstore.Snapshot, t Todo) (Following, error) {
	if len(t.DependsOn) == 0 {
		return nil, nil
	}
	all := Following{}
	for queue := slices.Clone(t.DependsOn); len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if _, ok := all[id]; ok {
			continue
		}
		next, err := ReadTodo(ctx, s, id)
		if err != nil && AsRefusal(err) == nil {
			return nil, err
		}
		if next == nil {
			continue
		}
		all[id] = *next
		if next.SupersededBy != "" {
			queue = append(queue, next.SupersededBy)
		}
	}
	return all, nil
}

// ReadTodo reads one Todo; nil where there is none.
func ReadTodo(ctx context.Context, s *gitstore.Snapshot, id ID) (*Todo, error) {
	b, ok, err := s.File(ctx, TodoPath(id))
	if err != nil || !ok {
		return nil, err
	}
	t, err := DecodeTodo(id, b)
	if err != nil {
		return nil, err
	}
	return &t, nil
}

// Load returns the snapshot at a goal's tip. A ref that git confirmed not to exist is goal_not_found.
func (l *Ledger) Load(ctx context.Context, g GoalID) (*gitstore.Snapshot, error) {
	s, err := l.Store.Load(ctx, g.Ref())
	return s, goalMissing(g, err)
}

// goalMissing turns the store's "no such ref" into goal_not_found; any other error stays.
func goalMissing(g GoalID, err error) error {
	if errors.Is(err, gitstore.ErrRefMissing) {
		return Fail(CodeGoalNotFound, "goal %s: not in this repository", g)
	}
	return err
}
