package projection

import (
	"fmt"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// State is the projection_delivery of an answer.
type State string

// What became of a view.
const (
	NotRequired State = "not_required" // no file is configured, or nothing was to be written
	Delivered   State = "delivered"    // the file was written
	Current     State = "current"      // the file was right already
	Pending     State = "pending"      // the file does not show the tip; the commit stands all the same
)

// OutboxSchema is the schema_version of a projection_outbox.
const OutboxSchema = "loopx_todo_projection_delivery_v0"

// TodoSectionsOnly is the recovery_scope of a file that was created: what else it may have said before is not known here.
const TodoSectionsOnly = "todo_sections_only"

// Outbox is the projection_outbox of an answer (continuation.md, section 11); a promise.
type Outbox struct {
	Schema   string            `json:"schema_version"`
	Status   State             `json:"status"`
	Revision gitstore.ObjectID `json:"provider_revision"`         // that the view shows, "" where none could be read
	Trigger  gitstore.ObjectID `json:"trigger_provider_revision"` // of the operation that asked for it
	Todos    int               `json:"todo_count"`                // Todos in the view, without those that cannot be read
	Changed  bool              `json:"changed"`                   // the file was written, or would be
	SHA256   string            `json:"rendered_sha256"`           // of the region with LF line ends, "" where it was not rendered
	Recovery string            `json:"recovery_scope,omitzero"`   // of a file that was created

	// Of a pending delivery.
	Code      todo.Code `json:"reason_code,omitzero"`
	Retryable bool      `json:"retryable,omitzero"`
	Action    string    `json:"recommended_action,omitzero"`
	// RetryMutation is false: what is pending is the view, not the operation.
	RetryMutation *bool `json:"retry_business_mutation,omitzero"`
}

// Delivery says what became of the view of a goal.
type Delivery struct {
	State  State
	Outbox *Outbox // nil: no delivery was tried
	// Refused is why a delivery is pending; nil where it is not, or only waits to be asked for.
	Refused *todo.Refusal
}

// pending ends a delivery that could not be made.
func (o Outbox) pending(goal todo.GoalID, r *todo.Refusal) Delivery {
	o.Status, o.Code = Pending, r.Code
	return o.waiting(r, r.Reason+"; "+remedies[r.Code]+", then run the same command again with its operation id, or "+o.repair(goal))
}

// planned ends a delivery that was only asked about.
func (o Outbox) planned(goal todo.GoalID) Delivery {
	o.Status = Pending
	return o.waiting(nil, "to write it, run "+o.repair(goal))
}

func (o Outbox) waiting(r *todo.Refusal, action string) Delivery {
	o.Retryable, o.Action, o.RetryMutation = true, action, new(bool)
	return Delivery{State: Pending, Outbox: &o, Refused: r}
}

// repair is the command that writes the view and nothing else.
func (o Outbox) repair(goal todo.GoalID) string {
	at := o.Revision
	if at == "" {
		at = "REVISION"
	}
	return fmt.Sprintf("git loopx todo project-markdown --goal-id %s --provider-revision %s --execute", goal, at)
}

// remedies say what mends a delivery.
var remedies = map[todo.Code]string{
	CodeTargetUnavailable:    "let git config loopx.projection name a file of the work tree",
	CodeWriteUnavailable:     "make the file writable",
	CodeRenderRejected:       "mend the markers in the file",
	CodeAuthorityUnavailable: "git loopx fsck tells what cannot be read",
}

func refused(c todo.Code, s todo.Status, format string, args ...any) *todo.Refusal {
	return &todo.Refusal{Code: c, Status: s, Reason: fmt.Sprintf(format, args...)}
}

// quoted is foreign text fit for a sentence: quoted, and at most 80 characters of it.
func quoted(s string) string {
	if utf8.RuneCountInString(s) > 80 {
		s = string([]rune(s)[:79]) + "…"
	}
	return fmt.Sprintf("%q", s)
}
