package lease

import (
	"fmt"
	"time"

	"github.com/git-loopx/git-loopx/todo"
)

// Holding judges a lease at an instant, which must be valid: for its owner it is live while expires_at is ahead, equal
// being over; for anyone else the skew, in seconds, comes on top (continuation.md, section 1.4).
func (l Lease) Holding(at todo.Instant, skew int64) (todo.Holding, error) {
	h := l.judged(at, skew)
	if !h.Active {
		return h, nil
	}
	released, err := EncodeLease(l.released(at))
	if err != nil {
		return todo.Holding{}, err
	}
	h.Released = released
	return h, nil
}

// judged is the holding without the record that a release would write.
func (l Lease) judged(at todo.Instant, skew int64) todo.Holding {
	active, left := l.Status == Active, l.left(at)
	return todo.Holding{
		Owner: l.Owner, Key: l.Key, Version: l.Version, Epoch: l.Epoch, Expires: l.ExpiresAt, Active: active,
		Live: active && left > 0, LiveToOthers: active && left+skew > 0,
	}
}

// needsSkew says whether the skew makes a difference: where the lease is active and over by the own clock, but not for
// longer than any skew.
func (l Lease) needsSkew(at todo.Instant) bool {
	left := l.left(at)
	return l.Status == Active && left <= 0 && left+MaxSkew > 0
}

// left is how many seconds the lease lasts from an instant on; both must be valid. A time.Duration would not do: it ends
// after 292 years.
func (l Lease) left(at todo.Instant) int64 {
	now, ok := at.Time()
	end, ok2 := l.ExpiresAt.Time()
	if !ok || !ok2 {
		panic(fmt.Sprintf("lease: %q or %q is no instant", at, l.ExpiresAt)) // callers have checked both
	}
	return end.Unix() - now.Unix()
}

// released is the lease as it is once it was given back.
func (l Lease) released(at todo.Instant) Lease {
	l.Status, l.ReleasedAt, l.UpdatedAt = Released, at, at
	return l
}

// extended is the lease with a new end, ttl seconds from an instant on, as the clock that decides has it. An end after
// the year 9999 is invalid_clock.
func (l Lease) extended(at todo.Instant, ttl int64) (Lease, error) {
	now, ok := at.Time()
	l.ExpiresAt = todo.At(now.Add(time.Duration(ttl) * time.Second))
	if !ok || !l.ExpiresAt.Valid() {
		return Lease{}, todo.Fail(todo.CodeInvalidClock, "the local clock says %s", at)
	}
	l.UpdatedAt, l.Clock = at, ClockNote{Source: LocalClock, ObservedAt: at}
	return l, nil
}
