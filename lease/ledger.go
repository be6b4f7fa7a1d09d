package lease

import (
	"io"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Ledger applies the rules of this package, and of todo with leases, to one repository. It may be used by many at once if
// its source of random bytes may.
type Ledger struct {
	todo.Ledger
}

// New returns the ledger of a repository. now is asked once per decision; random is for ids, at least 16 bytes per call.
func New(store *gitstore.Repository, now func() time.Time, random io.Reader) Ledger {
	return Ledger{todo.Ledger{Store: store, Now: now, Random: random, Leases: judge{store}}}
}
