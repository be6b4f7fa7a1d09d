package lease

import (
	"github.com/git-loopx/git-loopx/todo"
)

// Schema is the schema_version of the stored record.
const Schema = "loopx.lease/1"

// Status says whether a lease was given back.
type Status string

// The statuses of a lease. An active one may be over: see [Lease.Holding].
const (
	Active   Status = "active"
	Released Status = "released"
)

// Lease is the record of the lease on one Todo (continuation.md, section 1.4). It stays after release and expiry; where
// there is none, that counts as version 0 and epoch 0.
type Lease struct {
	SchemaVersion string       `json:"schema_version"`
	Goal          todo.GoalID  `json:"goal_id"`
	Todo          todo.ID      `json:"todo_id"`
	Owner         todo.AgentID `json:"owner"`
	Key           string       `json:"idempotency_key"`
	WriteScopes   []string     `json:"write_scopes,omitempty"` // sorted
	TTL           int64        `json:"acquire_ttl_seconds"`    // as acquired, in seconds
	Version       int64        `json:"version"`                // 1 to 2^53-1
	Epoch         int64        `json:"lease_epoch"`            // 1 to 2^53-1
	Status        Status       `json:"status"`
	AcquiredAt    todo.Instant `json:"acquired_at"`
	UpdatedAt     todo.Instant `json:"updated_at"`
	ExpiresAt     todo.Instant `json:"expires_at"`
	ReleasedAt    todo.Instant `json:"released_at,omitzero"`
	Clock         ClockNote    `json:"clock_note"`
}

// LocalClock is the source of a clock note: the clock of the process that decided.
const LocalClock = "local"

// ClockNote keeps the reading of the clock that expires_at was computed from.
type ClockNote struct {
	Source     string       `json:"source"` // [LocalClock]
	ObservedAt todo.Instant `json:"observed_at"`
}
