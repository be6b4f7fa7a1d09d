package lease

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// A batch leaves what its operations would leave one by one, and is refused at the line, and with the code, at which they
// would be refused first.
func TestABatchEqualsItsOperations(t *testing.T) {
	d := newDesk(t, todo.SoftClaim)
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		mode := rapid.SampledFrom([]todo.Mode{todo.SoftClaim, todo.HardLease}).Draw(t, "mode")
		single, batched := todo.GoalID(fmt.Sprint("single-", run)), todo.GoalID(fmt.Sprint("batch-", run))
		start := startingFiles(t, mode)
		for _, g := range []todo.GoalID{single, batched} {
			d.seed(g, start)
		}
		var accepted, first []string // first ends in the line that is refused first
		var code todo.Code
		one := d.drawing(run)
		for i, line := range rapid.SliceOfN(rapid.Custom(drawOperation), 1, 10).Draw(t, "lines") {
			ops, err := parseBatch("agent-a", []byte(line))
			if err != nil {
				t.Fatal(err)
			}
			call := todo.Call{Goal: single, Agent: "agent-a", Todo: ops[0].line().Todo, Proof: ops[0].proof()}
			step, err := ops[0].step(one, call)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			call.Operation = fmt.Sprint("one-", i)
			if _, err = one.Run(d.ctx(), call, step); err == nil {
				accepted = append(accepted, line)
				continue
			}
			if first == nil {
				first, code = append(slices.Clone(accepted), line), todo.CodeOf(err)
			}
			if todo.AsRefusal(err) == nil {
				t.Fatalf("%s: %v", line, err)
			}
			if call.Todo == "" {
				break // it has drawn ids that a batch without it would not draw
			}
		}
		before := d.recordsOf(batched)
		if first != nil {
			_, err := d.drawing(run).ApplyBatch(d.ctx(), todo.Call{Goal: batched, Agent: "agent-a"}, lines(first...))
			if r := todo.AsRefusal(err); r == nil || r.Code != code || r.Detail["line"] != len(first) {
				t.Fatalf("%v: got %v, want %s at the last line", first, err, code)
			}
			if diff := cmp.Diff(before, d.recordsOf(batched)); diff != "" {
				t.Fatalf("refused, and %s", diff)
			}
		}
		if len(accepted) == 0 {
			return
		}
		a, err := d.drawing(run).ApplyBatch(d.ctx(), todo.Call{Goal: batched, Agent: "agent-a"}, lines(accepted...))
		if err != nil {
			t.Fatal(err)
		}
		want, got := d.recordsOf(single), d.recordsOf(batched)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v: %s", accepted, diff)
		}
		if changed := !maps.Equal(before, got); changed && !a.Changed || len(a.Lines) != len(accepted) {
			t.Fatalf("got %+v, changed %v", a, changed)
		}
	})
}

// drawOperation draws a well-formed line.
func drawOperation(t *rapid.T) string {
	id := rapid.SampledFrom([]string{"todo_a", "todo_b", "todo_c", "todo_d"})
	word := rapid.SampledFrom([]string{"one", "two", "three"})
	key := rapid.SampledFrom([]string{"k1", "k2"})
	members := []string{`"todo_id":"` + id.Draw(t, "todo") + `"`}
	maybe := func(name string, member func() string) {
		if rapid.Bool().Draw(t, name) {
			members = append(members, member())
		}
	}
	text := func(name string) func() string {
		return func() string { return fmt.Sprintf("%q:%q", name, word.Draw(t, name)) }
	}
	proof := func() string {
		return fmt.Sprintf(`"lease_proof":{"idempotency_key":%q,"expected_version":%d}`, key.Draw(t, "key"), rapid.IntRange(0, 2).Draw(t, "version"))
	}
	op := rapid.SampledFrom(append(slices.Clone(opWords), "claim", "claim", "claim")).Draw(t, "op")
	switch op {
	case "add":
		members = nil
		maybe("named", func() string { return `"todo_id":"` + id.Draw(t, "new") + `"` })
		members = append(members, text("text")())
		maybe("title", text("title"))
		maybe("depends", func() string { return `"depends_on":["` + id.Draw(t, "on") + `"]` })
		maybe("claimed", func() string { return `"claimed_by":"agent-a"` })
	case "update":
		members = append(members, text("title")())
		maybe("text", text("text"))
		maybe("note", text("note"))
		maybe("blocked", func() string { return `"status":"blocked"` })
		maybe("proof", proof)
	case "note":
		members = append(members, text("text")())
		maybe("proof", proof)
	case "claim":
		maybe("lease", func() string { return fmt.Sprintf(`"task_lease_idempotency_key":%q`, key.Draw(t, "key")) })
	case "release", "complete":
		maybe("reason", text("reason"))
		maybe("proof", proof)
	case "reopen":
		maybe("reason", text("reason"))
	case "supersede":
		members = append(members, `"by":"`+id.Draw(t, "by")+`"`)
		maybe("proof", proof)
	}
	return `{"op":"` + op + `",` + strings.Join(members, ",") + `}`
}

// startingFiles are the files of a goal with two agents and three Todos.
func startingFiles(t *rapid.T, mode todo.Mode) func(todo.GoalID) map[string][]byte {
	at := todo.Instant("2026-09-13T10:00:00Z")
	var todos []todo.Todo
	for _, id := range []todo.ID{"todo_a", "todo_b", "todo_c"} {
		x := todo.Todo{
			SchemaVersion: todo.TodoSchema, ID: id, Role: todo.RoleAgent, Status: todo.Open, Text: "work on " + string(id),
			ArchiveState: todo.Active, CreatedBy: "agent-b", CreatedAt: at,
			ClaimedBy: rapid.SampledFrom([]todo.AgentID{"", "", "agent-b"}).Draw(t, "owner"),
		}
		if rapid.Bool().Draw(t, "scoped") {
			x.RequiredWriteScopes = []string{"src"}
		}
		todos = append(todos, x)
	}
	return func(g todo.GoalID) map[string][]byte {
		goal, err := todo.EncodeGoal(todo.Goal{
			Schema: todo.GoalSchema, ID: g, ScopeID: strings.Repeat("0", 32), HandoffMode: mode, CreatedAt: at,
			Agents: []todo.Agent{{ID: "agent-a", AddedAt: at}, {ID: "agent-b", AddedAt: at}},
		})
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{todo.GoalPath: goal}
		for _, x := range todos {
			if files[todo.TodoPath(x.ID)], err = todo.EncodeTodo(x); err != nil {
				t.Fatal(err)
			}
		}
		return files
	}
}

// seed makes a goal of files.
func (d *desk) seed(g todo.GoalID, files func(todo.GoalID) map[string][]byte) {
	d.t.Helper()
	_, err := d.Store.Apply(d.ctx(), gitstore.Operation{
		Ref: g.Ref(), ID: "seed", Kind: "test", Goal: string(g), Request: "x", Creates: true,
		Decide: func(context.Context, *gitstore.Snapshot) (gitstore.Change, error) {
			return gitstore.Change{Subject: "test seed", Files: files(g)}, nil
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

// drawing is the ledger with a source of random bytes of its own.
func (d *desk) drawing(seed int) *Ledger {
	l := *d.Ledger
	l.Random = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), 2})
	return &l
}

// recordsOf are the files of a goal's tip but its receipts, as if the goal had no name.
func (d *desk) recordsOf(g todo.GoalID) map[string]string {
	d.t.Helper()
	files := d.filesOf(g)
	for path, content := range files {
		files[path] = strings.ReplaceAll(content, string(g), "GOAL")
	}
	return files
}
