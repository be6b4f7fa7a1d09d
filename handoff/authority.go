package handoff

import "github.com/git-loopx/git-loopx/todo"

// leased says whether leases play a part for an agent (continuation.md, section 7.2): the goal is hard_lease, the agent
// has to take a lease on the Todo for live, or a proof is given. The record of a lease that is over does not count in a
// goal that is soft_claim: no lease could be had there, and the work would be stuck for good.
func leased(s todo.State, agent todo.AgentID, p todo.Proof) bool {
	return s.Goal.HandoffMode == todo.HardLease || s.Lease.LiveFor(agent) || p.Given()
}

// authority is the execution authority of an agent with a proof over the state's Todo (continuation.md, section 6):
// everything that denies it, in the order acceptance, lease proof, dependency; none: it is allowed.
func authority(s todo.State, agent todo.AgentID, p todo.Proof, at todo.Instant) []*todo.Refusal {
	var denied []*todo.Refusal
	for _, err := range []error{s.CheckAcceptance(), todo.CheckProof(s, *s.Todo, agent, p), s.CheckDependencies(at)} {
		if refusal := todo.AsRefusal(err); refusal != nil {
			denied = append(denied, refusal)
		}
	}
	return denied
}

// authorityOf is what a packet says of the execution authority.
func authorityOf(s todo.State, agent todo.AgentID, p todo.Proof, at todo.Instant) *Authority {
	if denied := authority(s, agent, p, at); len(denied) > 0 {
		return &Authority{Code: denied[0].Code}
	}
	return &Authority{Allowed: true, Code: fenceVerified}
}

// executable is step 3 of a leased adopt (continuation.md, section 7.5): everything that keeps the agent from working on
// the state's Todo by its own claim and lease.
func executable(s todo.State, r AdoptRequest, at todo.Instant) []*todo.Refusal {
	var all []*todo.Refusal
	if refusal := transferRequired(*s.Todo, r); refusal != nil {
		all = append(all, refusal)
	}
	for _, refusal := range authority(s, r.Agent, r.Proof, at) {
		// Somebody else's effective lease means that the Todo is not the agent's, which is said already.
		if s.Lease.Owner == r.Agent || !ofForeignLease(refusal.Code) {
			all = append(all, refusal)
		}
	}
	return all
}

// transferRequired refuses to adopt leased work that is not the agent's, or not for the agent; nil where it is.
func transferRequired(t todo.Todo, r AdoptRequest) *todo.Refusal {
	switch {
	case r.target() != r.Agent:
		return todo.Reject(CodeTransferRequired, "todo %s: leased work goes to %q by a transfer of the lease", t.ID, cutText(string(r.target()), 80))
	case t.ClaimedBy == "":
		return todo.Reject(CodeTransferRequired, "todo %s: claimed by nobody, leased work is adopted by its owner", t.ID)
	case t.ClaimedBy != r.Agent:
		return todo.Reject(CodeTransferRequired, "todo %s: claimed by %q, leased work changes hands by a transfer of the lease", t.ID, t.ClaimedBy)
	}
	return nil
}

// ofForeignLease says whether a code is what a proof comes to beside an effective lease that is somebody else's.
func ofForeignLease(c todo.Code) bool {
	return c == todo.CodeLeaseFenceRequired || c == todo.CodeLeaseCASMismatch
}
