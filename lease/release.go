package lease

import (
	"errors"

	"github.com/git-loopx/git-loopx/todo"
)

// errMissing says that there is no lease to release, which is as good as released: nothing is written.
var errMissing = errors.New("there is no lease")

// decideRelease gives a lease back (continuation.md, section 6), in any mode, over or not, and whoever is registered: no
// record where none is expected is errMissing → version_mismatch → lease_cas_mismatch → released already is no change.
// The version stays. record is the stored lease; nil: none.
func decideRelease(s todo.State, r ReleaseRequest, record *Lease, at todo.Instant) (todo.Decision, error) {
	if _, err := s.Found(r.Todo); err != nil {
		return todo.Decision{}, err
	}
	if record == nil && *r.ExpectedVersion == 0 {
		return todo.Decision{}, errMissing
	}
	if s.Lease.Version != *r.ExpectedVersion {
		return todo.Decision{}, todo.VersionMismatch(r.Todo, *r.ExpectedVersion, s.Lease.Version)
	}
	if err := checkOwn(s, r.Todo, r.Owner, r.Key); err != nil {
		return todo.Decision{}, err
	}
	if record.Status == Released {
		return decision("release", s, *record, true)
	}
	return decision("release", s, record.released(at), false)
}
