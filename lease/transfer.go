package lease

import (
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// decideTransfer hands a lease over (continuation.md, section 6): with the claim the codes of checkPlan →
// handoff_mode_forbids_lease → owner_not_registered of the source → those of [todo.Eligible] of the new owner, judged after
// the claim moved → those of checkHeld → idempotency_key_reuse → lease_generation_exhausted → new owner, key and end,
// version + 1, epoch + 1; scopes, acquired_at and acquire_ttl_seconds stay. With the claim lease, claim and note move in
// the one decision. record is the stored lease; nil: none.
func decideTransfer(s todo.State, r TransferRequest, record *Lease, at todo.Instant) (todo.Decision, error) {
	moved := s
	if r.TransferClaim {
		if err := checkPlan(s, r); err != nil {
			return todo.Decision{}, err
		}
		t := *s.Todo
		t.ClaimedBy = r.NewOwner
		moved.Todo = &t
	}
	err := todo.First(
		checkMode(s.Goal), checkRegistered(s.Goal, r.Owner, todo.CodeOwnerNotRegistered),
		todo.Eligible(s.Goal, r.Todo, moved.Todo, r.NewOwner), checkHeld(s, r.Todo, r.Owner, r.Key, *r.ExpectedVersion),
	)
	switch {
	case err != nil:
		return todo.Decision{}, err
	case r.NewKey == r.Key:
		return todo.Decision{}, keyReuse(r.Todo, r.NewKey, "is the one that the lease has")
	case record.Version >= canonical.MaxInteger || record.Epoch >= canonical.MaxInteger:
		return todo.Decision{}, exhausted(r.Todo)
	}
	next, err := record.extended(at, ttlOr(r.TTL))
	if err != nil {
		return todo.Decision{}, err
	}
	next.Owner, next.Key = r.NewOwner, r.NewKey
	next.Version++
	next.Epoch++
	d, err := decision("transfer", s, next, false)
	if err != nil || !r.TransferClaim {
		return d, err
	}
	return withClaim(d, s, *moved.Todo, r.Owner, at)
}

// withClaim adds to the decision of a transfer that the claim moves, and the note with it. The Todo is as it is once the
// claim has moved; where it was the new owner's already, nothing is added.
func withClaim(d todo.Decision, s todo.State, t todo.Todo, by todo.AgentID, at todo.Instant) (todo.Decision, error) {
	result := d.Result.(Result)
	changed := t.ClaimedBy != s.Todo.ClaimedBy
	result.TransferClaim, result.ClaimedBy, result.TodoChanged = true, t.ClaimedBy, &changed
	d.Result = result
	if !changed {
		return d, nil
	}
	t.LastActorAgentID, t.UpdatedAt = by, at
	d.Todos = []todo.Todo{t}
	note, err := todo.RebindNote(s.Note, *s.Todo, t)
	if note != nil {
		d.Notes = map[todo.ID][]byte{t.ID: note}
	}
	return d, err
}

// checkPlan says whether a claim may move with its lease: claim_transfer_requires_hard_lease →
// claim_transfer_requires_open_agent_todo → claim_transfer_owner_mismatch → of the source, then of the receiver:
// actor_not_registered and the codes of [todo.Admit].
func checkPlan(s todo.State, r TransferRequest) error {
	t := s.Todo
	switch {
	case s.Goal.HandoffMode != todo.HardLease:
		return todo.Reject(CodeTransferNeedsLease, "goal %s: is %s, where no claim moves with a lease", s.Goal.ID, s.Goal.HandoffMode)
	case t == nil:
		return todo.Reject(CodeTransferNeedsOpenTodo, "todo %s: not in goal %s", r.Todo, s.Goal.ID)
	case t.ArchiveState != todo.Active:
		return todo.Reject(CodeTransferNeedsOpenTodo, "todo %s: is archived", t.ID).With("todo_status", t.Status)
	case t.Status != todo.Open:
		return todo.Reject(CodeTransferNeedsOpenTodo, "todo %s: is %s", t.ID, t.Status).With("todo_status", t.Status)
	case t.Role != todo.RoleAgent:
		return todo.Reject(CodeTransferNeedsOpenTodo, "todo %s: has the role %s", t.ID, t.Role)
	case t.ClaimedBy == "":
		return todo.Reject(CodeTransferOwnerMismatch, "todo %s: claimed by nobody", t.ID)
	case t.ClaimedBy != r.Owner:
		return todo.Reject(CodeTransferOwnerMismatch, "todo %s: claimed by %q", t.ID, t.ClaimedBy).With("claimed_by", t.ClaimedBy)
	}
	return todo.First(
		checkRegistered(s.Goal, r.Owner, todo.CodeActorNotRegistered), todo.Admit(*t, r.Owner),
		checkRegistered(s.Goal, r.NewOwner, todo.CodeActorNotRegistered), todo.Admit(*t, r.NewOwner),
	)
}

func checkRegistered(g todo.Goal, a todo.AgentID, code todo.Code) error {
	if !g.Registered(a) {
		return todo.Reject(code, "agent %q is not registered with goal %s", todo.Clean(a), g.ID)
	}
	return nil
}
