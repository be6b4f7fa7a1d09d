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
}

func (a ReleaseArgs) check() error {
	switch {
	case a.Override && Blank(a.Reason):
		return failed(CodeInvalidClaim, "override needs a reason")
	case a.Reason != "" && !proseOK(a.Reason, MaxRemark):
		return failed(CodeInvalidClaim, "reason must be non-empty text of at most %d characters", MaxRemark)
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
// claim_owner_mismatch unless overridden.
func decideRelease(s State, id ID, a ReleaseArgs, actor AgentID, at Instant) (Decision, error) {
	t, err := s.Found(id)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{Subject: "todo release " + string(id)}
	switch {
	case t.ClaimedBy == "":
		d.Result = ReleaseResult{Schema: ClaimSchema, TodoID: id, Reason: a.Reason}
		return d, nil
	case t.Status == Done:
		return Decision{}, rejected(CodeTodoNotOpen, "todo %s: is %s", id, t.Status)
	case t.ClaimedBy != actor && !a.Override:
		return Decision{}, ownedBy(CodeClaimOwnerMismatch, t)
	}
	d.Result = ReleaseResult{
		Schema: ClaimSchema, TodoID: id, Changed: true,
		ReleasedFrom: t.ClaimedBy, Override: t.ClaimedBy != actor, Reason: a.Reason,
	}
	t.ClaimedBy = ""
	d.Todos = []Todo{t.touched(actor, at)}
	return d, nil
}
