package handoff

import (
	"fmt"
	"slices"

	"github.com/git-loopx/git-loopx/todo"
)

// repair says what to mend first before the work can go on: the note, then the surroundings, then the right to work.
func repair(s todo.State, p Packet) string {
	hard := s.Goal.HandoffMode == todo.HardLease
	switch {
	case p.NoteState == todo.NoteUnsupported:
		return fmt.Sprintf("The note cannot be read here (%s): use a version of git loopx that knows it.", p.NoteCode)
	case p.NoteState != todo.NoteCurrent && p.ClaimedBy == "" && hard:
		return "Nobody owns this Todo: take it and a lease with git loopx todo claim --task-lease-idempotency-key."
	case p.NoteState == todo.NoteMissing && p.ClaimedBy == "":
		return "Nobody owns this Todo and it has no continuation note: take it with git loopx todo claim."
	case p.NoteState == todo.NoteMissing:
		return "There is no continuation note: " + string(p.ClaimedBy) + " leaves one with git loopx handoff prepare."
	case p.NoteState == todo.NoteStale && p.ClaimedBy == "":
		return "Nobody owns this Todo and its note is outdated: take it with git loopx todo claim."
	case p.NoteState == todo.NoteStale:
		return "The note is outdated: " + string(p.ClaimedBy) + " prepares it again with git loopx handoff prepare."
	case !p.Availability.WorkspaceAvailable:
		return "The workspace is missing: name an existing directory with --workspace."
	case !p.Availability.Ready:
		return "An artifact is not available: provide it in the workspace, then inspect again."
	}
	return repairAuthority(s, p)
}

// repairAuthority says how the execution authority can be had that the packet denies.
func repairAuthority(s todo.State, p Packet) string {
	moves := slices.Contains(p.Blockers, CodeTransferRequired)
	switch code := p.Authority.Code; {
	case code == todo.CodeAcceptanceUnbound || code == todo.CodeAcceptanceStale:
		return fmt.Sprintf("The goal holds this Todo until it is confirmed as it reads now (%s): git loopx goal acceptance bind --todo %s.", code, p.TodoID)
	case code == todo.CodeModeRequiresLease && s.Goal.HandoffMode != todo.HardLease:
		return "There is no lease, and this goal needs none: go on without a lease proof."
	case code == todo.CodeModeRequiresLease && moves && p.ClaimedBy != "":
		return fmt.Sprintf("There is no effective lease to hand over: %s takes one with git loopx lease acquire, then git loopx lease transfer --transfer-claim.", p.ClaimedBy)
	case code == todo.CodeModeRequiresLease && moves:
		return "Nobody owns this Todo: take it and a lease with git loopx todo claim --task-lease-idempotency-key."
	case code == todo.CodeModeRequiresLease:
		return "There is no effective lease: take one with git loopx lease acquire; while one is live, lease renew keeps it so."
	case code == todo.CodeLeaseClaimDivergence:
		return fmt.Sprintf("The lease of %s is live and does not fit the Todo: git loopx lease inspect says why; it ends at %s, or when its owner releases it.", s.Lease.Owner, s.Lease.Expires)
	case code == todo.CodeDependencyPending:
		return "This Todo waits for another, or for its time: git loopx todo show lists what it depends on."
	case code == todo.CodeDependencyInvalid:
		return "What this Todo depends on can never be done: mend it with git loopx todo update --depends-on."
	case moves && s.Lease.Owner != p.AgentID:
		return fmt.Sprintf("The work is leased: %s hands it over with git loopx lease transfer --transfer-claim, then inspect with the new proof.", s.Lease.Owner)
	case code == todo.CodeLeaseFenceRequired:
		return "The work is leased: prove the lease with --task-lease-idempotency-key and --task-lease-expected-version."
	}
	return "The lease proof is not that of the lease as it is now: git loopx lease inspect shows its owner, key and version."
}
