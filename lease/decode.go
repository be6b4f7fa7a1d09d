package lease

import (
	"errors"
	"fmt"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// DecodeLease reads the record of the lease on a Todo of a goal. Whatever it accepts, [EncodeLease] writes back byte for
// byte. The error is a *todo.Refusal that names the record: unsupported_schema_version or
// invalid_coordination_projection.
func DecodeLease(g todo.GoalID, id todo.ID, b []byte) (Lease, error) {
	unreadable := func(c todo.Code, format string, args ...any) (Lease, error) {
		return Lease{}, todo.Fail(c, "lease on %s: %s", id, fmt.Sprintf(format, args...)).With("record", todo.LeasePath(id))
	}
	if s := canonical.Schema(b); s != "" && s != Schema {
		return unreadable(todo.CodeUnsupportedSchema, "schema %q is not known to this version", todo.Clean(s))
	}
	var l Lease
	if err := canonical.Decode(b, &l); err != nil {
		return unreadable(todo.CodeInvalidProjection, "%v", err)
	}
	if err := l.check(); err != nil {
		return unreadable(todo.CodeInvalidProjection, "%v", err)
	}
	if l.Goal != g || l.Todo != id {
		return unreadable(todo.CodeInvalidProjection, "the record says it is on %s of goal %s", l.Todo, l.Goal)
	}
	return l, nil
}

// EncodeLease returns the stored bytes of a lease, and an error where [DecodeLease] would refuse them.
func EncodeLease(l Lease) ([]byte, error) {
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("lease on %s: not written: %w", l.Todo, err)
	}
	return canonical.Encode(l)
}

// CheckFile judges one file of the tree of a goal by itself, as [todo.CheckFile] does, leases too.
func CheckFile(goal todo.GoalID, file string, blob []byte) *todo.Refusal {
	if id := todo.IDOf(file); id.Valid() && file == todo.LeasePath(id) {
		_, err := DecodeLease(goal, id, blob)
		return todo.AsRefusal(err)
	}
	return todo.CheckFile(goal, file, blob)
}

// check returns what is wrong with the members of a lease (continuation.md, section 1.4). Instants are not compared:
// those who wrote them had different clocks.
func (l Lease) check() error {
	for _, c := range []struct {
		member string
		ok     bool
	}{
		{"schema_version", l.SchemaVersion == Schema},
		{"goal_id", l.Goal.Valid()},
		{"todo_id", l.Todo.Valid()},
		{"owner", l.Owner.Valid()},
		{"idempotency_key", todo.ValidKey(l.Key)},
		{"write_scopes", todo.ValidScopes(l.WriteScopes)},
		{"acquire_ttl_seconds", 1 <= l.TTL && l.TTL <= MaxTTL},
		{"version", 1 <= l.Version && l.Version <= canonical.MaxInteger},
		{"lease_epoch", 1 <= l.Epoch && l.Epoch <= canonical.MaxInteger},
		{"status", l.Status == Active || l.Status == Released},
		{"acquired_at", l.AcquiredAt.Valid()},
		{"updated_at", l.UpdatedAt.Valid()},
		{"expires_at", l.ExpiresAt.Valid()},
		{"released_at", l.ReleasedAt == "" && l.Status == Active || l.ReleasedAt.Valid() && l.Status == Released},
		{"clock_note", l.Clock.Source == LocalClock && l.Clock.ObservedAt.Valid()},
	} {
		if !c.ok {
			return errors.New(c.member + " is not within its bounds")
		}
	}
	return nil
}
