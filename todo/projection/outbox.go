package projection

import (
	"errors"
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
	// Remedy is what mends a delivery that is pending for a reason.
	Remedy string
}

// pending ends a delivery that could not be made. tip is that of the goal, "" where it is not known.
func (o Outbox) pending(goal todo.GoalID, tip gitstore.ObjectID, r *todo.Refusal, remedy string) Delivery {
	o.Status, o.Code = Pending, r.Code
	d := o.waiting(r, r.Reason+"; "+remedy+", then run the same command again with its operation id, or "+repair(goal, tip))
	d.Remedy = remedy
	return d
}

// planned ends a delivery that was only asked about.
func (o Outbox) planned(goal todo.GoalID) Delivery {
	o.Status = Pending
	return o.waiting(nil, "to write it, run "+repair(goal, o.Revision))
}

func (o Outbox) waiting(r *todo.Refusal, action string) Delivery {
	o.Retryable, o.Action, o.RetryMutation = true, action, new(bool)
	return Delivery{State: Pending, Outbox: &o, Refused: r}
}

// repair is the command that writes the view and nothing else.
func repair(goal todo.GoalID, tip gitstore.ObjectID) string {
	if tip == "" {
		tip = "REVISION"
	}
	return fmt.Sprintf("git loopx todo project-markdown --goal-id %s --provider-revision %s --execute", goal, tip)
}

// remedy says what mends a delivery to the file that a configuration key names.
func remedy(err error, code todo.Code, key string) string {
	if m, ok := errors.AsType[mended](err); ok {
		return m.by
	}
	switch code {
	case CodeTargetUnavailable:
		return "let git config " + key + " name a file of the work tree"
	case CodeWriteUnavailable:
		return "make the file writable"
	case CodeRenderRejected:
		return "mend the markers in the file"
	}
	return "git loopx fsck tells what cannot be read"
}

// mended is a refusal with what mends it, where its code alone does not tell.
type mended struct {
	*todo.Refusal
	by string
}

func (m mended) Unwrap() error { return m.Refusal }

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
