package projection

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// world is a real repository with goal demo, agents a and b, todo_a claimed by agent-a with a note, and TODO.md as the
// file of its view.
type world struct {
	*Ledger
	t   testing.TB
	dir string // the work tree
	env []string
	n   int // operations of the test's own
}

func newWorld(t testing.TB, init ...string) *world {
	t.Helper()
	home := t.TempDir()
	w := &world{t: t, dir: filepath.Join(home, "work tree"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "config"),
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
	}}
	w.git(append(append([]string{"init", "-q"}, init...), w.dir)...)
	w.git("config", "loopx.durability", "git")
	w.git("config", "loopx.projection", "TODO.md")
	w.Ledger = w.open()
	w.goal("demo")
	_, err := w.Add(t.Context(), w.call("demo", "todo_a"), todo.AddArgs{Text: "Bound the retry loop by time", ClaimedBy: "agent-a"})
	w.must(err)
	return w
}

// goal makes a goal with its agents.
func (w *world) goal(id todo.GoalID) {
	w.t.Helper()
	_, err := w.CreateGoal(w.t.Context(), w.call(id, ""), "", todo.SoftClaim)
	w.must(err)
	for _, agent := range []todo.AgentID{"agent-a", "agent-b"} {
		c := w.call(id, "")
		c.Agent = agent
		_, err := w.AddAgent(w.t.Context(), c, "")
		w.must(err)
	}
}

// open opens the repository as another process would, so that the configuration is read once more.
func (w *world) open() *Ledger {
	w.t.Helper()
	r, err := gitstore.Open(context.Background(), gitstore.Config{Dir: w.dir, Env: w.env, Random: rand.Reader, Now: time.Now, Writes: true})
	w.must(err)
	w.t.Cleanup(func() { r.Close() })
	return &Ledger{todo.Ledger{Store: r, Now: func() time.Time { return time.Date(2026, 9, 13, 10, 0, 0, 0, time.UTC) }, Random: rand.Reader}}
}

// config sets a key and opens the repository again.
func (w *world) config(args ...string) {
	w.t.Helper()
	w.git(append([]string{"config"}, args...)...)
	w.Ledger = w.open()
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	if _, err := os.Stat(w.dir); err == nil {
		cmd.Dir = w.dir
	}
	cmd.Env = w.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) call(goal todo.GoalID, id todo.ID) todo.Call {
	w.n++
	return todo.Call{Goal: goal, Todo: id, Agent: "agent-a", Operation: fmt.Sprintf("setup-%d", w.n)}
}

func (w *world) tip() gitstore.ObjectID {
	w.t.Helper()
	return gitstore.ObjectID(w.git("rev-parse", "refs/loopx/goals/demo"))
}

// update changes the text of todo_a and returns the new tip.
func (w *world) update(text string) gitstore.ObjectID {
	w.t.Helper()
	a, err := w.Update(w.t.Context(), w.call("demo", "todo_a"), todo.UpdateArgs{Text: &text})
	w.must(err)
	return a.Revision
}

// put commits files into the goal behind the rules' back.
func (w *world) put(files map[string][]byte) {
	w.t.Helper()
	w.n++
	_, err := w.Store.Apply(w.t.Context(), gitstore.Operation{
		Ref: todo.GoalID("demo").Ref(), ID: fmt.Sprintf("put-%d", w.n), Kind: "test", Goal: "demo", Request: "x",
		Decide: func(context.Context, *gitstore.Snapshot) (gitstore.Change, error) {
			return gitstore.Change{Subject: "test put", Files: files}, nil
		},
	})
	w.must(err)
}

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, content string) {
	w.t.Helper()
	w.must(os.WriteFile(w.path(name), []byte(content), 0o644))
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(name))
	w.must(err)
	return string(b)
}

// shown is the view of a goal in a file.
func (w *world) shown(name string, goal todo.GoalID) Region {
	w.t.Helper()
	file := []byte(strings.ReplaceAll(w.read(name), "\r\n", "\n"))
	p, ok, err := find(file, goal)
	if err != nil || !ok {
		w.t.Fatalf("no view of %s in %s: %v", goal, name, err)
	}
	r, err := Parse(file[p.from:p.to])
	w.must(err)
	return r
}

func (w *world) deliver() Delivery {
	w.t.Helper()
	return w.Deliver(w.t.Context(), "demo", "trigger")
}

// delivered delivers and wants a state.
func (w *world) delivered(want State) Outbox {
	w.t.Helper()
	d := w.deliver()
	if d.State != want || d.Outbox == nil || d.Outbox.Status != want || d.Refused != nil {
		w.t.Fatalf("got %s (%v), want %s", d.State, d.Refused, want)
	}
	return *d.Outbox
}

// pending delivers in vain and wants a code, an outbox that promises what section 11 says, and nothing beside it.
func (w *world) pending(want todo.Code) Outbox {
	w.t.Helper()
	tip := w.tip()
	d := w.deliver()
	if d.State != Pending || d.Outbox == nil || d.Refused == nil || d.Refused.Code != want {
		w.t.Fatalf("got %s (%v), want pending, %s", d.State, d.Refused, want)
	}
	o := *d.Outbox
	if o.Status != Pending || o.Code != want || !o.Retryable || o.Action == "" || o.RetryMutation == nil || *o.RetryMutation || o.Changed {
		w.t.Errorf("got %+v", o)
	}
	if w.tip() != tip {
		w.t.Error("the ref moved")
	}
	return o
}
