package todo

import "fmt"

// Holding is what the rules of this package must know of the lease on a Todo (continuation.md, section 1.4). Package
// lease makes it of the stored record, judged at one instant. The zero value says that there is no record.
type Holding struct {
	Owner   AgentID // "" where there is no record
	Key     string
	Version int64
	Epoch   int64
	Expires Instant
	Active  bool // the record's status, whatever the clock says
	// Live is the view of the owner, LiveToOthers that of anyone else, for whom the skew counts too.
	Live, LiveToOthers bool
	// Released is the stored record as it is after a release at that instant; nil unless Active.
	Released []byte
}

// LiveFor says whether an agent has to take the lease for live.
func (h Holding) LiveFor(a AgentID) bool {
	if a == h.Owner {
		return h.Live
	}
	return h.LiveToOthers
}

// ForeignTo says whether it is somebody else's lease that an agent has to take for live.
func (h Holding) ForeignTo(a AgentID) bool { return h.Owner != a && h.LiveToOthers }

// Held says for others who has the lease, and until when.
func (h Holding) Held() string {
	if h.LiveToOthers && !h.Live {
		return fmt.Sprintf("leased by %q until %s, and as much longer as clocks may differ", h.Owner, h.Expires)
	}
	return fmt.Sprintf("leased by %q until %s", h.Owner, h.Expires)
}

// Eligible says whether an agent may hold a lease on a Todo (continuation.md, section 6): todo_not_found (nil or
// archived), todo_not_agent, todo_not_open, owner_not_registered, owner_excluded_from_todo, bound_agent_mismatch,
// owner_conflicts_with_claim.
func Eligible(g Goal, id ID, t *Todo, owner AgentID) error {
	switch {
	case t == nil:
		return Fail(CodeTodoNotFound, "todo %s: not in goal %s", id, g.ID)
	case t.ArchiveState == Archived:
		return Fail(CodeTodoNotFound, "todo %s: is archived", id).With("todo_status", t.Status)
	case t.Role != RoleAgent:
		return Reject(CodeTodoNotAgent, "todo %s: has the role %s", id, t.Role)
	case t.Status != Open:
		return Reject(CodeTodoNotOpen, "todo %s: is %s", id, t.Status).With("todo_status", t.Status)
	case !g.Registered(owner):
		return Reject(CodeOwnerNotRegistered, "agent %q is not registered with goal %s", Clean(string(owner)), g.ID)
	}
	switch CodeOf(Admit(*t, owner)) {
	case CodeActorExcluded:
		return Reject(CodeOwnerExcluded, "todo %s: excludes %q", id, owner).With("excluded_agents", t.ExcludedAgents)
	case CodeBoundAgentMismatch:
		return Reject(CodeBoundAgentMismatch, "todo %s: bound to %q", id, t.BoundAgent)
	}
	if t.ClaimedBy != "" && t.ClaimedBy != owner {
		return Reject(CodeOwnerConflictsWithClaim, "todo %s: claimed by %q", id, t.ClaimedBy).With("claimed_by", t.ClaimedBy)
	}
	return nil
}

// Divergence says why a lease that is live for a viewer is not effective; nil where it is effective, or not live.
func (s State) Divergence(id ID, viewer AgentID) *Refusal {
	if !s.Lease.LiveFor(viewer) {
		return nil
	}
	return AsRefusal(Eligible(s.Goal, id, s.Todo, s.Lease.Owner))
}

// EffectiveFor says whether the lease on the Todo is effective in the eyes of an agent: live, and its owner eligible.
func (s State) EffectiveFor(viewer AgentID) bool {
	return s.Lease.LiveFor(viewer) && s.Todo != nil && s.Divergence(s.Todo.ID, viewer) == nil
}

// CheckProof is the lease proof of continuation.md, section 6: handoff_mode_requires_lease without an effective lease,
// handoff_mode_lease_claim_divergence where it is live and not effective; lease_fence_required without a proof;
// lease_cas_mismatch for another owner or key; version_mismatch.
func CheckProof(s State, t Todo, actor AgentID, p Proof) error {
	h := s.Lease
	s.Todo = &t
	switch {
	case !h.LiveFor(actor):
		return Reject(CodeModeRequiresLease, "todo %s: there is no effective lease of %q", t.ID, Clean(string(actor)))
	case s.Divergence(t.ID, actor) != nil:
		return Reject(CodeLeaseClaimDivergence, "todo %s: the lease of %q is live and not effective: %s", t.ID, h.Owner, s.Divergence(t.ID, actor).Reason).
			With("lease_owner", h.Owner)
	case !p.Given():
		return Reject(CodeLeaseFenceRequired, "todo %s: is leased until %s, and no lease proof was given", t.ID, h.Expires)
	case h.Owner != actor || h.Key != *p.IdempotencyKey:
		return Reject(CodeLeaseCASMismatch, "todo %s: the lease is another one", t.ID)
	case h.Version != *p.ExpectedVersion:
		return VersionMismatch(t.ID, *p.ExpectedVersion, h.Version)
	}
	return nil
}

// VersionMismatch is the refusal of a lease whose version, 0 where there is none, is another than expected.
func VersionMismatch(id ID, expected, actual int64) *Refusal {
	return Reject(CodeVersionMismatch, "todo %s: the lease has version %d, not %d", id, actual, expected).
		With("expected_version", expected).With("actual_version", actual)
}

// fence stands before changes of claimed work: under hard_lease, or beside a lease that the actor has to take for live,
// it needs the proof.
func fence(s State, t Todo, actor AgentID, p Proof) error {
	if s.Goal.HandoffMode != HardLease && !s.Lease.LiveFor(actor) {
		return nil
	}
	return CheckProof(s, t, actor, p)
}

// letGo adds to a decision that the actor's lease on the Todo ends with it.
func (d *Decision) letGo(s State, id ID, actor AgentID) bool {
	if s.Lease.Released == nil || s.Lease.Owner != actor {
		return false
	}
	d.Leases = map[ID][]byte{id: s.Lease.Released}
	return true
}
