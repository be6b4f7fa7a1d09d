package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// RefChange moves one ref from an exact old value to a new one. Old "" says that the ref must not exist, New "" removes
// it. Old equal to New verifies.
type RefChange struct {
	Ref      RefName
	Old, New ObjectID
}

// swapEnd says what became of a transaction.
type swapEnd int

const (
	swapped swapEnd = iota // git said that it committed
	refused                // it was never asked to commit, or its child ended before: no ref moved
	unclear                // it was asked to commit and did not answer
)

// swapConfig switches off what git would do besides: the user's hooks are not ours to fire, and with
// core.warnAmbiguousRefs git 2.39 loses updates to a concurrent pack-refs. Hooks that configuration defines (git 2.54)
// are switched off by name.
func (r *Repository) swapConfig(s Settings) []string {
	config := []string{
		"-c", "core.hooksPath=" + os.DevNull, "-c", "hook.reference-transaction.enabled=false",
		"-c", "core.warnAmbiguousRefs=false",
	}
	if s.durability() == onDisk {
		config = append(config, "-c", "core.fsync=reference", "-c", "core.fsyncMethod=fsync")
	}
	for _, name := range s.hookNames() {
		config = append(config, "-c", "hook."+name+".enabled=false")
	}
	return config
}

// hookNames lists the hooks that configuration defines.
func (s Settings) hookNames() []string {
	var names []string
	for key := range s {
		rest, ok := strings.CutPrefix(key, "hook.")
		if !ok {
			continue
		}
		if name, ok := strings.CutSuffix(rest, ".event"); ok && !strings.Contains(name, "=") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// transaction is one running git update-ref --stdin. When its context ends, its input is closed, on which git aborts and
// removes its lock files; only later it is asked to end by a signal: git takes a lock before it is ready to remove it on
// one (133 of 1,500 locks were left by a SIGTERM at random moments, none by the end of the input).
type transaction struct {
	ctx    context.Context
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr bytes.Buffer
	ended  chan struct{} // closed once the child was waited for
}

// abortGrace is how long a transaction may take to abort by itself.
const abortGrace = time.Second

// cancel ends the transaction for a context that is over.
func (t *transaction) cancel() error {
	go func() {
		late := time.NewTimer(abortGrace)
		defer late.Stop()
		select {
		case <-t.ended:
		case <-late.C:
			endGroup(t.cmd)
		}
	}()
	return t.stdin.Close()
}

// wait waits for the child.
func (t *transaction) wait() error {
	err := t.cmd.Wait()
	close(t.ended)
	return err
}

// begin starts the transaction's process, which waits for its commands.
func (r *Repository) begin(ctx context.Context, s Settings) (*transaction, error) {
	t := &transaction{ctx: ctx, ended: make(chan struct{})}
	t.cmd = r.git.command(ctx, append(r.swapConfig(s), "update-ref", "--no-deref", "--stdin")...)
	t.cmd.Stderr = &t.stderr
	t.cmd.Cancel = t.cancel
	var err error
	if t.stdin, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.stdout = bufio.NewReader(stdout)
	return t, t.cmd.Start()
}

// prepare takes the locks and checks every old value. After an error no ref moved.
func (t *transaction) prepare(f Format, changes []RefChange) error {
	var b strings.Builder
	b.WriteString("start\n")
	for _, c := range changes {
		switch {
		case c.Old == c.New && c.Old != "":
			fmt.Fprintf(&b, "verify %s %s\n", c.Ref, c.Old)
		case c.Old == "" && c.New == "":
			fmt.Fprintf(&b, "verify %s %s\n", c.Ref, f.Zero())
		case c.Old == "":
			fmt.Fprintf(&b, "create %s %s\n", c.Ref, c.New)
		case c.New == "":
			fmt.Fprintf(&b, "delete %s %s\n", c.Ref, c.Old)
		default:
			fmt.Fprintf(&b, "update %s %s %s\n", c.Ref, c.New, c.Old)
		}
	}
	b.WriteString("prepare\n")
	if _, err := io.WriteString(t.stdin, b.String()); err != nil {
		return t.end(err)
	}
	for _, want := range []string{"start: ok\n", "prepare: ok\n"} {
		if line, err := t.stdout.ReadString('\n'); line != want {
			return t.end(err)
		}
	}
	return nil
}

// commit moves the refs.
func (t *transaction) commit() error {
	if _, err := io.WriteString(t.stdin, "commit\n"); err != nil {
		return t.end(err)
	}
	t.stdin.Close()
	if line, err := t.stdout.ReadString('\n'); line != "commit: ok\n" {
		return t.end(err)
	}
	go t.wait() // it said that it committed; how it ends does not matter any more
	return nil
}

// abort lets the transaction go without a commit.
func (t *transaction) abort() {
	t.stdin.Close() // git aborts at the end of its input
	t.wait()
}

// end waits for the child and returns why it failed.
func (t *transaction) end(err error) error {
	t.stdin.Close()
	werr := t.wait()
	if werr != nil {
		err = werr
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = errors.New("git update-ref ended early")
	}
	return newGitError(t.ctx, t.cmd.Args[1:], t.stderr.String(), err)
}

// Swap moves refs all together or not at all, each from an exact old value. A *MismatchError says that a ref was not at
// its old value; other errors as for Apply. It takes no advisory lock.
func (r *Repository) Swap(ctx context.Context, changes ...RefChange) error {
	s, err := r.Settings(ctx)
	if err != nil {
		return err
	}
	end, err := r.swap(ctx, s, changes)
	if end == swapped {
		return nil
	}
	after := context.WithoutCancel(ctx)
	moved, some := true, false
	for _, c := range changes {
		now, rerr := r.Resolve(after, c.Ref)
		if errors.Is(rerr, ErrRefMissing) {
			now, rerr = "", nil
		}
		if rerr != nil {
			return &AmbiguousError{Err: errors.Join(err, rerr)}
		}
		if now != c.New {
			moved = false
		} else if c.New != c.Old {
			some = true
		}
		if now != c.Old && now != c.New {
			return &MismatchError{Expected: c.Old, Current: now}
		}
	}
	if end == unclear && moved {
		return nil
	}
	if some {
		return &AmbiguousError{Err: err}
	}
	if lock := r.heldLock(changes); lock != "" {
		return &BusyError{Ref: changes[0].Ref, Lock: lock}
	}
	return &WriteError{Err: err}
}

// swap runs one transaction.
func (r *Repository) swap(ctx context.Context, s Settings, changes []RefChange) (swapEnd, error) {
	if r.quarantine {
		return refused, ErrQuarantine
	}
	t, err := r.begin(ctx, s)
	if err != nil {
		return refused, err
	}
	nothing := func() error { return nil }
	return r.finish(t, s, changes, nothing, nothing)
}

// finish feeds a started transaction. beside runs while git takes the locks, last when they are taken; both must
// succeed before the commit.
func (r *Repository) finish(t *transaction, s Settings, changes []RefChange, beside, last func() error) (swapEnd, error) {
	ready := make(chan error, 1)
	go func() { ready <- beside() }()
	if err := t.prepare(r.format, changes); err != nil {
		<-ready
		return refused, err
	}
	err := <-ready
	if err == nil {
		err = last()
	}
	if err != nil {
		t.abort()
		return refused, err
	}
	if err := t.commit(); err != nil {
		return unclear, err
	}
	if s.durability() == asGit {
		return swapped, nil
	}
	return swapped, r.syncRefs(changes)
}

// syncRefs makes the new names durable: git syncs the file of a ref, not its directory. Where the directory is gone
// again, a pack-refs has moved the ref meanwhile, and it is packed-refs that must last.
func (r *Repository) syncRefs(changes []RefChange) error {
	dirs := map[string]bool{}
	if !r.files {
		dirs[filepath.Join(r.commonDir, "reftable")] = true
	}
	for _, c := range changes {
		if !r.files {
			break
		}
		d := filepath.Dir(filepath.Join(r.commonDir, filepath.FromSlash(string(c.Ref))))
		dirs[d] = true
		for d != r.commonDir && len(d) > len(r.commonDir) { // the directories above may be new too, also after a pack-refs
			d = filepath.Dir(d)
			dirs[d] = true
		}
	}
	err := syncAll(dirs)
	if r.files && errors.Is(err, fs.ErrNotExist) {
		return syncAll(map[string]bool{filepath.Join(r.commonDir, "packed-refs"): true, r.commonDir: true})
	}
	return err
}

// heldLock returns the lock file of one of the refs, "" where none is there.
func (r *Repository) heldLock(changes []RefChange) string {
	names := []string{"reftable/tables.list.lock"}
	for _, c := range changes {
		names = append(names, string(c.Ref)+".lock")
		if c.New == "" && c.Old != "" { // only removing takes it
			names = append(names, "packed-refs.lock")
		}
	}
	for _, n := range names {
		if _, err := os.Lstat(filepath.Join(r.commonDir, filepath.FromSlash(n))); err == nil {
			return n
		}
	}
	return ""
}
