package lease

import (
	"slices"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// Other is a lease on another Todo, judged in the eyes of the agent that asks for one.
type Other struct {
	Lease     Lease
	Effective bool
}

// acquisition is what the acquire decision is told besides the state.
type acquisition struct {
	Todo    todo.ID
	Owner   todo.AgentID
	Request Request
	At      todo.Instant
	Record  *Lease  // the stored record of the Todo; nil: none
	Spent   bool    // the owner has acquired the Todo with this key before
	Others  []Other // leases on other Todos of the goal that may be in the way
	// Unread names a record that may be such a lease and cannot be read. Only what writes somewhere asks for it.
	Unread *todo.Refusal
}

// decideAcquire is the acquire decision of continuation.md, section 6: handoff_mode_forbids_lease → the codes of
// [todo.Eligible] → version_mismatch → an effective lease that is the very one asked for is idempotent, another is
// idempotency_key_reuse or todo_lease_conflict → idempotency_key_reuse → write_scope_conflict (before it the code of a
// record that may be in the way and cannot be read) →
// lease_generation_exhausted → acceptance → dependency → the next generation.
func decideAcquire(s todo.State, a acquisition) (l Lease, idempotent bool, err error) {
	if err := checkMode(s.Goal); err != nil {
		return Lease{}, false, err
	}
	if err := todo.Eligible(s.Goal, a.Todo, s.Todo, a.Owner); err != nil {
		return Lease{}, false, err
	}
	if v := a.Request.ExpectedVersion; v != nil && *v != s.Lease.Version {
		return Lease{}, false, todo.VersionMismatch(a.Todo, *v, s.Lease.Version)
	}
	scopes := a.Request.scopes(*s.Todo)
	if s.EffectiveFor(a.Owner) {
		if err := checkSame(*a.Record, s.Lease, a.Owner, a.Request, scopes); err != nil {
			return Lease{}, false, err
		}
		return *a.Record, true, nil
	}
	if a.Spent || a.Record != nil && a.Record.Key == a.Request.Key {
		return Lease{}, false, keyReuse(a.Todo, a.Request.Key, keyPassed)
	}
	if a.Unread != nil && len(scopes) > 0 {
		return Lease{}, false, a.Unread
	}
	if found := conflicts(scopes, a.Others); len(found) > 0 {
		c := found[0]
		return Lease{}, false, todo.Reject(CodeWriteScopeConflict, "todo %s: write scope %q overlaps %q of %s, leased by %q until %s",
			a.Todo, todo.Clean(c.Requested), todo.Clean(c.WriteScope), c.TodoID, c.Owner, c.ExpiresAt).With("conflicts", found)
	}
	last := Lease{}
	if a.Record != nil {
		last = *a.Record
	}
	if last.Version >= canonical.MaxInteger || last.Epoch >= canonical.MaxInteger {
		return Lease{}, false, exhausted(a.Todo)
	}
	if err := s.CheckAcceptance(); err != nil {
		return Lease{}, false, err
	}
	if err := s.CheckDependencies(a.At); err != nil {
		return Lease{}, false, err
	}
	l, err = Lease{
		SchemaVersion: Schema, Goal: s.Goal.ID, Todo: a.Todo, Owner: a.Owner, Key: a.Request.Key, WriteScopes: scopes,
		TTL: a.Request.ttl(), Version: last.Version + 1, Epoch: last.Epoch + 1, Status: Active, AcquiredAt: a.At,
	}.extended(a.At, a.Request.ttl())
	return l, false, err
}

// checkSame refuses an effective lease, judged as h, that is not the very one asked for.
func checkSame(l Lease, h todo.Holding, owner todo.AgentID, r Request, scopes []string) error {
	switch {
	case l.Owner != owner || l.Key != r.Key:
		return todo.Reject(todo.CodeLeaseConflict, "todo %s: %s", l.Todo, h.Held()).With("lease_owner", l.Owner).With("expires_at", l.ExpiresAt)
	case l.TTL != r.ttl() || !slices.Equal(l.WriteScopes, scopes):
		return keyReuse(l.Todo, r.Key, "is that of a lease with another time to live or other write scopes")
	}
	return nil
}

// verifyAcquired judges an acquire again when its receipt is replayed: nil while the lease of that key is effective. One of
// another epoch is another lease: it was handed over, and came back for somebody else's work.
func verifyAcquired(s todo.State, id todo.ID, owner todo.AgentID, key string, epoch int64) error {
	switch {
	case checkOwn(s, id, owner, key) != nil || s.Lease.Epoch != epoch:
		return keyReuse(id, key, keyPassed)
	case !s.Lease.Live:
		return keyReuse(id, key, "is that of a lease that is over or was given back")
	}
	if d := s.Divergence(id, owner); d != nil {
		return todo.Reject(todo.CodeLeaseClaimDivergence, "todo %s: the lease of %q is live and not effective: %s", id, owner, d.Reason).With("lease_owner", owner)
	}
	return nil
}

// scopes are the write scopes asked for, in stored form: where none were given those of the Todo.
func (r Request) scopes(t todo.Todo) []string {
	if r.WriteScopes == nil {
		return t.RequiredWriteScopes
	}
	return todo.SetOf(r.WriteScopes)
}

func (r Request) ttl() int64 { return ttlOr(r.TTL) }

func ttlOr(given *int64) int64 {
	if given == nil {
		return DefaultTTL
	}
	return *given
}

func checkMode(g todo.Goal) error {
	if g.HandoffMode != todo.HardLease {
		return todo.Reject(CodeModeForbidsLease, "goal %s: is %s, which has no leases", g.ID, g.HandoffMode)
	}
	return nil
}

// keyPassed is said of the key of a lease that another took the place of, maybe under the same key.
const keyPassed = "was that of an earlier lease"

// keyReuse refuses a key, for what is said of it.
func keyReuse(id todo.ID, key, what string) *todo.Refusal {
	return todo.Reject(CodeKeyReuse, "todo %s: the key %q %s", id, todo.Clean(key), what)
}

func exhausted(id todo.ID) *todo.Refusal {
	return todo.Reject(CodeGenerationExhausted, "todo %s: its lease has no version or epoch left", id)
}
