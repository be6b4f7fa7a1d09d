package todo

import (
	"context"
	"maps"
	"slices"

	"github.com/git-loopx/git-loopx/gitstore"
)

// AcceptanceView is what goal acceptance show says.
type AcceptanceView struct {
	GoalID     GoalID            `json:"goal_id"`
	Revision   gitstore.ObjectID `json:"provider_revision"`
	Configured bool              `json:"configured"`
	Enabled    bool              `json:"enabled"`
	Scope      AcceptanceScope   `json:"scope,omitzero"`
	TodoIDs    []ID              `json:"todo_ids,omitempty"`
	Bindings   map[ID]string     `json:"bindings"`
	// Guards judges each Todo that is bound or named, and that is there, by id.
	Guards []TodoGuard `json:"guards"`
}

// TodoGuard is the guard of one Todo. Of a record that cannot be read the guard has its reason code, and no state or digest.
type TodoGuard struct {
	TodoID   ID   `json:"todo_id"`
	Readable bool `json:"readable"`
	Guard
}

// Acceptance shows the acceptance hold of a goal.
func (l *Ledger) Acceptance(ctx context.Context, id GoalID) (AcceptanceView, error) {
	s, err := l.open(ctx, id)
	if err != nil {
		return AcceptanceView{}, err
	}
	g, err := ReadGoal(ctx, s, id)
	if err != nil {
		return AcceptanceView{}, err
	}
	a := g.acceptance()
	v := AcceptanceView{
		GoalID: id, Revision: s.Revision(), Configured: g.Acceptance != nil,
		Enabled: a.Enabled, TodoIDs: a.TodoIDs, Bindings: a.Bindings, Guards: []TodoGuard{},
	}
	if v.Configured {
		v.Scope = a.Scope
	}
	for _, id := range SetOf(slices.Concat(slices.Collect(maps.Keys(a.Bindings)), a.TodoIDs)) {
		guard := TodoGuard{TodoID: id}
		t, err := ReadTodo(ctx, s, id)
		switch {
		case AsRefusal(err) != nil:
			guard.Guard = Guard{Applicable: a.holds(id, RoleAgent), Code: CodeOf(err), BoundDigest: a.Bindings[id]}
		case err != nil:
			return AcceptanceView{}, err
		case t == nil:
			continue
		default:
			guard.Readable, guard.Guard = true, g.Guard(*t)
		}
		v.Guards = append(v.Guards, guard)
	}
	return v, nil
}

// EnableAcceptance holds every Todo of role agent, or those named, until they are confirmed.
func (l *Ledger) EnableAcceptance(ctx context.Context, c Call, todos []ID) (Answer, error) {
	todos = SetOf(todos)
	return l.acceptance(ctx, c, "enable", todos, func(ctx context.Context, s *gitstore.Snapshot, g Goal) (Decision, error) {
		if _, err := readNamed(ctx, s, g.ID, todos); err != nil {
			return Decision{}, err
		}
		return decideEnable(g, todos), nil
	})
}

// BindAcceptance confirms Todos, of which there must be one, as they read now.
func (l *Ledger) BindAcceptance(ctx context.Context, c Call, todos []ID) (Answer, error) {
	todos = SetOf(todos)
	if len(todos) == 0 {
		return Answer{}, Fail(CodeInvalidGoalRequest, "no todo to confirm was given")
	}
	return l.acceptance(ctx, c, "bind", todos, func(ctx context.Context, s *gitstore.Snapshot, g Goal) (Decision, error) {
		named, err := readNamed(ctx, s, g.ID, todos)
		if err != nil {
			return Decision{}, err
		}
		return decideBind(g, named), nil
	})
}

// DisableAcceptance lifts the hold; what was confirmed stays so.
func (l *Ledger) DisableAcceptance(ctx context.Context, c Call) (Answer, error) {
	return l.acceptance(ctx, c, "disable", nil, func(_ context.Context, _ *gitstore.Snapshot, g Goal) (Decision, error) {
		return decideDisable(g), nil
	})
}

// acceptance applies a verb that changes the hold. todos is a set; it is what the request names.
func (l *Ledger) acceptance(ctx context.Context, c Call, verb string, todos []ID, decide func(context.Context, *gitstore.Snapshot, Goal) (Decision, error)) (Answer, error) {
	c.Todo, c.Agent, c.Proof = "", "", Proof{}
	if err := First(CheckCall(c, CodeInvalidGoalRequest), checkNamed(todos)); err != nil {
		return Answer{}, err
	}
	args := map[string]any{}
	givenList(args, "todo_ids", todos)
	return l.goal(ctx, c, "goal acceptance "+verb, args, func(ctx context.Context, s *gitstore.Snapshot, g Goal, _ Instant) (Decision, error) {
		return decide(ctx, s, g)
	})
}

// readNamed reads Todos that a caller named: todo_not_found for the first that is not there, and the code of one that
// cannot be read.
func readNamed(ctx context.Context, s *gitstore.Snapshot, g GoalID, ids []ID) ([]Todo, error) {
	named := make([]Todo, 0, len(ids))
	for _, id := range ids {
		t, err := ReadTodo(ctx, s, id)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, Fail(CodeTodoNotFound, "todo %s: not in goal %s", id, g)
		}
		named = append(named, *t)
	}
	return named, nil
}
