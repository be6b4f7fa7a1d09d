package projection

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/git-loopx/git-loopx/todo"
)

// killedDir names the repository in which this test binary is the writer that TestKilledWriter kills.
const killedDir = "PROJECTION_TEST_KILLED_DIR"

// TestKilledWriter kills a process between its temporary file and its renaming. The file is the old one or the new one in
// full, and the next delivery leaves nothing behind.
func TestKilledWriter(t *testing.T) {
	if dir := os.Getenv(killedDir); dir != "" {
		w := &world{t: t, dir: dir, env: os.Environ()}
		w.Ledger = w.open()
		w.delivered(Delivered)
		return
	}
	if testing.Short() {
		t.Skip("starts many processes")
	}
	w := newWorld(t)
	w.fill(600)
	w.delivered(Delivered)
	w.must(os.Chmod(w.path("TODO.md"), 0o600))
	killed := 0
	for n := 0; killed < 3; n++ {
		if n == 60 {
			t.Fatalf("of %d writers %d were killed with a temporary file", n, killed)
		}
		before := w.read("TODO.md")
		w.update("Text " + strings.Repeat("x", n+1))
		if temp := w.killed(); temp != "" {
			killed++
			half, err := os.Stat(temp)
			if err != nil || half.Size() > int64(len(before)+1000) {
				t.Fatalf("the temporary file: %v, %v", half, err)
			}
			if runtime.GOOS != "windows" && half.Mode().Perm()&^0o600 != 0 {
				t.Fatalf("others may read what was private: %s", half.Mode())
			}
			if w.read("TODO.md") != before {
				t.Fatal("the old file is not what it was")
			}
		} else if got := w.shown("TODO.md", "demo"); got.Count() != 601 {
			t.Fatalf("%d Todos", got.Count())
		}
		w.Ledger = w.open()
		if d := w.deliver(); d.State == Pending {
			t.Fatalf("%+v", d.Outbox)
		}
		if got := w.shown("TODO.md", "demo"); got.Revision != w.tip() {
			t.Fatalf("the view is of %s", got.Revision)
		}
		if left := w.temps(); left != nil {
			t.Fatalf("the temporary file is left: %q", left)
		}
	}
}

// killed starts a writer and kills it as soon as its temporary file is there. It returns that file, "" if it was not left.
func (w *world) killed() string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKilledWriter$")
	cmd.Env = append(w.env, killedDir+"="+w.dir)
	w.must(cmd.Start())
	over := make(chan struct{})
	go func() {
		cmd.Wait()
		close(over)
	}()
	for {
		if len(w.temps()) > 0 {
			cmd.Process.Kill()
			<-over
			return strings.Join(w.temps(), " and ")
		}
		select {
		case <-over:
			return ""
		default:
		}
	}
}

// fill adds n Todos with a text of their own in one commit.
func (w *world) fill(n int) {
	w.t.Helper()
	files := make(map[string][]byte, n)
	for i := range n {
		id := todo.ID("todo_n" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + itoa(i))
		b, err := todo.EncodeTodo(todo.Todo{SchemaVersion: todo.TodoSchema, ID: id, Role: todo.RoleAgent, Status: todo.Open,
			ArchiveState: todo.Active, Text: "work on " + string(id) + ": " + strings.Repeat("more words ", 10), CreatedAt: "2026-09-13T10:00:00Z"})
		w.must(err)
		files[todo.TodoPath(id)] = b
	}
	w.put(files)
}
