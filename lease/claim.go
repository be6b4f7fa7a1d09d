package lease

import (
	"maps"

	"github.com/git-loopx/git-loopx/todo"
)

// withRequest returns the arguments of a request digest with a lease request.
func (r Request) withRequest(args map[string]any) map[string]any {
	all := maps.Clone(args)
	if all == nil {
		all = map[string]any{}
	}
	all["lease_request"] = r.args()
	return all
}

// checkNoProof refuses the proof of a lease where none is used.
func checkNoProof(c todo.Call, family todo.Code) error {
	if c.Proof.IdempotencyKey != nil || c.Proof.ExpectedVersion != nil {
		return todo.Fail(family, "the verb takes no lease proof")
	}
	return nil
}

// checkReady says whether a goal lets an agent take what is ready with or without a lease request, before anything is
// looked for: claim_lease_requires_hard_lease, handoff_mode_requires_lease.
func checkReady(g todo.Goal, r *Request) error {
	switch {
	case r == nil && g.HandoffMode == todo.HardLease:
		return todo.Reject(todo.CodeModeRequiresLease, "goal %s: is %s, and no lease was asked for", g.ID, g.HandoffMode)
	case r != nil && g.HandoffMode != todo.HardLease:
		return todo.Reject(todo.CodeClaimLeaseMode, "goal %s: is %s, a lease cannot be had with a claim", g.ID, g.HandoffMode)
	}
	return nil
}

// passable says of the code of a refused lease that another Todo may do.
func passable(c todo.Code) bool {
	switch c {
	case CodeWriteScopeConflict, todo.CodeLeaseConflict, CodeKeyReuse, CodeGenerationExhausted:
		return true
	}
	return false
}

// verifyClaim judges a claim again when its receipt is replayed (continuation.md, section 3): the codes of
// [todo.VerifyClaim]; then, where a lease came with it, idempotency_key_reuse if the record now is that of another lease,
// handoff_mode_requires_lease if the lease is over or released, handoff_mode_lease_claim_divergence if it is not effective.
// A lease that was renewed since is still the one that came with the claim.
func verifyClaim(s todo.State, id todo.ID, claimant todo.AgentID, taken *View) error {
	if err := todo.VerifyClaim(s, id, claimant); err != nil || taken == nil {
		return err
	}
	h := s.Lease
	if h.Owner != claimant || h.Key != taken.IdempotencyKey || h.Epoch != taken.Epoch {
		return keyReuse(id, taken.IdempotencyKey, keyPassed)
	}
	return todo.CheckProof(s, *s.Todo, claimant, todo.ProofOf(h.Key, h.Version))
}
