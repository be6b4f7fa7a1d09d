package todo

import (
	"maps"
	"reflect"
	"slices"
)

// GuardState says how a Todo reads beside what was confirmed of it.
type GuardState string

// The states of a guard.
const (
	GuardReady   GuardState = "ready"   // confirmed as it reads now
	GuardUnbound GuardState = "unbound" // never confirmed
	GuardStale   GuardState = "stale"   // confirmed as it read before
)

// Guard says what the acceptance hold of a goal means for one Todo (continuation.md, section 10). State and Code speak of
// what was confirmed, whether the hold is for this Todo or not.
type Guard struct {
	Applicable  bool       `json:"applicable"` // the hold is enabled, and for this Todo
	Allowed     bool       `json:"allowed"`    // not applicable, or ready
	State       GuardState `json:"state"`
	Code        Code       `json:"reason_code"`
	Digest      string     `json:"digest"`                // [WorkDigest] of the Todo now
	BoundDigest string     `json:"bound_digest,omitzero"` // as it was when it was confirmed
}

// AcceptanceResult is the nested result of goal acceptance enable, bind and disable: the hold as it is afterwards.
type AcceptanceResult struct {
	Enabled bool            `json:"enabled"`
	Scope   AcceptanceScope `json:"scope,omitzero"`     // "" where it was never configured
	TodoIDs []ID            `json:"todo_ids,omitempty"` // of HoldSelected
	Bound   []Bound         `json:"bound,omitempty"`    // bind: what was confirmed, by id
	Changed bool            `json:"changed"`
}

// Bound is a Todo as it was confirmed.
type Bound struct {
	TodoID ID     `json:"todo_id"`
	Digest string `json:"digest"`
}

// holds says whether the hold is for a Todo of this id and role.
func (a *Acceptance) holds(id ID, r Role) bool {
	switch {
	case a == nil || !a.Enabled:
		return false
	case a.Scope == HoldAll:
		return r == RoleAgent
	}
	_, named := slices.BinarySearch(a.TodoIDs, id)
	return named
}

// Guard judges the acceptance hold for a Todo.
func (g Goal) Guard(t Todo) Guard {
	guard := Guard{State: GuardUnbound, Code: CodeAcceptanceUnbound, Digest: WorkDigest(t), Applicable: g.Acceptance.holds(t.ID, t.Role)}
	if g.Acceptance != nil {
		guard.BoundDigest = g.Acceptance.Bindings[t.ID]
	}
	switch guard.BoundDigest {
	case "":
	case guard.Digest:
		guard.State, guard.Code = GuardReady, CodeAcceptanceReady
	default:
		guard.State, guard.Code = GuardStale, CodeAcceptanceStale
	}
	guard.Allowed = !guard.Applicable || guard.State == GuardReady
	return guard
}

// CheckAcceptance refuses work on the state's Todo that has to be confirmed first: goal_acceptance_unbound,
// goal_acceptance_stale, with the guard as the detail "acceptance".
func (s State) CheckAcceptance() error {
	if s.Todo == nil || !s.Goal.Acceptance.holds(s.Todo.ID, s.Todo.Role) {
		return nil
	}
	guard := s.Goal.Guard(*s.Todo)
	switch guard.State {
	case GuardUnbound:
		return Reject(guard.Code, "todo %s: was never confirmed, and goal %s asks for that", s.Todo.ID, s.Goal.ID).With("acceptance", guard)
	case GuardStale:
		return Reject(guard.Code, "todo %s: was changed since it was confirmed, and goal %s asks for that", s.Todo.ID, s.Goal.ID).With("acceptance", guard)
	}
	return nil
}

// decideEnable holds every Todo of role agent, or those named, in place of whatever was held before. What was confirmed
// stays so. The same again is no change.
func decideEnable(g Goal, todos []ID) Decision {
	next := g.acceptance()
	next.Enabled, next.Scope, next.TodoIDs = true, HoldAll, nil
	if len(todos) > 0 {
		next.Scope, next.TodoIDs = HoldSelected, todos
	}
	return g.accepting("enable", next, nil)
}

// decideBind confirms Todos as they read now, whether they are held or not. What is confirmed so already is no change.
func decideBind(g Goal, todos []Todo) Decision {
	next := g.acceptance()
	var bound []Bound
	for _, t := range todos {
		b := Bound{TodoID: t.ID, Digest: WorkDigest(t)}
		next.Bindings[b.TodoID] = b.Digest
		bound = append(bound, b)
	}
	return g.accepting("bind", next, bound)
}

// decideDisable lifts the hold. What was confirmed stays so; a hold that is not there is no change.
func decideDisable(g Goal) Decision {
	if g.Acceptance == nil {
		return Decision{Subject: "goal acceptance disable " + string(g.ID), Result: AcceptanceResult{}}
	}
	next := g.acceptance()
	next.Enabled = false
	return g.accepting("disable", next, nil)
}

// acceptance returns a copy of the settings, to be changed.
func (g Goal) acceptance() Acceptance {
	a := Acceptance{Scope: HoldAll}
	if g.Acceptance != nil {
		a = *g.Acceptance
	}
	a.Bindings = maps.Clone(a.Bindings)
	if a.Bindings == nil {
		a.Bindings = map[ID]string{}
	}
	return a
}

// accepting is the decision for a goal with other settings.
func (g Goal) accepting(verb string, next Acceptance, bound []Bound) Decision {
	if len(next.Bindings) == 0 {
		next.Bindings = nil
	}
	d := Decision{Subject: "goal acceptance " + verb + " " + string(g.ID)}
	changed := !reflect.DeepEqual(g.Acceptance, &next)
	if changed {
		g.Acceptance = &next
		d.Goal = &g
	}
	d.Result = AcceptanceResult{Enabled: next.Enabled, Scope: next.Scope, TodoIDs: next.TodoIDs, Bound: bound, Changed: changed}
	return d
}

// checkNamed is step 1 for the Todos that acceptance verbs name: invalid_goal_request.
func checkNamed(todos []ID) error {
	for _, id := range todos {
		if !id.Valid() {
			return Fail(CodeInvalidGoalRequest, "todo id %q: not well formed", Clean(string(id)))
		}
	}
	return nil
}
