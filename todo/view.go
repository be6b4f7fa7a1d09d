package todo

import "github.com/git-loopx/git-loopx/gitstore"

// View is a Todo as lists and answers show it; a promise, apart from the stored record.
type View struct {
	TodoID   ID   `json:"todo_id"`
	Readable bool `json:"readable"`
	// Error is the reason code of a record that cannot be read; all else but the id is then empty.
	Error Code `json:"reason_code,omitzero"`

	Role                Role       `json:"role,omitzero"`
	Status              WorkStatus `json:"status,omitzero"`
	Archive             Archive    `json:"archive_state,omitzero"`
	Priority            string     `json:"priority,omitzero"`
	Title               string     `json:"title,omitzero"`
	Text                string     `json:"text,omitzero"`
	TaskClass           string     `json:"task_class,omitzero"`
	Labels              []string   `json:"labels,omitempty"`
	ClaimedBy           AgentID    `json:"claimed_by,omitzero"`
	BoundAgent          AgentID    `json:"bound_agent,omitzero"`
	ExcludedAgents      []AgentID  `json:"excluded_agents,omitempty"`
	DependsOn           []ID       `json:"depends_on,omitempty"`
	ResumeAt            Instant    `json:"resume_at,omitzero"`
	RequiredWriteScopes []string   `json:"required_write_scopes,omitempty"`
	Evidence            string     `json:"evidence,omitzero"`
	Reason              string     `json:"reason,omitzero"`
	SupersededBy        ID         `json:"superseded_by,omitzero"`
	SuccessorTodoIDs    []ID       `json:"successor_todo_ids,omitempty"`
	CreatedBy           AgentID    `json:"created_by,omitzero"`
	LastActorAgentID    AgentID    `json:"last_actor_agent_id,omitzero"`
	CreatedAt           Instant    `json:"created_at,omitzero"`
	UpdatedAt           Instant    `json:"updated_at,omitzero"`
	CompletedAt         Instant    `json:"completed_at,omitzero"`
}

// ViewOf returns the view of a Todo that was read.
func ViewOf(t Todo) View {
	return View{
		TodoID: t.ID, Readable: true,
		Role: t.Role, Status: t.Status, Archive: t.ArchiveState,
		Priority: t.Priority, Title: t.Title, Text: t.Text, TaskClass: t.TaskClass, Labels: t.Labels,
		ClaimedBy: t.ClaimedBy, BoundAgent: t.BoundAgent, ExcludedAgents: t.ExcludedAgents,
		DependsOn: t.DependsOn, ResumeAt: t.ResumeAt, RequiredWriteScopes: t.RequiredWriteScopes,
		Evidence: t.Evidence, Reason: t.Reason, SupersededBy: t.SupersededBy, SuccessorTodoIDs: t.SuccessorTodoIDs,
		CreatedBy: t.CreatedBy, LastActorAgentID: t.LastActorAgentID,
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, CompletedAt: t.CompletedAt,
	}
}

// GoalView is a goal as goal list and show print it.
type GoalView struct {
	GoalID   GoalID            `json:"goal_id"`
	Readable bool              `json:"readable"`
	Error    Code              `json:"reason_code,omitzero"` // of a goal that cannot be read; all else but the id is then empty
	ScopeID  string            `json:"scope_id,omitzero"`
	Title    string            `json:"title,omitzero"`
	Mode     Mode              `json:"handoff_mode,omitzero"`
	Agents   []AgentView       `json:"agents"`
	Created  Instant           `json:"created_at,omitzero"`
	Revision gitstore.ObjectID `json:"provider_revision,omitzero"`
}

// AgentView is a registered agent as agent list prints it.
type AgentView struct {
	AgentID AgentID `json:"agent_id"`
	Label   string  `json:"label,omitzero"`
	AddedAt Instant `json:"added_at"`
}

// NoteView is the note on a Todo with its state.
type NoteView struct {
	State    NoteState `json:"note_state"`
	Findings []Finding `json:"note_findings,omitempty"` // of a stale note
	Facts    string    `json:"note_facts,omitzero"`     // digest of the note; "" where there is none
	Text     string    `json:"text,omitzero"`           // of a free-text note
	// Continuation is a current note in full; of a stale one what passes its own rules.
	Continuation *Note  `json:"continuation,omitzero"`
	Error        Code   `json:"reason_code,omitzero"` // of an unsupported note
	Reason       string `json:"reason,omitzero"`      // the sentence for Error
}

// NoteViewOf returns the view of a judged note.
func NoteViewOf(j Judgement) NoteView {
	v := NoteView{State: j.State, Findings: j.Findings, Facts: j.Facts, Text: j.Text, Continuation: j.Note}
	if j.Refusal != nil {
		v.Error, v.Reason = j.Refusal.Code, j.Refusal.Reason
	}
	return v
}

// ShowView is one Todo with its note, as todo show prints it.
type ShowView struct {
	Revision  gitstore.ObjectID `json:"provider_revision"`
	View      View              `json:"todo"`
	Note      NoteView          `json:"note"`
	TodoFacts string            `json:"todo_facts"`
}
