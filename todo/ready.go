package todo

import (
	"slices"

	"github.com/git-loopx/git-loopx/gitstore"
)

// queue is what is known when work is looked for in one revision of a goal. It is for one caller at a time.
type queue struct {
	goal   Goal
	agent  AgentID // "" is nobody in particular: no Todo is theirs, and none that is bound to an agent is for them
	at     Instant
	leases map[ID]Holding
	unread map[ID]*Refusal // leases that cannot be read
	todos  *roster
	chains follower // of todos
}

func newQueue(g Goal, agent AgentID, at Instant, rows []gitstore.Row, leases map[ID]Holding, unread map[ID]*Refusal) *queue {
	q := &queue{goal: g, agent: agent, at: at, leases: leases, unread: unread, todos: &roster{rows: rows}}
	q.chains.todos = q.todos.link
	return q
}

// heldEntry is a Todo that cannot be worked on, with its place in a list.
type heldEntry struct {
	Entry
	code Code
}

// split tells what is ready, in no order, and with explain what of the rest is neither done nor put away, in that of a list.
// The error is errRow.
func (q *queue) split(explain bool) (ready []Entry, rest []heldEntry, err error) {
	ready = make([]Entry, 0, len(q.todos.rows))
	for i := range q.todos.rows {
		r := &q.todos.rows[i]
		k := rowKey(r.Key)
		if k.readable() && k.ended() || !explain && !k.workable() {
			continue
		}
		code, err := q.hold(r)
		switch {
		case err != nil:
			return nil, nil, err
		case code == "":
			ready = append(ready, entryOf(r))
		case explain:
			rest = append(rest, heldEntry{entryOf(r), code})
		}
	}
	slices.SortFunc(rest, func(a, b heldEntry) int { return compareEntries(a.Entry, b.Entry) })
	return ready, rest, q.todos.err
}

// hold says why the Todo of a row, which is not ended, cannot be worked on (continuation.md, section 5); "" where it can
// be. Of several reasons it is the first of: the code of a record or a lease that cannot be read; todo_not_agent,
// todo_not_open; claim_owner_mismatch; todo_lease_conflict; todo_dependency_invalid, todo_dependency_pending; those of
// [Admit]; those of the acceptance hold.
func (q *queue) hold(r *gitstore.Row) (Code, error) {
	k := rowKey(r.Key)
	if !k.readable() {
		return Code(r.Data), nil
	}
	if len(q.unread) > 0 {
		if lease := q.unread[IDOf(r.Name)]; lease != nil {
			return lease.Code, nil
		}
	}
	switch {
	case k.role() != RoleAgent:
		return CodeTodoNotAgent, nil
	case k.status() != Open:
		return CodeTodoNotOpen, nil
	}
	if k.claimed() || k.conditional() {
		t, err := rowTerms(r)
		if err != nil {
			return "", err
		}
		if code, err := q.holdByTerms(r, t); code != "" || err != nil {
			return code, err
		}
	} else if code, err := q.holdByLease(r); code != "" || err != nil {
		return code, err
	}
	if q.goal.Acceptance == nil || !q.goal.Acceptance.holds(IDOf(r.Name), RoleAgent) {
		return "", nil
	}
	t, err := rowTodo(r)
	if guard := q.goal.Guard(t); err == nil && !guard.Allowed {
		return guard.Code, nil
	}
	return "", err
}

func (q *queue) holdByTerms(r *gitstore.Row, t terms) (Code, error) {
	if len(t.claimedBy) > 0 && string(t.claimedBy) != string(q.agent) {
		return CodeClaimOwnerMismatch, nil
	}
	if code, err := q.holdByLease(r); code != "" || err != nil {
		return code, err
	}
	switch q.dependencies(r, t) {
	case DependenciesInvalid:
		return CodeDependencyInvalid, nil
	case DependenciesPending:
		return CodeDependencyPending, nil
	}
	for a := range t.excluded.all {
		if string(a) == string(q.agent) {
			return CodeActorExcluded, nil
		}
	}
	if len(t.bound) > 0 && string(t.bound) != string(q.agent) {
		return CodeBoundAgentMismatch, nil
	}
	return "", nil
}

// holdByLease finds somebody else's lease that is effective in the agent's eyes.
func (q *queue) holdByLease(r *gitstore.Row) (Code, error) {
	if len(q.leases) == 0 {
		return "", nil
	}
	lease := q.leases[IDOf(r.Name)]
	if !lease.ForeignTo(q.agent) {
		return "", nil
	}
	t, err := rowTodo(r)
	if err == nil && (State{Goal: q.goal, Todo: &t, Lease: lease}).EffectiveFor(q.agent) {
		return CodeLeaseConflict, nil
	}
	return "", err
}

// dependencies is [State.Dependencies] for a row. Most Todos that others wait for were not superseded: their keys say all.
func (q *queue) dependencies(r *gitstore.Row, t terms) DependencyState {
	state := DependenciesReady
	for id := range t.dependsOn.all {
		var on DependencyState
		if other := q.todos.find(id); other != nil && other != r && !rowKey(other.Key).superseded() {
			on = rowKey(other.Key).link().state()
		} else {
			on = q.chains.on(IDOf(r.Name), ID(id)).state
		}
		switch on {
		case DependenciesInvalid:
			return DependenciesInvalid
		case DependenciesPending:
			state = DependenciesPending
		}
	}
	if string(t.resumeAt) > string(q.at) {
		return DependenciesPending
	}
	return state
}
