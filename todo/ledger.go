package todo

import (
	"context"
	"io"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
)

// Ledger applies the rules of this package to one repository. It may be used by many at once if Random may. Errors of
// its methods are *Refusal, the errors of gitstore as they are, and those of Random.
type Ledger struct {
	Store  *gitstore.Repository
	Now    func() time.Time // judged once per decision
	Random io.Reader        // for ids; at least 16 bytes per call
	// Leases reads leases. nil knows none: a Todo with a lease record is then refused as of an unknown schema.
	Leases Leases
}

// Leases is what package lease does for the rules of this package. It may be used by many at once.
type Leases interface {
	// Judge makes a holding of the stored record of the lease on a Todo, as it is at an instant. The error is a *Refusal
	// that names the record, invalid_clock, or that of reading git's configuration.
	Judge(ctx context.Context, g GoalID, id ID, blob []byte, at Instant) (Holding, error)
	// All judges every lease of a snapshot. A record that cannot be read is a refusal in the second map; both have the
	// Todo's id as key. Ended ones may be left out, and Released is not set.
	All(ctx context.Context, s *gitstore.Snapshot, g GoalID, at Instant) (map[ID]Holding, map[ID]*Refusal, error)
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
	Proof     Proof // of a lease, for the verbs that take one
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
	// DependencyState is set by claims: what the Todo waits for does not hold them. "" where it cannot be told.
	DependencyState DependencyState
	// Refused is set on a replay whose authority is gone: the answer then has ok:false and keeps its status.
	Refused *Refusal
	Tip     *gitstore.Snapshot
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
