package todo

import (
	"context"
	"errors"

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
		return Goal{}, failed(CodeInvalidProjection, "goal %s: no %s", id, GoalPath).with("record", GoalPath)
	}
	return DecodeGoal(id, b)
}

// ReadState gathers what a rule may know of one Todo: goal, Todo and note of one snapshot. It refuses with a code of
// continuation.md, section 1.2, when the goal or the Todo cannot be read, when a note or a lease is there without its
// Todo, and when there is a lease. A Todo that is not there is a nil Todo; what the note is worth, is not asked.
func ReadState(ctx context.Context, s *gitstore.Snapshot, g GoalID, id ID) (State, error) {
	goal, err := ReadGoal(ctx, s, g)
	if err != nil {
		return State{}, err
	}
	state := State{Revision: s.Revision(), Goal: goal}
	if state.Todo, err = readTodo(ctx, s, id); err != nil {
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
		return State{}, unreadable(NotePath(id), "note on "+string(id), failed(CodeInvalidProjection, "there is no such Todo"))
	case hasLease:
		return State{}, checkLease(id, lease)
	}
	if hasNote {
		state.Note = note
	}
	return state, nil
}

// ReadAhead reads what a verb on a Todo (none: on the goal) will read first, for [gitstore.Opening.Guess]; it has no
// other effect. An empty goal is whatever goal the snapshot is of.
func ReadAhead(ctx context.Context, s *gitstore.Snapshot, g GoalID, id ID) {
	if id == "" || !id.Valid() {
		ReadGoal(ctx, s, g)
		return
	}
	if state, err := ReadState(ctx, s, g, id); err == nil && state.Todo != nil {
		state.JudgeNote()
	}
}

// ReadMutable gathers as [ReadState] does for a verb that will change the Todo: it also refuses with todo_not_found, and
// with the code of a note that is not understood.
func ReadMutable(ctx context.Context, s *gitstore.Snapshot, g GoalID, id ID) (State, error) {
	state, err := ReadState(ctx, s, g, id)
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

// readTodo reads one Todo; nil where there is none.
func readTodo(ctx context.Context, s *gitstore.Snapshot, id ID) (*Todo, error) {
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
		return failed(CodeGoalNotFound, "goal %s: not in this repository", g)
	}
	return err
}
