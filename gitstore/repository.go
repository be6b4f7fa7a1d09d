package gitstore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Config says how a repository is opened.
type Config struct {
	Dir    string           // where discovery starts; "" is the current directory
	Env    []string         // environment of every child; nil is that of the process
	Random io.Reader        // for names of temporary files
	Now    func() time.Time // for receipts and for the age of lock files
	// Writes tells that a mutation will follow, so that what it needs of git is asked for side by side.
	Writes bool
	// Settings tells that git's configuration will be asked for.
	Settings bool
	// Plumbing never reads or writes the repository natively: every object and ref goes through git.
	Plumbing bool
}

// Repository is one repository as git itself sees it from a directory. It may be used by many at once.
type Repository struct {
	git    *git
	random io.Reader
	now    func() time.Time

	gitDir, commonDir, objectDir, workTree string
	format                                 Format
	files                                  bool // the ref backend is "files"
	bare                                   bool
	quarantine                             bool

	ask       func() answers // what a write needs of git, asked once
	settings  func() (Settings, error)
	writes    atomic.Bool // a write was announced: its answers hold the settings too
	plumbing  bool
	looseOnly bool // a guess: git is not asked for anything
	memory    *memory
	reader    *catFile
	randomMu  sync.Mutex

	stop      context.CancelFunc
	mu        sync.Mutex
	mutations int // committed by this process, for maintenance
}

// Open asks git for the repository that it would use from c.Dir, with the environment's GIT_DIR and the like. Errors:
// ErrGitMissing, *VersionError, *NotRepositoryError. Close ends what it started.
func Open(ctx context.Context, c Config) (*Repository, error) { return Start(ctx, c).Repository() }

// Opening is a repository that git was asked for. It is used by one goroutine.
type Opening struct {
	ctx   context.Context
	r     *Repository
	asked *child
	err   error
	done  bool

	writes, settings bool // what to ask for next, beside the reading
}

// Start is the first half of [Open]: git is asked at once, [Opening.Repository] waits for the answer. What was started
// ends with ctx, where nobody waits for it.
func Start(ctx context.Context, c Config) *Opening {
	env := c.Env
	if env == nil {
		env = os.Environ()
	}
	g, err := newGit(c.Dir, env)
	if err != nil {
		return &Opening{err: err, done: true}
	}
	asked, err := g.start(discoverArgs...)
	if err != nil {
		return &Opening{err: err, done: true}
	}
	ctx, stop := context.WithCancel(ctx)
	r := &Repository{
		git: g, random: c.Random, now: c.Now, stop: stop, plumbing: c.Plumbing,
		quarantine: envValue(env, "GIT_QUARANTINE_PATH") != "",
		memory:     newMemory(),
	}
	r.reader = &catFile{git: g, ctx: context.WithoutCancel(ctx)}
	r.ask = sync.OnceValue(func() answers { return askGit(ctx, g, env) })
	if c.Writes {
		go r.ask()
	}
	r.settings = sync.OnceValues(func() (Settings, error) { return readSettings(ctx, g) })
	return &Opening{ctx: ctx, r: r, asked: asked, writes: c.Writes, settings: c.Settings}
}

// Repository waits for git's answer.
func (o *Opening) Repository() (*Repository, error) {
	if !o.done {
		o.done = true
		if o.err = o.r.discover(o.ctx, o.asked); o.err != nil {
			o.r.stop()
		} else {
			o.r.Expect(o.writes, o.settings)
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	return o.r, nil
}

// discoverArgs is the one rev-parse. Without a work tree the last question fails after all others were answered.
var discoverArgs = []string{"rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir",
	"--git-path", "objects", "--show-object-format", "--is-bare-repository", "--show-ref-format", "--show-toplevel"}

// Expect asks git now, and beside whatever else is done, for what will be needed: its configuration, and for writes the
// committer too.
func (r *Repository) Expect(writes, settings bool) {
	switch {
	case writes:
		r.writes.Store(true)
		go r.ask()
	case settings:
		go r.Settings(context.Background())
	}
}

// Close ends the children that still run and, now and then, starts git's own maintenance in the background.
func (r *Repository) Close() error {
	r.reader.close()
	r.maintain()
	r.stop()
	return nil
}

// discover reads git's answer. Where it is none, git is asked again for its words.
func (r *Repository) discover(ctx context.Context, asked *child) error {
	limited, cancel := context.WithTimeout(ctx, childDeadline)
	defer cancel()
	out, err := asked.output(limited)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d, perr := parseDiscovery(string(out))
	if perr != nil || err != nil {
		if _, again := r.git.run(ctx, nil, discoverArgs...); again != nil {
			perr = again
		}
		return r.blame(ctx, &NotRepositoryError{Words: words(perr)})
	}
	r.gitDir, r.commonDir, r.objectDir, r.workTree = d.gitDir, d.commonDir, d.objectDir, d.workTree
	r.format, r.bare, r.files = d.format, d.bare, d.files
	return nil
}

// blame asks for git's version after something failed, and puts the failure down to a git that is too old.
func (r *Repository) blame(ctx context.Context, err error) error {
	if have, verr := r.git.version(ctx); verr == nil && TooOld(have) {
		return &VersionError{Have: have}
	}
	return err
}

type discovery struct {
	gitDir, commonDir, objectDir, workTree string
	format                                 Format
	bare, files                            bool
}

var errDiscovery = errors.New("git rev-parse answered with something else than paths")

// parseDiscovery reads the lines of rev-parse in the order asked for. A git that does not know --show-ref-format echoes
// the word: it has only the files backend.
func parseDiscovery(out string) (discovery, error) {
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if len(lines) < 6 || len(lines) > 7 {
		return discovery{}, errDiscovery
	}
	d := discovery{gitDir: lines[0], commonDir: lines[1], objectDir: lines[2], format: Format(lines[3])}
	for _, p := range lines[:3] {
		if !filepath.IsAbs(p) {
			return discovery{}, errDiscovery
		}
	}
	if d.format != SHA1 && d.format != SHA256 {
		return discovery{}, errDiscovery
	}
	switch lines[4] {
	case "true":
		d.bare = true
	case "false":
	default:
		return discovery{}, errDiscovery
	}
	d.files = lines[5] == "files" || lines[5] == "--show-ref-format"
	if len(lines) == 7 && filepath.IsAbs(lines[6]) {
		d.workTree = lines[6]
	}
	return d, nil
}

// WorkTree returns the top of the work tree; "" where there is none.
func (r *Repository) WorkTree() string { return r.workTree }

// GitDir returns the git directory of this work tree, an absolute path.
func (r *Repository) GitDir() string { return r.gitDir }

// CommonDir returns the git directory that all work trees share, an absolute path.
func (r *Repository) CommonDir() string { return r.commonDir }

// ObjectFormat returns the object format.
func (r *Repository) ObjectFormat() Format { return r.format }

// GitVersion asks git for its version, "2.39.5".
func (r *Repository) GitVersion(ctx context.Context) (string, error) { return r.git.version(ctx) }

// ownDir is where disposable, machine-local state lives; it may be deleted at any time.
func (r *Repository) ownDir(parts ...string) string {
	return filepath.Join(append([]string{r.commonDir, "loopx"}, parts...)...)
}
