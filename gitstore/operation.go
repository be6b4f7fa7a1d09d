package gitstore

import "context"

// Status says how an operation ended (storage.md, section 3).
type Status string

// The results of an operation that are not errors. A refusal, a conflict, a busy or ambiguous end are errors.
const (
	Applied   Status = "applied"   // committed by this call
	NoChange  Status = "no_change" // only the receipt was committed
	Replayed  Status = "replayed"  // an earlier call committed it; nothing was written
	Recovered Status = "recovered" // this call committed it and learned so from the receipt
	Planned   Status = "planned"   // dry run: decided, nothing written
)

// Operation is one mutation of one ref. Apply may call Admit and Decide more than once, each time with the snapshot of
// another tip: both must come to their answer from the snapshot, the clock and values fixed before the call, and drawn
// ids must be drawn before it.
type Operation struct {
	Ref      RefName
	ID       string   // 1 to 160 characters; names the receipt
	Kind     string   // the words of the command, "todo claim"
	Goal     string   // goes into the receipt
	Todo     string   // goes into the receipt; "" is none
	Request  string   // request_sha256: same id and other request is an [IdentityError]
	Expected ObjectID // pinned revision, "" is none
	// ExpectedLast reports a moved revision only after Decide found nothing else to refuse (continuation.md 7.3, 7.5).
	// A moved revision forbids the write in any case.
	ExpectedLast bool
	Creates      bool // the ref may be absent: Decide then sees a snapshot without revision
	DryRun       bool // decide, write nothing
	Agent        string
	Session      string

	// Admit runs before the receipt is looked up: is the actor registered? nil admits all.
	Admit func(context.Context, *Snapshot) error
	// Decide gathers what it needs from the snapshot and decides. An error refuses the operation and leaves nothing.
	Decide func(context.Context, *Snapshot) (Change, error)
}

// Change is what a decision wants written. A zero Change is "no change": only the receipt is committed.
type Change struct {
	Subject string            // of the commit, without control characters: "todo claim todo_a"
	Files   map[string][]byte // path in the tree to new content, nil to remove; others stay
	Result  any               // goes into the receipt as canonical JSON; nil is {}
	Todo    string            // replaces Operation.Todo in the receipt where the decision found it
}

// Outcome is the answer of [Repository.Apply].
type Outcome struct {
	Status  Status
	Changed bool      // this call changed more than the receipt
	Receipt Receipt   // without Revision where the status is Planned
	Tip     *Snapshot // the ref as read back after the operation
}
