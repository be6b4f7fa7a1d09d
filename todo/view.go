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
	GoalID   GoalID      `json:"goal_id"`
	Readable bool        `json:"readable"`
	Error    Code        `json:"reason_code,omitzero"` // of a goal that cannot be read; all else but the id is then empty
	ScopeID  string      `json:"scope_id,omitzero"`
	Title    string      `json:"title,omitzero"`
	Mode     Mode        `json:"handoff_mode,omitzero"`
	Agents   []AgentView `json:"agents"`
	// Acceptance is nil where it was never configured.
	Acceptance *AcceptanceSettings `json:"acceptance,omitzero"`
	Created    Instant             `json:"created_at,omitzero"`
	Revision   gitstore.ObjectID   `json:"provider_revision,omitzero"`
}

// AcceptanceSettings says whose work has to be confirmed; what was confirmed is in [AcceptanceView].
type AcceptanceSettings struct {
	Enabled bool            `json:"enabled"`
	Scope   AcceptanceScope `json:"scope"`
	TodoIDs []ID            `json:"todo_ids,omitempty"`
	Bound   int             `json:"bound_count"` // Todos that were ever confirmed
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

// HoldingView is the lease on a Todo as todo show prints it, judged in the eyes of others than its owner.
type HoldingView struct {
	Owner          AgentID `json:"owner"`
	IdempotencyKey string  `json:"idempotency_key"`
	Version        int64   `json:"version"`
	Epoch          int64   `json:"lease_epoch"`
	ExpiresAt      Instant `json:"expires_at"`
	Live           bool    `json:"live"`                 // neither given back nor over
	Active         bool    `json:"active"`               // live, and its owner may hold it
	Reason         Code    `json:"reason_code,omitzero"` // why a live one is not active
}

// HoldingViewOf returns the view of the lease of a state; nil where there never was one.
func HoldingViewOf(s State) *HoldingView {
	h := s.Lease
	if h.Owner == "" || s.Todo == nil {
		return nil
	}
	v := &HoldingView{
		Owner: h.Owner, IdempotencyKey: h.Key, Version: h.Version, Epoch: h.Epoch, ExpiresAt: h.Expires,
		Live: h.LiveToOthers, Active: s.EffectiveFor(""),
	}
	if r := s.Divergence(s.Todo.ID, ""); r != nil {
		v.Reason = r.Code
	}
	return v
}

// ShowView is one Todo with all that is beside it, as todo show prints it.
type ShowView struct {
	Revision  gitstore.ObjectID `json:"provider_revision"`
	View      View              `json:"todo"`
	Note      NoteView          `json:"note"`
	TodoFacts string            `json:"todo_facts"`
	Lease     *HoldingView      `json:"lease,omitzero"` // nil: there never was one
	// DependencyState is that of any Todo, Acceptance only of one that the hold is for.
	DependencyState DependencyState `json:"dependency_state"`
	Acceptance      *Guard          `json:"acceptance,omitzero"`
	// Holds says what holds the work now, the dependency before the acceptance; never nil, and empty once it is done or put away.
	Holds []Code `json:"holds"`
}

// ShowViewOf returns the view of a Todo that was found, at an instant.
func ShowViewOf(s State, at Instant) ShowView {
	t := *s.Todo
	v := ShowView{
		Revision: s.Revision, View: ViewOf(t), Note: NoteViewOf(s.JudgeNote()), TodoFacts: TodoFacts(t),
		Lease: HoldingViewOf(s), DependencyState: s.Dependencies(at), Holds: []Code{},
	}
	if guard := s.Goal.Guard(t); guard.Applicable {
		v.Acceptance = &guard
	}
	if t.Status == Done || t.ArchiveState == Archived {
		return v
	}
	for _, err := range []error{s.CheckDependencies(at), s.CheckAcceptance()} {
		if code := CodeOf(err); code != "" {
			v.Holds = append(v.Holds, code)
		}
	}
	return v
}
