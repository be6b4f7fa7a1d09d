package projection

import "github.com/git-loopx/git-loopx/todo"

// Why a view was not delivered. No mutation is refused by these codes: they stand in the projection_outbox of an answer
// whose commit stands, and refuse the verb that writes nothing but the view.
const (
	CodeTargetUnavailable    todo.Code = "todo_projection_target_unavailable"    // no work tree, outside of it, not a file
	CodeWriteUnavailable     todo.Code = "todo_projection_write_unavailable"     // the file, or its turn, cannot be had now
	CodeRenderRejected       todo.Code = "todo_projection_render_rejected"       // the markers of the file do not pair up, or the view does not read back
	CodeAuthorityUnavailable todo.Code = "todo_projection_authority_unavailable" // the goal cannot be read now
)
