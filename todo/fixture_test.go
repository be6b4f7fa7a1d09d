package todo

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

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
)

// fixture is a ledger on a new repository, with a clock that the test moves.
type fixture struct {
	*Ledger
	t     testing.TB
	dir   string
	env   []string
	clock time.Time
}

// newFixture makes a repository with git init and opens a ledger on it. Nothing of the person who runs the test is used.
func newFixture(t testing.TB) *fixture {
	t.Helper()
	home := t.TempDir()
	f := &fixture{
		t: t, dir: filepath.Join(home, "repo"), clock: time.Date(2026, 9, 13, 10, 0, 0, 0, time.UTC),
		env: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "config"),
			"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com",
		},
	}
	f.git("init", "-q", f.dir)
	f.git("-C", f.dir, "config", "loopx.durability", "git")
	random := rand.NewChaCha8([32]byte{})
	store, err := gitstore.Open(context.Background(), gitstore.Config{
		Dir: f.dir, Env: f.env, Random: rand.NewChaCha8([32]byte{1}), Now: func() time.Time { return f.clock }, Writes: true, Settings: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	f.Ledger = &Ledger{Store: store, Now: func() time.Time { return f.clock }, Random: random}
	return f
}

// newDemo is a fixture with goal demo and the agents a, b and c.
func newDemo(t testing.TB) *fixture {
	t.Helper()
	f := newFixture(t)
	f.must(f.CreateGoal(f.ctx(), Call{Goal: "demo"}, "", ""))
	for _, a := range []AgentID{"agent-a", "agent-b", "agent-c"} {
		f.must(f.AddAgent(f.ctx(), f.call(a, ""), ""))
	}
	return f
}

func (f *fixture) ctx() context.Context { return context.Background() }

func (f *fixture) call(a AgentID, id ID) Call { return Call{Goal: "demo", Agent: a, Todo: id} }

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

// must returns the answer of a call that succeeds.
func (f *fixture) must(a Answer, err error) Answer {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
	return a
}

// add makes a Todo of some text, with an id of the test's choice.
func (f *fixture) add(id ID, args AddArgs) Answer {
	f.t.Helper()
	if args.Text == "" {
		args.Text = "work on " + string(id)
	}
	return f.must(f.Add(f.ctx(), f.call("agent-a", id), args))
}

// tip is the goal's revision as git has it.
func (f *fixture) tip() gitstore.ObjectID {
	f.t.Helper()
	return gitstore.ObjectID(f.git("-C", f.dir, "rev-parse", "refs/loopx/goals/demo"))
}

// put commits files into the goal behind the ledger's back; nil removes.
func (f *fixture) put(files map[string][]byte) {
	f.t.Helper()
	op, err := NewOperationID(f.Random)
	if err != nil {
		f.t.Fatal(err)
	}
	_, err = f.Store.Apply(f.ctx(), gitstore.Operation{
		Ref: GoalID("demo").Ref(), ID: op, Kind: "test", Goal: "demo", Request: "x",
		Decide: func(context.Context, *gitstore.Snapshot) (gitstore.Change, error) {
			return gitstore.Change{Subject: "test put", Files: files}, nil
		},
	})
	if err != nil {
		f.t.Fatal(err)
	}
}

// file reads a file of the goal's tip.
func (f *fixture) file(path string) []byte {
	f.t.Helper()
	s, err := f.Load(f.ctx(), "demo")
	if err != nil {
		f.t.Fatal(err)
	}
	b, _, err := s.File(f.ctx(), path)
	if err != nil {
		f.t.Fatal(err)
	}
	return b
}

// refused checks the code of a refusal and that the ref did not move.
func (f *fixture) refused(want Code, call func() (Answer, error)) {
	f.t.Helper()
	before := f.tip()
	a, err := call()
	if got := CodeOf(err); got != want {
		f.t.Errorf("got code %q (%v), want %q", got, err, want)
	}
	if a.Receipt.OperationID != "" {
		f.t.Errorf("a refusal has the receipt %+v", a.Receipt)
	}
	if after := f.tip(); after != before {
		f.t.Errorf("the ref moved from %s to %s", before, after)
	}
}

func resultOf[T any](t testing.TB, a Answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.Receipt.Result, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// by is the call of an agent on todo_a.
func by(a AgentID) Call { return Call{Goal: "demo", Todo: "todo_a", Agent: a} }
