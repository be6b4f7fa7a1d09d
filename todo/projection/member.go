package projection

import (
	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// member is one member of a record in its machine's line: the name, and both directions. A list repeats its name.
type member[T any] struct {
	name string
	get  func(*T, func(value string))
	put  func(*T, string) bool // false where the member may not be given again
}

// one is a member with one value, which is left out where it is empty.
func one[T any, S ~string](name string, at func(*T) *S) member[T] {
	return member[T]{
		name: name,
		get: func(t *T, each func(string)) {
			if v := *at(t); v != "" {
				each(string(v))
			}
		},
		put: func(t *T, value string) bool {
			v := at(t)
			first := *v == ""
			*v = S(value)
			return first
		},
	}
}

// many is a member with a list of values.
func many[T any, S ~string](name string, at func(*T) *[]S) member[T] {
	return member[T]{
		name: name,
		get: func(t *T, each func(string)) {
			for _, v := range *at(t) {
				each(string(v))
			}
		},
		put: func(t *T, value string) bool {
			v := at(t)
			*v = append(*v, S(value))
			return true
		},
	}
}

// itemMembers are the members of a Todo's line in their order. They are all that a view of a Todo has, and the note.
var itemMembers = []member[Item]{
	one("todo_id", func(i *Item) *todo.ID { return &i.TodoID }),
	one("role", func(i *Item) *todo.Role { return &i.Role }),
	one("status", func(i *Item) *todo.WorkStatus { return &i.Status }),
	one("archive_state", func(i *Item) *todo.Archive { return &i.Archive }),
	one("priority", func(i *Item) *string { return &i.Priority }),
	one("title", func(i *Item) *string { return &i.Title }),
	one("text", func(i *Item) *string { return &i.Text }),
	one("task_class", func(i *Item) *string { return &i.TaskClass }),
	many("labels", func(i *Item) *[]string { return &i.Labels }),
	one("claimed_by", func(i *Item) *todo.AgentID { return &i.ClaimedBy }),
	one("bound_agent", func(i *Item) *todo.AgentID { return &i.BoundAgent }),
	many("excluded_agents", func(i *Item) *[]todo.AgentID { return &i.ExcludedAgents }),
	many("depends_on", func(i *Item) *[]todo.ID { return &i.DependsOn }),
	one("resume_at", func(i *Item) *todo.Instant { return &i.ResumeAt }),
	many("required_write_scopes", func(i *Item) *[]string { return &i.RequiredWriteScopes }),
	one("evidence", func(i *Item) *string { return &i.Evidence }),
	one("reason", func(i *Item) *string { return &i.Reason }),
	one("superseded_by", func(i *Item) *todo.ID { return &i.SupersededBy }),
	many("successor_todo_ids", func(i *Item) *[]todo.ID { return &i.SuccessorTodoIDs }),
	one("created_by", func(i *Item) *todo.AgentID { return &i.CreatedBy }),
	one("last_actor_agent_id", func(i *Item) *todo.AgentID { return &i.LastActorAgentID }),
	one("created_at", func(i *Item) *todo.Instant { return &i.CreatedAt }),
	one("updated_at", func(i *Item) *todo.Instant { return &i.UpdatedAt }),
	one("completed_at", func(i *Item) *todo.Instant { return &i.CompletedAt }),
	one("note_state", func(i *Item) *todo.NoteState { return &i.Note.State }),
	one("note_reason_code", func(i *Item) *todo.Code { return &i.Note.Code }),
	one("note_line", func(i *Item) *string { return &i.Note.Line }),
}

var unreadableMembers = []member[Unreadable]{
	one("record", func(u *Unreadable) *string { return &u.Record }),
	one("todo_id", func(u *Unreadable) *todo.ID { return &u.ID }),
	one("reason_code", func(u *Unreadable) *todo.Code { return &u.Code }),
}

// source is what the comment below the begin marker says.
type source struct {
	region Region // without its lists
	count  string // of Todos
	digest string // SHA-256 of the machine's lines of all records, each with LF, in hex
}

var sourceMembers = []member[source]{
	one("goal", func(s *source) *todo.GoalID { return &s.region.Goal }),
	one("title", func(s *source) *string { return &s.region.Title }),
	one("handoff_mode", func(s *source) *todo.Mode { return &s.region.Mode }),
	one("provider_revision", func(s *source) *gitstore.ObjectID { return &s.region.Revision }),
	one("todo_count", func(s *source) *string { return &s.count }),
	one("records_sha256", func(s *source) *string { return &s.digest }),
}
