package gitstore

import (
	"errors"
	"fmt"
	"time"
)

// Errors without data, by when they occur.
var (
	// ErrGitMissing: opening; there is no git on PATH.
	ErrGitMissing = errors.New("git was not found on PATH")
	// ErrRefMissing: reading; git itself confirmed that the ref does not exist.
	ErrRefMissing = errors.New("the ref does not exist")
	// ErrObjectMissing: reading; the object is not here (or promised by a remote and not fetched).
	ErrObjectMissing = errors.New("the object is not here")
	// ErrQuarantine: writing; the process runs inside a receive-pack quarantine, where nothing may be written.
	ErrQuarantine = errors.New("objects are quarantined by a running push")
)

// NotRepositoryError: opening; git found no repository it may use. Words are git's own.
type NotRepositoryError struct{ Words string }

func (e *NotRepositoryError) Error() string { return "no usable git repository: " + e.Words }

// VersionError: opening; something failed and the git at hand is older than [OldestGit].
type VersionError struct{ Have string }

func (e *VersionError) Error() string {
	return fmt.Sprintf("git %s is too old: %s or newer is needed", e.Have, OldestGit)
}

// UnavailableError: reading; the ref, or an object it needs, exists or may exist, and cannot be read now.
type UnavailableError struct {
	What string // ref or path
	Err  error
}

func (e *UnavailableError) Error() string { return e.What + ": cannot be read: " + e.Err.Error() }
func (e *UnavailableError) Unwrap() error { return e.Err }

// DamagedError: reading; a record that this package keeps itself (a receipt, a tree) is not what it would have written.
type DamagedError struct {
	Path   string
	Schema string // the record's own schema, where that is one not known here; "" otherwise
	Err    error
}

func (e *DamagedError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *DamagedError) Unwrap() error { return e.Err }

// MismatchError: writing; the pinned revision is not the tip. Nothing was written.
type MismatchError struct{ Expected, Current ObjectID }

func (e *MismatchError) Error() string {
	if e.Current == "" {
		return fmt.Sprintf("revision moved: expected %q, and there is none yet", e.Expected)
	}
	return fmt.Sprintf("revision moved: expected %q, current is %s", e.Expected, e.Current)
}

// IdentityError: writing; the operation id was used for another request. Nothing was written.
type IdentityError struct {
	OperationID string
	Kind        string // of the stored receipt
	At          time.Time
}

func (e *IdentityError) Error() string {
	return fmt.Sprintf("operation id %q was used for %q at %s", e.OperationID, e.Kind, e.At.UTC().Format(time.RFC3339))
}

// BusyError: writing; others kept the ref until the deadline, or it came while the operation was being decided. Nothing was
// written; Lock names a lock file in the way.
type BusyError struct {
	Ref  RefName
	Lock string
}

func (e *BusyError) Error() string {
	if e.Lock != "" {
		return fmt.Sprintf("%s: another process holds %s", e.Ref, e.Lock)
	}
	return fmt.Sprintf("%s: not done in time: other writers kept the ref busy, or the change takes longer than loopx.timeout allows", e.Ref)
}

// AmbiguousError: writing; whether the swap happened cannot be told. The same call with the same operation id is safe.
type AmbiguousError struct {
	OperationID string
	Err         error
}

func (e *AmbiguousError) Error() string { return "the outcome cannot be told: " + e.Err.Error() }
func (e *AmbiguousError) Unwrap() error { return e.Err }

// WriteError: writing; the store did not take the objects or the ref. Nothing was acknowledged.
type WriteError struct{ Err error }

func (e *WriteError) Error() string { return "cannot write to the repository: " + e.Err.Error() }
func (e *WriteError) Unwrap() error { return e.Err }

// IdentityMissingError: writing; git has no committer identity. Advice is git's own.
type IdentityMissingError struct{ Advice string }

func (e *IdentityMissingError) Error() string { return "no committer identity: " + e.Advice }
