package main

import (
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// mutated is the answer of a mutation (continuation.md, section 3), in both forms. Verbs add what is theirs.
func (j *job) mutated(a todo.Answer) *answer {
	subject := string(a.Goal)
	if a.Todo != "" {
		subject = string(a.Todo)
	}
	return j.mutatedWhat(a, subject)
}

// mutatedWhat is mutated with the name of what was changed, for people.
func (j *job) mutatedWhat(a todo.Answer, subject string) *answer {
	said := &answer{}
	m := &said.members
	m.set("goal_id", a.Goal)
	m.setGiven("todo_id", string(a.Todo))
	m.set("status", a.Status)
	m.set("changed", a.Changed)
	m.set("operation_id", a.Operation)
	m.setGiven("provider_revision", string(a.Revision))
	if a.Status != gitstore.Planned && a.Receipt.OperationID != "" { // releasing no lease at all leaves none
		m.set("original_receipt", receiptMembers(a.Receipt))
	}
	m.set("result", nested(a.Receipt.Result))
	told := telling(a.Receipt.Result)
	for _, x := range []member{{"already_exists", told.AlreadyExists}, {"replaced_note", told.ReplacedNote},
		{"claimed_todos", told.ClaimedTodos}, {"active_leases", told.ActiveLeases}} {
		if v := x.value.(jsontext.Value); len(v) > 0 {
			m.set(x.name, v)
		}
	}
	said.views(a)
	if a.View != nil {
		m.set("todo", a.View)
	}
	if a.Refused != nil {
		said.refused = explain(withPlace(a.Refused, j))
	}

	said.printf("%s %s: %s\n", a.Kind, handoff.Visible(subject), a.Status)
	if a.View != nil && a.View.Readable {
		said.printf("  text       %s\n", firstLine(headline(*a.View), 100))
		if a.View.ClaimedBy != "" {
			said.printf("  claimed by %s\n", handoff.Visible(string(a.View.ClaimedBy)))
		}
	}
	if told.LeaseReleased {
		said.printf("  lease      released\n")
	}
	said.printf("  operation  %s\n", handoff.Visible(a.Operation))
	if a.Revision != "" {
		said.printf("  revision   %s\n", a.Revision)
	}
	return said
}

// told are the members of a nested result that the page of a verb promises of its answer.
type told struct {
	AlreadyExists jsontext.Value `json:"already_exists"` // todo add
	ReplacedNote  jsontext.Value `json:"replaced_note"`  // todo update, note
	ClaimedTodos  jsontext.Value `json:"claimed_todos"`  // agent remove
	ActiveLeases  jsontext.Value `json:"active_leases"`
	// LeaseReleased says that the lease ended with it: todo update, release, complete, supersede.
	LeaseReleased bool `json:"lease_released"`
}

func telling(result jsontext.Value) (t told) {
	if len(result) > 0 && json.Unmarshal(result, &t) != nil {
		return told{} // a receipt is not read for what it promises besides: it is shown as it is
	}
	return t
}

// receiptMembers is a receipt as answers show it.
func receiptMembers(r gitstore.Receipt) members {
	m := members{{"operation_id", r.OperationID}, {"kind", r.Kind}}
	m.setGiven("provider_revision", string(r.Revision))
	if !r.At.IsZero() {
		m.set("at", r.At.UTC().Format(time.RFC3339))
	}
	m.set("result", nested(r.Result))
	return m
}

func nested(v jsontext.Value) jsontext.Value {
	if len(v) == 0 {
		return jsontext.Value("{}")
	}
	return v
}

// headline is what a list calls a Todo: its title, else its text.
func headline(v todo.View) string {
	if v.Title != "" {
		return v.Title
	}
	return v.Text
}
