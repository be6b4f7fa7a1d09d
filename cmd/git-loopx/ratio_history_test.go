package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// newPacked makes the large goal: ten thousand operations of todo add, each with its commit and its receipt, as git gc
// leaves them. They go through git fast-import, which takes seconds where ten thousand commands take minutes; "git loopx
// fsck" accepts the goal, or the part "cost" fails.
func (w *ratioWorld) newPacked(b *testing.B) *ratioRepo { return w.newHistory(b, ratioTodo) }

// newWaiting is the large goal with dependencies.
func (w *ratioWorld) newWaiting(b *testing.B) *ratioRepo { return w.newHistory(b, waitingTodo) }

func (w *ratioWorld) newHistory(b *testing.B, todos func(int) todo.Todo) *ratioRepo {
	b.Helper()
	r := w.newGoal(b, w.newRepo(b, w.scratch))
	start := time.Now()
	cmd := w.command(r.dir, "git", "fast-import", "--quiet", "--depth=0")
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	to, from := bufio.NewWriter(in), bufio.NewReader(out)
	parent := w.git(b, r.dir, "rev-parse", r.ref)
	at := start.Add(-time.Duration(w.todos) * time.Minute)
	fmt.Fprintf(to, "reset %s\nfrom %s\n\n", r.ref, parent)
	for i := range w.todos - 20 {
		at = at.Add(time.Minute)
		parent, err = importAdd(to, from, r.ref, i, todos(i), parent, at)
		if err != nil {
			break
		}
	}
	must(b, w.failed(cmd, errors.Join(err, to.Flush(), in.Close(), cmd.Wait())))
	w.git(b, r.dir, "repack", "-a", "-d", "-f", "-q") // gc alone takes the deltas of fast-import for good
	w.git(b, r.dir, "gc", "-q")
	w.notes = append(w.notes, fmt.Sprintf("a goal of %d Todos was made in %.1f s", w.todos, time.Since(start).Seconds()))
	return r
}

// importAdd hands one operation to git fast-import and returns its commit.
func importAdd(to *bufio.Writer, from *bufio.Reader, ref string, i int, t todo.Todo, parent string, at time.Time) (string, error) {
	operation := fmt.Sprintf("op_%024d", i)
	t.CreatedAt, t.UpdatedAt = todo.At(at), todo.At(at)
	if t.Status == todo.Done {
		t.CompletedAt = t.UpdatedAt
	}
	record, err := todo.EncodeTodo(t)
	if err != nil {
		return "", err
	}
	request, err := canonical.Digest(t.Text)
	if err != nil {
		return "", err
	}
	receipt, err := canonical.Encode(map[string]any{
		"at": todo.At(at), "goal_id": "demo", "kind": "todo add", "operation_id": operation, "parent_revision": parent,
		"request_sha256": request, "schema": gitstore.ReceiptSchema, "todo_id": t.ID,
		"result": todo.AddResult{Schema: todo.CreateSchema, TodoID: t.ID, Changed: true},
	})
	if err != nil {
		return "", err
	}
	message := fmt.Sprintf("todo add %s\n\nLoopx-Operation: %s\nLoopx-Agent: agent-a\n", t.ID, operation)
	fmt.Fprintf(to, "commit %s\nmark :1\ncommitter Ada <ada@example.com> %d +0000\n", ref, at.Unix())
	fmt.Fprintf(to, "data %d\n%s\n", len(message), message)
	for path, content := range map[string][]byte{todo.TodoPath(t.ID): record, gitstore.ReceiptPath(operation): receipt} {
		fmt.Fprintf(to, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	fmt.Fprintf(to, "get-mark :1\n")
	if err := to.Flush(); err != nil {
		return "", err
	}
	id, err := from.ReadString('\n')
	return strings.TrimSpace(id), err
}

// ratioTodo is a Todo as people write them: most have a priority and a label, few more.
func ratioTodo(i int) todo.Todo {
	t := todo.Todo{
		SchemaVersion: todo.TodoSchema, ID: todo.ID(fmt.Sprintf("todo_%026d", i)), Role: todo.RoleAgent, Status: todo.Open,
		ArchiveState: todo.Active, CreatedBy: "agent-a", LastActorAgentID: "agent-a",
		Text: fmt.Sprintf("Step %d: find out why the nightly run of part %d is slower than it was, and write down what was tried", i, i%97),
	}
	if i%5 != 0 {
		t.Priority = fmt.Sprintf("P%d", i%5)
	}
	if i%3 != 0 {
		t.Labels = []string{fmt.Sprintf("area-%d", i%11)}
	}
	if i%10 == 0 {
		t.Title = fmt.Sprintf("Nightly run, part %d", i%97)
		t.RequiredWriteScopes = []string{fmt.Sprintf("src/part%d/**", i%97)}
	}
	return t
}

// waitingTodo depends on three others. Every third Todo is done, and nine in ten of the others wait for done ones only.
func waitingTodo(i int) todo.Todo {
	t := ratioTodo(i)
	if i%3 == 0 {
		t.Status = todo.Done
	}
	for k := 1; k <= 3 && i > 30; k++ {
		on := (i*7919+k*104729)%(i-30)/3*3 + k/3*(i%10/9) // the last is not done for one in ten
		t.DependsOn = append(t.DependsOn, ratioTodo(on).ID)
	}
	slices.Sort(t.DependsOn)
	t.DependsOn = slices.Compact(t.DependsOn)
	return t
}

// newMany is the large goal to write to.
func (w *ratioWorld) newMany(b *testing.B) *ratioRepo {
	packed, r := w.packed(b), w.newRepo(b, w.scratch)
	w.git(b, r.dir, "fetch", "-q", packed.dir, "+refs/loopx/*:refs/loopx/*")
	w.git(b, r.dir, "gc", "-q")
	return r
}

// newLoose is the large goal in loose objects: one commit that has the tree of its tip.
func (w *ratioWorld) newLoose(b *testing.B) *ratioRepo {
	packed, r := w.packed(b), w.newRepo(b, w.scratch)
	const flat = "refs/bench/flat"
	w.git(b, packed.dir, "update-ref", flat, w.git(b, packed.dir, "commit-tree", "-m", "all at once", packed.ref+"^{tree}"))
	w.git(b, r.dir, "-c", "fetch.unpackLimit=1000000000", "fetch", "-q", packed.dir, flat+":"+r.ref)
	w.git(b, packed.dir, "update-ref", "-d", flat)
	return r
}
