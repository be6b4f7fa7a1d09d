package todo

import (
	"context"
	"io"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
)

// Ledger applies the rules of this package to one repository. It may be used by many at once.
type Ledger struct {
	Store  *gitstore.Repository
	Now    func() time.Time // judged once per decision
	Random io.Reader        // for ids; at least 16 bytes per call
}

// Call is what every mutation is told besides its own arguments.
type Call struct {
	Goal      GoalID
	Todo      ID // "" where the verb names none
	Agent     AgentID
	Session   string            // goes into the commit's trailer
	Operation string            // the caller's operation id; "" draws one
	Expected  gitstore.ObjectID // pinned revision, "" is none; compared as text
	DryRun    bool
}

// Answer is what a mutation says.
type Answer struct {
	Kind      string // the words of the command
	Goal      GoalID
	Todo      ID // "" for goal and agent verbs
	Operation string
	Status    gitstore.Status
	Changed   bool
	Revision  gitstore.ObjectID // the tip as read back; "" where planned on an absent goal
	Receipt   gitstore.Receipt  // Result is the nested result
	View      *View             // of the Todo as read back
	// Refused is set on a replay whose authority is gone: the answer then has ok:false and keeps its status.
	Refused *Refusal
	Tip     *gitstore.Snapshot
}

// View is a Todo as lists and answers show it; a promise, apart from the stored record.
type View struct {
	TodoID   ID   `json:"todo_id"`
	Readable bool `json:"readable"`
	// Error is the reason code of a record that cannot be read; all else is then empty.
	Error Code  `json:"reason_code,omitzero"`
	Todo  *Todo `json:"-"` // REPLACED by own members: role, status, text, …
}

// GoalView is a goal as goal list and show print it.
type GoalView struct {
	GoalID   GoalID            `json:"goal_id"`
	Readable bool              `json:"readable"`
	Error    Code              `json:"reason_code,omitzero"`
	ScopeID  string            `json:"scope_id,omitzero"`
	Title    string            `json:"title,omitzero"`
	Mode     Mode              `json:"handoff_mode,omitzero"`
	Agents   []AgentView       `json:"agents"`
	Created  Instant           `json:"created_at,omitzero"`
	Revision gitstore.ObjectID `json:"provider_revision"`
}

// AgentView is a registered agent as agent list prints it.
type AgentView struct {
	AgentID AgentID `json:"agent_id"`
	Label   string  `json:"label,omitzero"`
	AddedAt Instant `json:"added_at"`
}

// AddArgs are the arguments of todo add, as given.
type AddArgs struct {
	Role                  Role // "" is agent
	Text, Title, Priority string
	TaskClass             string
	Labels                []string
	BoundAgent            AgentID
	ExcludedAgents        []AgentID
	RequiredWriteScopes   []string
	ClaimedBy             AgentID
}

// UpdateArgs are the arguments of todo update: nil members stay, Clear names members to remove ("title", "labels", …).
type UpdateArgs struct {
	Text, Title, Priority, TaskClass *string
	Labels                           *[]string
	BoundAgent                       *AgentID
	ExcludedAgents                   *[]AgentID
	RequiredWriteScopes              *[]string
	Status                           *WorkStatus
	Evidence, Reason                 *string
	Note                             *string
	Clear                            []string
}

// NoteArgs replace or clear the free-text note.
type NoteArgs struct {
	Text  string
	Clear bool
}

// ReleaseArgs, CompleteArgs, SupersedeArgs, ReopenArgs: the verbs' own arguments.
type (
	ReleaseArgs struct {
		Override bool
		Reason   string
	}
	CompleteArgs struct {
		Evidence, Reason string
		Successors       []ID
	}
	SupersedeArgs struct {
		By     ID
		Reason string
	}
	ReopenArgs struct{ Reason string }
)

// ArchiveCompletedArgs keep the newest MaxActiveDone done Todos and archive the rest; without Execute it only reports.
type ArchiveCompletedArgs struct {
	MaxActiveDone int
	Execute       bool
}

