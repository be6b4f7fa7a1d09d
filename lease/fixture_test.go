package lease

import (
	"bytes"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// fixture is a ledger on a real repository, with a clock that the test moves.
type fixture struct {
	*Ledger
	t     testing.TB
	dir   string
	env   []string
	clock time.Time
}

// newFixture is goal demo, hard_lease, with the agents a, b and c, and todo_a, claimed by nobody. Nothing of the person who
// runs the test is used.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	home := t.TempDir()
	f := &fixture{
		t: t, dir: filepath.Join(home, "repo"), clock: time.Date(2026, 9, 13, 10, 0, 0, 0, time.UTC),
		env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "config"),
			"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		},
	}
	f.git("init", "-q", f.dir)
	f.git("-C", f.dir, "config", "loopx.durability", "git")
	f.Ledger = f.open(1)
	f.goal("demo", todo.HardLease)
	f.add("todo_a", todo.AddArgs{})
	return f
}

// open opens the repository as another process would; its clock is that of the fixture.
func (f *fixture) open(seed byte) *Ledger {
	f.t.Helper()
	now := func() time.Time { return f.clock }
	store, err := gitstore.Open(f.ctx(), gitstore.Config{
		Dir: f.dir, Env: f.env, Random: rand.NewChaCha8([32]byte{seed}), Now: now, Writes: true, Settings: true,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { store.Close() })
	l := New(store, now, rand.NewChaCha8([32]byte{seed, 1}))
	return &l
}

func (f *fixture) ctx() context.Context { return context.Background() }

func (f *fixture) git(args ...string) string {
	f.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Env = f.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		f.t.Fatalf("git %v: %v: %s", args, err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// goal makes a goal with the agents a, b and c.
func (f *fixture) goal(g todo.GoalID, m todo.Mode) {
	f.t.Helper()
	_, err := f.CreateGoal(f.ctx(), todo.Call{Goal: g}, "", m)
	f.must(err)
	for _, a := range []todo.AgentID{"agent-a", "agent-b", "agent-c"} {
		_, err := f.AddAgent(f.ctx(), todo.Call{Goal: g, Agent: a}, "")
		f.must(err)
	}
}

func (f *fixture) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// by is an unpinned call of an agent on a Todo of goal demo.
func by(a todo.AgentID, id todo.ID) todo.Call { return todo.Call{Goal: "demo", Todo: id, Agent: a} }

func (f *fixture) add(id todo.ID, args todo.AddArgs) {
	f.t.Helper()
	if args.Text == "" {
		args.Text = "work on " + string(id)
	}
	_, err := f.Add(f.ctx(), by("agent-a", id), args)
	f.must(err)
}

// tip is the goal's revision as git has it.
func (f *fixture) tip() gitstore.ObjectID {
	f.t.Helper()
	return gitstore.ObjectID(f.git("-C", f.dir, "rev-parse", "refs/loopx/goals/demo"))
}

// put commits files into the goal behind the ledger's back; nil removes.
func (f *fixture) put(files map[string][]byte) {
	f.t.Helper()
	op, err := todo.NewOperationID(f.Random)
	f.must(err)
	_, err = f.Store.Apply(f.ctx(), gitstore.Operation{
		Ref: todo.GoalID("demo").Ref(), ID: op, Kind: "test", Goal: "demo", Request: strings.Repeat("0", 64),
		Decide: func(context.Context, *gitstore.Snapshot) (gitstore.Change, error) {
			return gitstore.Change{Subject: "test put", Files: files}, nil
		},
	})
	f.must(err)
}

// putTodo changes a Todo behind the ledger's back.
func (f *fixture) putTodo(id todo.ID, change func(*todo.Todo)) {
	f.t.Helper()
	t, err := todo.DecodeTodo(id, f.file(todo.TodoPath(id)))
	f.must(err)
	change(&t)
	b, err := todo.EncodeTodo(t)
	f.must(err)
	f.put(map[string][]byte{todo.TodoPath(id): b})
}

// putLease stores a lease behind the ledger's back.
func (f *fixture) putLease(l Lease) {
	f.t.Helper()
	b, err := EncodeLease(l)
	f.must(err)
	f.put(map[string][]byte{todo.LeasePath(l.Todo): b})
}

// file reads a file of the goal's tip; nil: there is none.
func (f *fixture) file(path string) []byte {
	f.t.Helper()
	s, err := f.Load(f.ctx(), "demo")
	f.must(err)
	b, _, err := s.File(f.ctx(), path)
	f.must(err)
	return b
}

// lease reads the stored lease on a Todo, which is there.
func (f *fixture) lease(id todo.ID) Lease {
	f.t.Helper()
	l, err := DecodeLease("demo", id, f.file(todo.LeasePath(id)))
	f.must(err)
	return l
}

// unmoved runs a call that must be refused with a code, and that the ref did not move.
func (f *fixture) unmoved(want todo.Code, call func() error) {
	f.t.Helper()
	before := f.tip()
	if err := call(); todo.CodeOf(err) != want {
		f.t.Errorf("got code %q (%v), want %q", todo.CodeOf(err), err, want)
	}
	if after := f.tip(); after != before {
		f.t.Errorf("%s: the ref moved from %s to %s", want, before, after)
	}
}

func ptr[T any](v T) *T { return &v }
