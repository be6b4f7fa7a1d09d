package lease

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-loopx/git-loopx/todo"
)

// Bounds of continuation.md, section 1.4, in seconds.
const (
	DefaultTTL = 2700
	MaxTTL     = 86400
	MaxSkew    = 3600
)

// Request asks for a lease: with a claim, or by lease acquire.
type Request struct {
	Key             string
	ExpectedVersion *int64   // nil: not given; 0 counts as given
	TTL             *int64   // seconds; nil: [DefaultTTL]
	WriteScopes     []string // nil: the Todo's required_write_scopes
}

// Caller is what every verb on a lease is told besides its own arguments. It has no actor: a lease verb names an owner.
type Caller struct {
	Goal    todo.GoalID
	Todo    todo.ID
	Owner   todo.AgentID
	Session string // goes into the commit's trailer
	DryRun  bool
}

// Held is what the verbs are told that prove a lease.
type Held struct {
	Caller
	Key             string
	ExpectedVersion *int64 // needed
}

// AcquireRequest are the arguments of lease acquire.
type AcquireRequest struct {
	Caller
	Request
}

// RenewRequest are the arguments of lease renew.
type RenewRequest struct {
	Held
	TTL *int64 // seconds; nil: [DefaultTTL]
}

// TransferRequest are the arguments of lease transfer.
type TransferRequest struct {
	Held
	NewOwner      todo.AgentID
	NewKey        string
	TTL           *int64 // seconds; nil: [DefaultTTL]
	TransferClaim bool   // the claim moves with the lease
}

// ReleaseRequest are the arguments of lease release.
type ReleaseRequest struct{ Held }

// View is a lease as answers show it; a promise, apart from the stored record.
type View struct {
	GoalID         todo.GoalID  `json:"goal_id"`
	TodoID         todo.ID      `json:"todo_id"`
	Owner          todo.AgentID `json:"owner"`
	IdempotencyKey string       `json:"idempotency_key"`
	WriteScopes    []string     `json:"write_scopes"`
	AcquireTTL     int64        `json:"acquire_ttl_seconds"`
	Version        int64        `json:"version"`
	Epoch          int64        `json:"lease_epoch"`
	Status         Status       `json:"status"`
	AcquiredAt     todo.Instant `json:"acquired_at"`
	UpdatedAt      todo.Instant `json:"updated_at"`
	ExpiresAt      todo.Instant `json:"expires_at"`
	ReleasedAt     todo.Instant `json:"released_at,omitzero"`
	Clock          ClockNote    `json:"clock_note"`
}

// Answer is what a mutation of a lease says.
type Answer struct {
	todo.Answer
	Mode       todo.Mode
	Lease      *View // as it is now on acquire, as the operation left it otherwise; nil where it is not shown
	Idempotent bool  // it was so already: no change, or a replay
	Done       bool  // acquired, renewed, transferred or released, now or then
	Missing    bool  // release: there was no record, and nothing was written
	Verified   bool  // current_authority_verified: the lease is the effective one now
	// Of a transfer with the claim.
	TransferClaim bool
	ClaimedBy     todo.AgentID
	TodoChanged   bool
	// Advisories are leases of other goals whose write scopes overlap; one swap cannot promise that there are none.
	Advisories []Advisory
}

// Advisory is an effective lease of another goal with an overlapping write scope.
type Advisory struct {
	GoalID     todo.GoalID  `json:"goal_id"`
	TodoID     todo.ID      `json:"todo_id"`
	Owner      todo.AgentID `json:"owner"`
	WriteScope string       `json:"write_scope"` // theirs
	Requested  string       `json:"requested_write_scope"`
	ExpiresAt  todo.Instant `json:"expires_at"`
}

// Inspection is what lease inspect says.
type Inspection struct {
	GoalID     todo.GoalID  `json:"goal_id"`
	TodoID     todo.ID      `json:"todo_id"`
	Revision   string       `json:"provider_revision"`
	Mode       todo.Mode    `json:"handoff_mode"`
	Active     bool         `json:"active"` // effective, in the eyes of others than its owner
	Lease      *View        `json:"lease"`  // null where there never was one
	JudgedAt   todo.Instant `json:"judged_at"`
	Skew       int64        `json:"skew_seconds"`
	Constraint *Constraint  `json:"executor_constraint,omitzero"` // of a live lease that is not effective
}

// Constraint says why a live lease is not effective.
type Constraint struct {
	Effective bool      `json:"effective"`
	Reason    todo.Code `json:"reason"`
}

// ClaimAnswer is what todo claim and todo ready --claim say.
type ClaimAnswer struct {
	todo.Answer
	Verified bool // current_authority_verified
	Nothing  bool // ready --claim: nothing was ready, and nothing was written
}

// BatchAnswer is what todo apply says.
type BatchAnswer struct {
	todo.Answer
	Lines []LineResult
}

// LineResult is what one line of a batch came to.
type LineResult struct {
	Line    int            `json:"line"` // from 1
	Op      string         `json:"op"`
	TodoID  todo.ID        `json:"todo_id,omitzero"`
	Changed bool           `json:"changed"`
	Result  jsontext.Value `json:"result"`
}