// ArchiveCompletedAnswer adds the ids that were (or would be) archived.
type ArchiveCompletedAnswer struct {
	Answer
	Todos []ID
}

// Filter chooses rows of a list. Zero members choose all; All adds done and archived Todos.
type Filter struct {
	Role   Role
	Status WorkStatus
	Labels []string // all of them
	All    bool
	Limit  int // 0: no limit
}

// List is a list of Todos of one revision.
type List struct {
	Revision gitstore.ObjectID
	Total    int // rows that the filter chose, before Limit
	Rows     []View
}

// ShowView is one Todo with its note, as todo show prints it.
type ShowView struct {
	Revision  gitstore.ObjectID
	View      View
	Note      NoteView
	TodoFacts string
}

// NoteView is the note on a Todo with its state.
type NoteView struct {
	State NoteState
	// … findings, text of a free note, members of a continuation note
}

// NoteState says what a stored note is worth now (continuation.md, section 1.3).
type NoteState string

// The states of a note.
const (
	NoteCurrent     NoteState = "current"
	NoteStale       NoteState = "stale"
	NoteMissing     NoteState = "missing"
	NoteUnsupported NoteState = "unsupported"
)

func (l *Ledger) CreateGoal(ctx context.Context, c Call, title string, mode Mode) (Answer, error) {
	panic("stub")
}
func (l *Ledger) Goals(ctx context.Context) ([]GoalView, error)               { panic("stub") }
func (l *Ledger) Goal(ctx context.Context, id GoalID) (GoalView, error)       { panic("stub") }
func (l *Ledger) SetMode(ctx context.Context, c Call, m Mode) (Answer, error) { panic("stub") }

// AddAgent and RemoveAgent take the agent added or removed from c.Agent.
func (l *Ledger) AddAgent(ctx context.Context, c Call, label string) (Answer, error) { panic("stub") }
func (l *Ledger) RemoveAgent(ctx context.Context, c Call) (Answer, error)            { panic("stub") }
func (l *Ledger) Add(ctx context.Context, c Call, a AddArgs) (Answer, error)         { panic("stub") }
func (l *Ledger) Update(ctx context.Context, c Call, a UpdateArgs) (Answer, error)   { panic("stub") }
func (l *Ledger) SetNote(ctx context.Context, c Call, a NoteArgs) (Answer, error)    { panic("stub") }
func (l *Ledger) Claim(ctx context.Context, c Call, claimedBy AgentID) (Answer, error) {
	panic("stub")
}
func (l *Ledger) Release(ctx context.Context, c Call, a ReleaseArgs) (Answer, error)   { panic("stub") }
func (l *Ledger) Complete(ctx context.Context, c Call, a CompleteArgs) (Answer, error) { panic("stub") }
func (l *Ledger) Supersede(ctx context.Context, c Call, a SupersedeArgs) (Answer, error) {
	panic("stub")
}
func (l *Ledger) Reopen(ctx context.Context, c Call, a ReopenArgs) (Answer, error) { panic("stub") }
func (l *Ledger) Archive(ctx context.Context, c Call) (Answer, error)              { panic("stub") }
func (l *Ledger) ArchiveCompleted(ctx context.Context, c Call, a ArchiveCompletedArgs) (ArchiveCompletedAnswer, error) {
	panic("stub")
}
func (l *Ledger) List(ctx context.Context, g GoalID, f Filter) (List, error)  { panic("stub") }
func (l *Ledger) Show(ctx context.Context, g GoalID, id ID) (ShowView, error) { panic("stub") }

// Resolve finds the one Todo that a prefix of at least 9 characters names; an exact id wins.
func (l *Ledger) Resolve(ctx context.Context, g GoalID, prefix string) (ID, error) { panic("stub") }
func (l *Ledger) FindReceipt(ctx context.Context, g GoalID, operation string) (*gitstore.Receipt, error) {
	panic("stub")
}

// History lists commits, newest first, of one Todo or ("") of the goal.
func (l *Ledger) History(ctx context.Context, g GoalID, id ID, limit int) ([]gitstore.Commit, error) {
	panic("stub")
}
