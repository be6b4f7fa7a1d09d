package handoff

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// world is a real repository with goal demo, agents a, b and c, and todo_a claimed by agent-a.
type world struct {
	Ledger
	t   *testing.T
	dir string // the work tree
	env []string
	n   int // operations of the test's own
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := t.TempDir()
	w := &world{t: t, dir: filepath.Join(home, "work tree"), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "config"),
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
	}}
	w.git("init", "-q", "-b", "main", w.dir)
	if err := os.WriteFile(filepath.Join(w.dir, "decision.md"), []byte("time, not count\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.Ledger.Ledger = lease.New(w.open(), clock("2026-09-13T10:00:00Z"), rand.Reader)

	ctx := t.Context()
	_, err := w.CreateGoal(ctx, w.call(""), "", todo.SoftClaim)
	w.must(err)
	for _, agent := range []todo.AgentID{"agent-a", "agent-b", "agent-c"} {
		_, err := w.AddAgent(ctx, w.call(agent), "")
		w.must(err)
	}
	_, err = w.Add(ctx, w.call("agent-a"), todo.AddArgs{Text: "Bound the retry loop by time", ClaimedBy: "agent-a"})
	w.must(err)
	w.Now = clock("2026-09-13T10:05:00Z")
	return w
}

func clock(s string) func() time.Time {
	now, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic(err)
	}
	return func() time.Time { return now }
}

// open opens the repository as another process would.
func (w *world) open() *gitstore.Repository {
	w.t.Helper()
	r, err := gitstore.Open(context.Background(), gitstore.Config{Dir: w.dir, Env: w.env, Random: rand.Reader, Now: time.Now, Writes: true})
	w.must(err)
	w.t.Cleanup(func() { r.Close() })
	return r
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

// call is an unpinned call by the test itself.
func (w *world) call(agent todo.AgentID) todo.Call {
	w.n++
	return todo.Call{Goal: "demo", Todo: "todo_a", Agent: agent, Session: "s", Operation: fmt.Sprintf("setup-%d", w.n)}
}

func (w *world) tip() gitstore.ObjectID {
	w.t.Helper()
	return gitstore.ObjectID(w.git("rev-parse", "refs/loopx/goals/demo"))
}

func (w *world) note() string {
	w.t.Helper()
	return w.git("cat-file", "-p", "refs/loopx/goals/demo:"+todo.NotePath("todo_a"))
}

// prepareAt and adoptAt are L3 and L6 on the tip.
func (w *world) prepareAt(revision gitstore.ObjectID) PrepareRequest {
	r := prepareRequest()
	r.Expected = revision
	return r
}

func (w *world) adoptAt(revision gitstore.ObjectID) AdoptRequest {
	r := adoptRequest("agent-b")
	r.Expected, r.Workspace, r.Artifacts = revision, w.dir, []string{"decision.md"}
	return r
}

func (w *world) inspect(agent todo.AgentID, session string) Packet {
	w.t.Helper()
	p, err := w.Inspect(w.t.Context(), InspectRequest{
		Goal: "demo", Todo: "todo_a", Agent: agent, Session: session, Workspace: w.dir, Artifacts: []string{"decision.md"},
	})
	w.must(err)
	return p
}

// unmoved runs f and fails if the ref moved or a receipt came.
func (w *world) unmoved(f func()) {
	w.t.Helper()
	before := w.tip()
	f()
	if w.tip() != before {
		w.t.Error("the ref moved")
	}
}

// fingerprint lists everything below a directory with mode, time and content.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	var b bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s %d", path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(content))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
