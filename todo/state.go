package todo

import "github.com/git-loopx/git-loopx/gitstore"

// State is what a rule may know: the part of one revision of a goal that a request touches, read at once.
type State struct {
	Revision gitstore.ObjectID // the tip it was read from
	Goal     Goal
	Todo     *Todo   // nil: there is none of this id
	Note     []byte  // stored bytes of the note on the Todo; nil: none
	Lease    Holding // on the Todo, judged at one instant
	// Others holds what the Todo depends on, and the Todos that took the place of those; see [State.Dependencies].
	Others Following
}

// Decision is what a rule wants written. Zero members stay as they are.
type Decision struct {
	Subject string // of the commit: "todo claim todo_a"
	Goal    *Goal
	Todos   []Todo        // records as they are afterwards
	Notes   map[ID][]byte // stored bytes afterwards, nil to remove
	Leases  map[ID][]byte // stored records afterwards
	Result  any           // the nested result, kept in the receipt
	// Todo is the Todo that the decision found, where it is not the one that was asked for.
	Todo ID
}

// Changes says whether the decision writes more than a receipt.
func (d Decision) Changes() bool {
	return d.Goal != nil || len(d.Todos) > 0 || len(d.Notes) > 0 || len(d.Leases) > 0
}

// Found returns the Todo of the state; the refusal is todo_not_found.
func (s State) Found(id ID) (Todo, error) {
	if s.Todo == nil {
		return Todo{}, Fail(CodeTodoNotFound, "todo %s: not in goal %s", id, s.Goal.ID)
	}
	return *s.Todo, nil
}

// JudgeNote judges the note of the state on its Todo, which must be there.
func (s State) JudgeNote() Judgement { return JudgeNote(s.Note, *s.Todo) }

// Registered says whether an agent is in the goal's list, compared verbatim.
func (g Goal) Registered(a AgentID) bool {
	for _, known := range g.Agents {
		if known.ID == a {
			return true
		}
	}
	return false
}

// CheckActor is step 3 of continuation.md, section 3: the codes are actor_required and actor_not_registered.
func CheckActor(g Goal, a AgentID) error {
	if a == "" {
		return Fail(CodeActorRequired, "no agent given")
	}
	if !g.Registered(a) {
		return Reject(CodeActorNotRegistered, "agent %q is not registered with goal %s", Clean(string(a)), g.ID)
	}
	return nil
}

// Admit says whether an agent may touch a Todo at all: the codes are actor_excluded, then bound_agent_mismatch.
func Admit(t Todo, a AgentID) error {
	for _, excluded := range t.ExcludedAgents {
		if excluded == a {
			return Reject(CodeActorExcluded, "todo %s: excludes %q", t.ID, a).With("excluded_agents", t.ExcludedAgents)
		}
	}
	if t.BoundAgent != "" && t.BoundAgent != a {
		return Reject(CodeBoundAgentMismatch, "todo %s: bound to %q", t.ID, t.BoundAgent).With("bound_agent", t.BoundAgent)
	}
	return nil
}

// ownedBy is the refusal of another's claim.
func ownedBy(code Code, t Todo) *Refusal {
	if t.ClaimedBy == "" {
		return Reject(code, "todo %s: claimed by nobody", t.ID)
	}
	return Reject(code, "todo %s: claimed by %q", t.ID, t.ClaimedBy).With("claimed_by", t.ClaimedBy)
}

// leasedBy is the refusal of another's lease.
func leasedBy(code Code, t Todo, h Holding) *Refusal {
	return Reject(code, "todo %s: %s", t.ID, h.Held()).With("lease_owner", h.Owner).With("expires_at", h.Expires)
}

// touched returns the Todo as an agent leaves it at an instant.
func (t Todo) touched(by AgentID, at Instant) Todo {
	t.LastActorAgentID, t.UpdatedAt = by, at
	return t
}
