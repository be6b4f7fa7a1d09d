package lease

import (
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// decideRenew prolongs a lease (continuation.md, section 6): handoff_mode_forbids_lease → the codes of [todo.Eligible] →
// those of checkHeld → lease_generation_exhausted → version + 1 and a new end. record is the stored lease; nil: none.
func decideRenew(s todo.State, r RenewRequest, record *Lease, at todo.Instant) (todo.Decision, error) {
	err := todo.First(checkMode(s.Goal), todo.Eligible(s.Goal, r.Todo, s.Todo, r.Owner), checkHeld(s, r.Todo, r.Owner, r.Key, *r.ExpectedVersion))
	if err != nil {
		return todo.Decision{}, err
	}
	if record.Version >= canonical.MaxInteger {
		return todo.Decision{}, exhausted(r.Todo)
	}
	next, err := record.extended(at, ttlOr(r.TTL))
	if err != nil {
		return todo.Decision{}, err
	}
	next.Version++
	return decision("renew", s, next, false)
}

// checkHeld says whether an agent holds the lease on the state's Todo as it says: version_mismatch, lease_not_active,
// lease_cas_mismatch for another owner or key.
func checkHeld(s todo.State, id todo.ID, owner todo.AgentID, key string, version int64) error {
	switch h := s.Lease; {
	case h.Version != version:
		return todo.VersionMismatch(id, version, h.Version)
	case h.Owner == "":
		return todo.Reject(CodeLeaseNotActive, "todo %s: there is no lease", id)
	case !h.Active:
		return todo.Reject(CodeLeaseNotActive, "todo %s: its lease was released", id)
	case !h.LiveFor(owner):
		return todo.Reject(CodeLeaseNotActive, "todo %s: its lease was over at %s", id, h.Expires).With("expires_at", h.Expires)
	}
	return checkOwn(s, id, owner, key)
}

// checkOwn is lease_cas_mismatch for a lease of another owner or key.
func checkOwn(s todo.State, id todo.ID, owner todo.AgentID, key string) error {
	if s.Lease.Owner != owner || s.Lease.Key != key {
		return todo.Reject(todo.CodeLeaseCASMismatch, "todo %s: the lease is another one", id)
	}
	return nil
}
