package handoff

import "github.com/git-loopx/git-loopx/todo"

// Reason codes of this package; those of the claim decision and of records are package todo's.
const (
	// CodeNoAuthority: there is no such goal.
	CodeNoAuthority todo.Code = "continuation_requires_canonical_authority"
	// CodeTargetNotRegistered: the agent that shall own the Todo is not registered with the goal.
	CodeTargetNotRegistered todo.Code = "target_agent_not_registered"
	// CodeOwnerRequired: only the owner of a Todo prepares its note.
	CodeOwnerRequired todo.Code = "continuation_owner_required"
	// CodeTransferRequired: leased work is not the agent's, and changes hands by lease transfer with the claim.
	CodeTransferRequired todo.Code = "continuation_transfer_required"
	// CodeNoteReplaced: the note is not the one of this operation any more.
	CodeNoteReplaced todo.Code = "continuation_note_replaced"
	// CodeNoteStale: the note is this operation's and does not fit the Todo any more.
	CodeNoteStale todo.Code = "continuation_note_stale"
	// CodeFactsChanged: the Todo is not what was taken over any more.
	CodeFactsChanged todo.Code = "continuation_facts_changed"
	// CodeNotReady: adopt is refused for the first of these blockers, all of which it lists.
	CodeNotReady todo.Code = "continuation_not_ready"

	NoteMissing          todo.Code = "note_missing"
	NoteStale            todo.Code = "note_stale"
	SameSession          todo.Code = "continuation_same_session"
	WorkspaceUnavailable todo.Code = "workspace_unavailable"
	ArtifactUnavailable  todo.Code = "artifact_unavailable"

	// CodeRevisionMismatch: the pinned revision is not the tip.
	CodeRevisionMismatch todo.Code = "provider_revision_mismatch"
	// CodeWorkspaceReadFailed: the look at the workspace failed for another reason than absence.
	CodeWorkspaceReadFailed todo.Code = "workspace_read_failed"
)

// invalid is a malformed request.
func invalid(reason string) *todo.Refusal {
	return todo.Fail(todo.CodeInvalidContinuation, "%s", reason)
}
