package todo

import "github.com/git-loopx/git-loopx/gitstore"

// Schemas of the records of this package.
const (
	GoalSchema = "loopx.goal/1"
	TodoSchema = "loopx.todo/1"
	NoteSchema = "loopx.note/1"
)

// Mode says what taking work needs.
type Mode string

// The modes of a goal.
const (
	SoftClaim Mode = "soft_claim" // claims only
	HardLease Mode = "hard_lease" // a live lease too
)

// Role says whose work a Todo is.
type Role string

// The roles of a Todo.
const (
	RoleAgent Role = "agent"
	RoleUser  Role = "user"
)

// WorkStatus is where a Todo stands.
type WorkStatus string

// The statuses of a Todo.
const (
	Open     WorkStatus = "open"
	Done     WorkStatus = "done"
	Blocked  WorkStatus = "blocked"
	Deferred WorkStatus = "deferred"
)

// Archive says whether a Todo is put away.
type Archive string

// The archive states of a Todo.
const (
	Active   Archive = "active"
	Archived Archive = "archive"
)

// Agent is a participant registered with a goal.
type Agent struct {
	AddedAt Instant `json:"added_at"`
	ID      AgentID `json:"id"`
	Label   string  `json:"label,omitzero"`
}

// Goal is the record goal.json.
type Goal struct {
	Schema      string  `json:"schema"`
	ID          GoalID  `json:"id"`
	ScopeID     string  `json:"scope_id"` // 32 lower-case hex digits
	Title       string  `json:"title,omitzero"`
	HandoffMode Mode    `json:"handoff_mode"`
	Agents      []Agent `json:"agents,omitempty"` // by id
	// Acceptance is nil where it was never configured.
	Acceptance *Acceptance `json:"acceptance,omitzero"`
	CreatedAt  Instant     `json:"created_at"`
}

// AcceptanceScope says which Todos the acceptance hold is for.
type AcceptanceScope string

// The scopes of an acceptance hold.
const (
	HoldAll      AcceptanceScope = "all"      // every Todo of role agent
	HoldSelected AcceptanceScope = "selected" // those it names
)

// Acceptance is the acceptance hold of a goal (continuation.md, section 10).
type Acceptance struct {
	Enabled bool            `json:"enabled"`
	Scope   AcceptanceScope `json:"scope"`
	TodoIDs []ID            `json:"todo_ids,omitempty"` // of HoldSelected, sorted
	// Bindings have the work digest of each Todo as it was when it was confirmed.
	Bindings map[ID]string `json:"bindings,omitempty"`
}

// Todo is one unit of work (continuation.md, section 1.2). Set-like members are sorted, without duplicates.
type Todo struct {
	SchemaVersion       string     `json:"schema_version"`
	ID                  ID         `json:"todo_id"`
	Role                Role       `json:"role"`
	Status              WorkStatus `json:"status"`
	Text                string     `json:"text"`
	ArchiveState        Archive    `json:"archive_state"`
	Title               string     `json:"title,omitzero"`
	Priority            string     `json:"priority,omitzero"`
	TaskClass           string     `json:"task_class,omitzero"`
	Labels              []string   `json:"labels,omitempty"`
	ClaimedBy           AgentID    `json:"claimed_by,omitzero"`
	CreatedBy           AgentID    `json:"created_by,omitzero"`
	LastActorAgentID    AgentID    `json:"last_actor_agent_id,omitzero"`
	BoundAgent          AgentID    `json:"bound_agent,omitzero"`
	ExcludedAgents      []AgentID  `json:"excluded_agents,omitempty"`
	DependsOn           []ID       `json:"depends_on,omitempty"`
	ResumeAt            Instant    `json:"resume_at,omitzero"`
	RequiredWriteScopes []string   `json:"required_write_scopes,omitempty"`
	Evidence            string     `json:"evidence,omitzero"`
	Reason              string     `json:"reason,omitzero"`
	SupersededBy        ID         `json:"superseded_by,omitzero"`
	SuccessorTodoIDs    []ID       `json:"successor_todo_ids,omitempty"`
	CreatedAt           Instant    `json:"created_at,omitzero"`
	UpdatedAt           Instant    `json:"updated_at,omitzero"`
	CompletedAt         Instant    `json:"completed_at,omitzero"`
}

// GoalPath is the file of the goal record.
const GoalPath = "goal.json"

// TodoPath returns the file of a Todo in the tree of its goal.
func TodoPath(id ID) string { return gitstore.Bucket("todos", string(id)) + "/" + string(id) + ".json" }

// NotePath returns the file of the note on a Todo.
func NotePath(id ID) string { return gitstore.Bucket("notes", string(id)) + "/" + string(id) + ".json" }

// LeasePath returns the file of the lease on a Todo.
func LeasePath(id ID) string {
	return gitstore.Bucket("leases", string(id)) + "/" + string(id) + ".json"
}
