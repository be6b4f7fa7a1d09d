package lease

import (
	"context"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// InspectLease shows the lease on a Todo, in any status. It writes nothing and grants nothing. Errors: usage_error,
// goal_not_found, todo_not_found, the codes of continuation.md, section 1.2, and those of gitstore.
func (l *Ledger) InspectLease(ctx context.Context, g todo.GoalID, id todo.ID) (Inspection, error) {
	if err := todo.First(todo.CheckCall(todo.Call{Goal: g, Todo: id}, todo.CodeUsage), checkTodo(id, todo.CodeUsage)); err != nil {
		return Inspection{}, err
	}
	at, err := l.Instant()
	if err != nil {
		return Inspection{}, err
	}
	s, err := l.Load(ctx, g)
	if err != nil {
		return Inspection{}, err
	}
	state, record, err := l.read(ctx, s, g, id, at)
	if err != nil {
		return Inspection{}, err
	}
	if _, err := state.Found(id); err != nil {
		return Inspection{}, err
	}
	skew, err := judge{l.Store}.skew(ctx)
	if err != nil {
		return Inspection{}, err
	}
	return inspect(state, record, at, skew), nil
}

// Bounds of looking for overlapping leases of other goals: what is beyond them is not reported.
const (
	maxAdvisoryGoals = 64
	maxAdvisories    = 50
)

// advisories looks for effective leases of other goals with overlapping write scopes, by goal and Todo. It is only a report:
// what cannot be read is passed over.
func (l *Ledger) advisories(ctx context.Context, r AcquireRequest, scopes []string) []Advisory {
	if len(scopes) == 0 {
		return nil
	}
	ctx, cancel := todo.ReadBack(ctx)
	defer cancel()
	refs, err := l.Store.Refs(ctx, todo.GoalRefs)
	if err != nil {
		return nil
	}
	var found []Advisory
	for _, ref := range refs[:min(len(refs), maxAdvisoryGoals)] {
		g := todo.GoalID(strings.TrimPrefix(string(ref.Name), string(todo.GoalRefs)))
		if g == r.Goal || !g.Valid() || ref.Err != nil || len(found) >= maxAdvisories {
			continue
		}
		found = append(found, l.overlapping(ctx, l.Store.At(ref.Name, ref.ID), g, r.Owner, scopes)...)
	}
	return found[:min(len(found), maxAdvisories)]
}

func (l *Ledger) overlapping(ctx context.Context, s *gitstore.Snapshot, g todo.GoalID, viewer todo.AgentID, scopes []string) []Advisory {
	goal, err := todo.ReadGoal(ctx, s, g)
	if err != nil {
		return nil
	}
	others, _, err := l.others(ctx, s, goal, "", viewer, scopes, todo.At(l.Now()))
	if err != nil {
		return nil
	}
	var found []Advisory
	for _, c := range conflicts(scopes, others) {
		found = append(found, Advisory{g, c.TodoID, c.Owner, c.WriteScope, c.Requested, c.ExpiresAt})
	}
	return found
}
