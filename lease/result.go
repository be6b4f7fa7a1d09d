package lease

import "github.com/git-loopx/git-loopx/todo"

// Result is the nested result of a lease verb, kept in its receipt.
type Result struct {
	Schema      string    `json:"schema_version"`
	TodoID      todo.ID   `json:"todo_id"`
	Changed     bool      `json:"changed"`
	HandoffMode todo.Mode `json:"handoff_mode"`
	Idempotent  bool      `json:"idempotent"`
	Lease       View      `json:"lease"` // as the operation left it
	// Of a transfer with the claim.
	TransferClaim bool         `json:"transfer_claim,omitzero"`
	ClaimedBy     todo.AgentID `json:"claimed_by,omitzero"`
	TodoChanged   *bool        `json:"todo_changed,omitzero"`
}

// decision is what a verb wants written: the lease afterwards, or, idempotent, a receipt alone.
func decision(verb string, s todo.State, l Lease, idempotent bool) (todo.Decision, error) {
	d := todo.Decision{
		Subject: "lease " + verb + " " + string(l.Todo),
		Result: Result{
			Schema: "loopx_canonical_task_lease_" + verb + "_result_v0", TodoID: l.Todo, Changed: !idempotent,
			HandoffMode: s.Goal.HandoffMode, Idempotent: idempotent, Lease: ViewOf(l),
		},
	}
	if idempotent {
		return d, nil
	}
	record, err := EncodeLease(l)
	d.Leases = map[todo.ID][]byte{l.Todo: record}
	return d, err
}
