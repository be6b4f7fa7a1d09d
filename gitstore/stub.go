package gitstore

import (
	"context"
	"io"
	"time"
)

// OldestGit is the oldest git version that has all that is used here.
const OldestGit = "2.36"

// ObjectID is the full lower-case hex id of an object: 40 digits, or 64 in a SHA-256 repository.
type ObjectID string

// RefName is a full ref name, "refs/loopx/goals/demo".
type RefName string

// Config says how a repository is opened.
type Config struct {
	Dir    string           // where discovery starts; "" is the current directory
	Env    []string         // environment of every child; nil is that of the process
	Random io.Reader        // for names of temporary files
	Now    func() time.Time // for receipts
	// Writes tells that a mutation will follow, so that what it needs of git is asked for side by side.
	Writes bool
	// Settings tells that git's configuration will be asked for.
	Settings bool
}

// Repository is one repository as git itself sees it from a directory.
type Repository struct{}

func Open(ctx context.Context, c Config) (*Repository, error) { panic("stub") }
func (r *Repository) Close() error                            { panic("stub") }
func (r *Repository) WorkTree() string                        { panic("stub") }
func (r *Repository) CommonDir() string                       { panic("stub") }

// Setting returns the last value of a configuration key (lower case section and name), as git config --list has it.
func (r *Repository) Setting(ctx context.Context, key string) (string, bool, error) { panic("stub") }

// Ref is a ref with its value.
type Ref struct {
	Name RefName
	ID   ObjectID
}

// Refs lists the refs below a prefix that ends in "/", by name.
func (r *Repository) Refs(ctx context.Context, prefix RefName) ([]Ref, error) { panic("stub") }

// Load returns the snapshot at the tip of a ref. ErrRefMissing only after git confirmed it; else *UnavailableError.
func (r *Repository) Load(ctx context.Context, ref RefName) (*Snapshot, error) { panic("stub") }

// Apply applies one operation.
func (r *Repository) Apply(ctx context.Context, op Operation) (Outcome, error) { panic("stub") }

// FindReceipt looks an operation's receipt up. nil, nil: there is none.
func (r *Repository) FindReceipt(ctx context.Context, s *Snapshot, operationID string) (*Receipt, error) {
	panic("stub")
}

// Snapshot is the tree of one commit. It reads lazily, may be used by many at once, and never changes.
type Snapshot struct{}

// Revision is the full commit id; "" for a ref that does not exist yet.
func (s *Snapshot) Revision() ObjectID { panic("stub") }

// File returns the blob at a path like "todos/ab/todo_a.json"; false where there is none.
func (s *Snapshot) File(ctx context.Context, path string) ([]byte, bool, error) { panic("stub") }

// Bucket returns the directory of a name below dir: "todos", "todo_a" gives "todos/<bb>".
func Bucket(dir, name string) string { panic("stub") }

// Row is what a table keeps of one file: a short key to look into without decoding, and data of the caller's choice.
type Row struct {
	Name string // the file's path in the snapshot
	Key  [24]byte
	Data []byte
}

// Table lists the files below dir ("todos") through the cache; row makes a file's row and must be a pure function,
// named by version so that rows of another program version are not taken for its own.
func (r *Repository) Table(ctx context.Context, s *Snapshot, dir, version string, row func(path string, blob []byte) Row) ([]Row, error) {
	panic("stub")
}

// Commit is one step of a ref's history.
type Commit struct {
	ID        ObjectID
	Parent    ObjectID
	Subject   string
	Time      time.Time
	Operation string
	Agent     string
	Session   string
}

// History lists the commits of a snapshot, newest first, that touched one of the paths (none: all), at most limit (0: all).
func (r *Repository) History(ctx context.Context, s *Snapshot, limit int, paths ...string) ([]Commit, error) {
	panic("stub")
}

// SetBranchGoal sets or, with "", removes branch.<current>.loopxGoal; it returns the branch.
func (r *Repository) SetBranchGoal(ctx context.Context, value string) (branch string, err error) {
	panic("stub")
}

// BranchGoal returns the current branch ("" when detached) and its branch.<b>.loopxGoal ("" when unset).
func (r *Repository) BranchGoal(ctx context.Context) (branch, value string, err error) { panic("stub") }
