package todo

// ReleaseArgs are the arguments of todo release: Override frees another's Todo and needs a Reason.
type ReleaseArgs struct {
	Override bool
	Reason   string
}

// ReleaseResult is the nested result of todo release. Why another's Todo was freed stands here, in the receipt, and not
// in the Todo, whose reason speaks of the work.
type ReleaseResult struct {
	Schema       string  `json:"schema_version"`
	TodoID       ID      `json:"todo_id"`
	Changed      bool    `json:"changed"`
	ReleasedFrom AgentID `json:"released_from,omitzero"`
	Override     bool    `json:"override,omitzero"` // it was another's
	Reason       string  `json:"reason,omitzero"`
	// LeaseReleased says that the agent's lease ended with the claim.
	LeaseReleased bool `json:"lease_released,omitzero"`
}

func (a ReleaseArgs) check() error {
	switch {
	case a.Override && Blank(a.Reason):
		return Fail(CodeInvalidClaim, "override needs a reason")
	case a.Reason != "" && !proseOK(a.Reason, MaxRemark):
		return Fail(CodeInvalidClaim, "reason must be non-empty text of at most %d characters", MaxRemark)
	}
	return nil
}

func (a ReleaseArgs) request() map[string]any {
	m := map[string]any{}
	givenFlag(m, "override", a.Override)
	given(m, "reason", a.Reason)
	return m
}

// decideRelease frees a Todo (continuation.md, section 4): unclaimed is no change → todo_not_open when done →
// claim_owner_mismatch unless overridden → todo_lease_conflict for another's live lease; the agent's own needs the proof
// and ends in the same commit.
func decideRelease(s State, c Call, a ReleaseArgs, at Instant) (Decision, error) {
	t, err := s.Found(c.Todo)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{Subject: "todo release " + string(t.ID)}
	switch {
	case t.ClaimedBy == "":
		d.Result = ReleaseResult{Schema: ClaimSchema, TodoID: t.ID, Reason: a.Reason}
		return d, nil
	case t.Status == Done:
		return Decision{}, Reject(CodeTodoNotOpen, "todo %s: is %s", t.ID, t.Status)
	case t.ClaimedBy != c.Agent && !a.Override:
		return Decision{}, ownedBy(CodeClaimOwnerMismatch, t)
	case s.Lease.ForeignTo(c.Agent):
		return Decision{}, leasedBy(CodeLeaseConflict, t, s.Lease)
	case s.Lease.LiveFor(c.Agent):
		if err := CheckProof(s, t, c.Agent, c.Proof); err != nil {
			return Decision{}, err
		}
	}
	result := ReleaseResult{
		Schema: ClaimSchema, TodoID: t.ID, Changed: true,
		ReleasedFrom: t.ClaimedBy, Override: t.ClaimedBy != c.Agent, Reason: a.Reason,
	}
	result.LeaseReleased = d.letGo(s, t.ID, c.Agent)
	t.ClaimedBy = ""
	d.Todos, d.Result = []Todo{t.touched(c.Agent, at)}, result
	return d, nil
}
