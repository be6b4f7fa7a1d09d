package todo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// readyIDs are the ids of a list, those that are the agent's with a star.
func readyIDs(list ReadyList) []string {
	var got []string
	for _, e := range list.Rows {
		id := string(e.TodoID())
		if e.Mine {
			id += "*"
		}
		got = append(got, id)
	}
	return got
}

func TestReady(t *testing.T) {
	f := newDemo(t)
	now, later := At(f.clock), At(f.clock.Add(time.Minute))
	f.add("todo_first", AddArgs{})
	for _, c := range []struct {
		id   ID
		args AddArgs
	}{
		{"todo_b", AddArgs{}},
		{"todo_a", AddArgs{}},
		{"todo_urgent", AddArgs{Priority: "P0"}},
		{"todo_p1", AddArgs{Priority: "P1"}},
		{"todo_mine", AddArgs{Priority: "P4", ClaimedBy: "agent-a"}},
		{"todo_waits", AddArgs{DependsOn: ids("todo_first")}},
		{"todo_later", AddArgs{ResumeAt: later}},
		{"todo_now", AddArgs{ResumeAt: now, Priority: "P2"}},
		{"todo_deferred", AddArgs{}},
		{"todo_blocked", AddArgs{Priority: "P0"}},
		{"todo_excluded", AddArgs{ExcludedAgents: []AgentID{"agent-b"}}},
		{"todo_bound", AddArgs{BoundAgent: "agent-a"}},
		{"todo_user", AddArgs{Role: RoleUser}},
		{"todo_leased", AddArgs{}},
	} {
		f.add(c.id, c.args)
	}
	f.must(f.Update(f.ctx(), f.call("agent-a", "todo_deferred"), UpdateArgs{Status: ptr(Deferred)}))
	f.must(f.Update(f.ctx(), f.call("agent-a", "todo_blocked"), UpdateArgs{Status: ptr(Blocked)}))
	f.clock = f.clock.Add(time.Second)
	f.add("todo_0", AddArgs{})
	f.add("todo_done", AddArgs{ClaimedBy: "agent-a"})
	f.must(f.Complete(f.ctx(), f.call("agent-a", "todo_done"), CompleteArgs{}))
	f.put(map[string][]byte{
		TodoPath("todo_future"):  []byte(`{"schema_version":"loopx.todo/2"}` + "\n"),
		LeasePath("todo_leased"): []byte(`{"schema_version":"loopx.lease/9"}` + "\n"),
	})

	before := f.tip()
	for _, c := range []struct {
		agent AgentID
		limit int
		want  []string
		total int
	}{
		{"agent-a", 0, []string{"todo_urgent", "todo_p1", "todo_now", "todo_mine*", "todo_a", "todo_b", "todo_bound", "todo_excluded", "todo_first", "todo_0"}, 10},
		{"agent-b", 0, []string{"todo_urgent", "todo_p1", "todo_now", "todo_a", "todo_b", "todo_first", "todo_0"}, 7},
		{"agent-a", 4, []string{"todo_urgent", "todo_p1", "todo_now", "todo_mine*"}, 10},
		{"", 2, []string{"todo_urgent", "todo_p1"}, 8}, // nobody in particular: excluded is nobody, bound is somebody
	} {
		list, err := f.Ready(f.ctx(), "demo", c.agent, c.limit, false)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, readyIDs(list)); d != "" || list.Total != c.total || list.Held != nil || list.Revision != before {
			t.Errorf("%q: total %d, held %v, %s", c.agent, list.Total, list.Held, d)
		}
	}
	list, err := f.Ready(f.ctx(), "demo", "agent-b", 1, true)
	if err != nil || len(list.Rows) != 1 {
		t.Fatal(list, err)
	}
	want := []Held{
		{"todo_blocked", CodeTodoNotOpen}, {"todo_mine", CodeClaimOwnerMismatch}, {"todo_bound", CodeBoundAgentMismatch},
		{"todo_deferred", CodeTodoNotOpen}, {"todo_excluded", CodeActorExcluded}, {"todo_later", CodeDependencyPending},
		{"todo_leased", CodeUnsupportedSchema}, {"todo_user", CodeTodoNotAgent}, {"todo_waits", CodeDependencyPending},
		{"todo_future", CodeUnsupportedSchema},
	}
	if d := cmp.Diff(want, list.Held); d != "" {
		t.Error(d)
	}
	if f.tip() != before {
		t.Error("looking for work moved the ref")
	}
}

func TestReadyRefuses(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{})
	for _, c := range []struct {
		name  string
		goal  GoalID
		agent AgentID
		limit int
		want  Code
	}{
		{"a malformed goal", "Demo!", "agent-a", 0, CodeInvalidClaim},
		{"an agent that is not UTF-8", "demo", "\xff", 0, CodeInvalidClaim},
		{"a negative limit", "demo", "agent-a", -1, CodeInvalidClaim},
		{"an unknown goal", "absent", "agent-a", 0, CodeGoalNotFound},
		{"an unknown agent", "demo", "stranger", 0, CodeActorNotRegistered},
		{"an agent in other letters", "demo", "Agent-A", 0, CodeActorNotRegistered},
	} {
		list, err := f.Ready(f.ctx(), c.goal, c.agent, c.limit, true)
		if CodeOf(err) != c.want || list.Rows != nil || list.Held != nil {
			t.Errorf("%s: got %+v, %v, want %s", c.name, list, err, c.want)
		}
	}
	f.clock = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := f.Ready(f.ctx(), "demo", "agent-a", 0, false)
	wantCode(t, Decision{}, err, CodeInvalidClock)
}

func anyone(ID) (bool, error) { return true, nil }

// The first that is ready is handed out, never one that is somebody's already, nor one that every verb would refuse.
func TestFirstReady(t *testing.T) {
	f := newDemo(t)
	first := func(agent AgentID, want ID) {
		t.Helper()
		s, err := f.Load(f.ctx(), "demo")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f.FirstReady(f.ctx(), s, "demo", agent, At(f.clock), anyone); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", agent, got, err, want)
		}
	}
	first("agent-a", "")
	f.add("todo_mine", AddArgs{ClaimedBy: "agent-a", Priority: "P0"})
	first("agent-a", "")
	f.add("todo_noted", AddArgs{Priority: "P0"})
	f.add("todo_leased", AddArgs{Priority: "P1"})
	f.add("todo_bound", AddArgs{Priority: "P2", BoundAgent: "agent-b"})
	f.add("todo_last", AddArgs{})
	first("agent-a", "todo_noted")
	f.put(map[string][]byte{
		NotePath("todo_noted"):   []byte(`{"schema":"loopx.note/2"}` + "\n"),
		LeasePath("todo_leased"): []byte("{}\n"),
	})
	first("agent-b", "todo_bound")
	first("agent-a", "todo_last")
	f.must(f.Claim(f.ctx(), f.call("agent-a", "todo_last"), ""))
	first("agent-a", "")
	s, err := f.Load(f.ctx(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	var asked []ID
	got, err := f.FirstReady(f.ctx(), s, "demo", "agent-b", At(f.clock), func(id ID) (bool, error) {
		asked = append(asked, id)
		return false, nil
	})
	if got != "" || err != nil || !slices.Equal(asked, []ID{"todo_bound"}) {
		t.Errorf("nothing is taken: got %q, %v after %v", got, err, asked)
	}
	_, err = f.FirstReady(f.ctx(), s, "demo", "stranger", At(f.clock), anyone)
	wantCode(t, Decision{}, err, CodeActorNotRegistered)
}

// caches are the files of the cache, by name.
func (f *fixture) caches() []string {
	f.t.Helper()
	files, err := filepath.Glob(filepath.Join(f.dir, ".git", "loopx", "cache", "*"))
	if err != nil {
		f.t.Fatal(err)
	}
	return files
}

// Whatever became of the cache, list and ready say what they would say without one.
func TestTheCacheChangesNoAnswer(t *testing.T) {
	f := newDemo(t)
	say := func() string {
		t.Helper()
		var b bytes.Buffer
		list, err := f.List(f.ctx(), "demo", Filter{All: true})
		ready, rerr := f.Ready(f.ctx(), "demo", "agent-a", 0, true)
		if err != nil || rerr != nil {
			t.Fatal(err, rerr)
		}
		fmt.Fprint(&b, list, ready.Total, readyIDs(ready), ready.Held, ready.Revision)
		for _, e := range ready.Rows {
			b.Write(e.AppendJSON(nil))
		}
		return b.String()
	}
	forget := func() {
		for _, file := range f.caches() {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 12 {
		args := AddArgs{Priority: fmt.Sprintf("P%d", i%5)}
		if i%3 == 1 {
			args.DependsOn = ids(ID(fmt.Sprintf("todo_%d", i-1)))
		}
		f.add(ID(fmt.Sprintf("todo_%d", i)), args)
	}
	say()
	if len(f.caches()) != 1 { // none of the leases, of which there are none
		t.Fatalf("got the caches %v, want one of the Todos", f.caches())
	}
	path := f.caches()[0]
	old, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	take := func(id ID) {
		f.must(f.Claim(f.ctx(), f.call("agent-a", id), ""))
		f.must(f.Complete(f.ctx(), f.call("agent-a", id), CompleteArgs{}))
	}
	for i := range 9 {
		f.add(ID(fmt.Sprintf("todo_new%d", i)), AddArgs{DependsOn: ids("todo_0")})
	}
	take("todo_0")
	f.put(map[string][]byte{TodoPath("todo_1"): []byte("{}\n")})

	forget()
	want := say()
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(now)
	flipped[len(flipped)-40] ^= 1
	for name, cache := range map[string][]byte{
		"as it was left":           now,
		"of another revision":      old,
		"empty":                    nil,
		"cut":                      now[:len(now)/2],
		"cut by a byte":            now[:len(now)-1],
		"with a bit flipped":       flipped,
		"of another form of a row": bytes.Replace(now, []byte(`"`+rowVersion+`"`), []byte(`"todo/0"`), 1),
		"of something else":        []byte("what\n"),
	} {
		forget()
		if err := os.WriteFile(path, cache, 0o666); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, say()); d != "" {
			t.Errorf("a cache %s: %s", name, d)
		}
	}
}

// Of ten thousand Todos with thirty thousand dependencies, ready and the search for a cycle read the table, and no record
// but those that they speak of: all others can be missing.
func TestTenThousandTodos(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand records")
	}
	const n = 10_000
	f := newDemo(t)
	f.git("-C", f.dir, "config", "maintenance.auto", "false") // which would miss what goes missing below
	name := func(i int) ID { return ID(fmt.Sprintf("todo_%05d", i)) }
	files, todos := map[string][]byte{}, make([]Todo, n)
	for i := range todos {
		todo := vectorTodo()
		todo.ID, todo.Text, todo.ClaimedBy = name(i), string(name(i)), ""
		if i%4 > 0 {
			todo.Status, todo.CompletedAt = Done, todo.CreatedAt
		}
		for _, on := range []int{i - 1, (i*7919 + 1) % n % max(i, 1), i / 2} {
			if i > 2 {
				todo.DependsOn = append(todo.DependsOn, name(on))
			}
		}
		todo.DependsOn = SetOf(todo.DependsOn)
		b, err := EncodeTodo(todo)
		if err != nil {
			t.Fatal(err)
		}
		todos[i], files[TodoPath(todo.ID)] = todo, b
	}
	f.put(files)
	var want []string
	waiting := 0
	for _, todo := range todos {
		switch {
		case todo.Status == Done:
		case slices.ContainsFunc(todo.DependsOn, func(on ID) bool {
			var i int
			fmt.Sscanf(string(on), "todo_%d", &i)
			return todos[i].Status != Done
		}):
			waiting++
		default:
			want = append(want, string(todo.ID))
		}
	}
	if _, err := f.List(f.ctx(), "demo", Filter{Limit: 1}); err != nil { // makes the cache
		t.Fatal(err)
	}
	for line := range strings.Lines(f.git("-C", f.dir, "ls-tree", "-r", string(f.tip())+":todos")) {
		object, path, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if id := IDOf(path); id != name(0) && id != name(n-1) {
			object = strings.Fields(object)[2]
			if err := os.Remove(filepath.Join(f.dir, ".git", "objects", object[:2], object[2:])); err != nil {
				t.Fatal(err)
			}
		}
	}

	list, err := f.Ready(f.ctx(), "demo", "agent-a", 0, true)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, readyIDs(list)); d != "" || len(list.Held) != waiting || waiting < 100 || len(want) < 100 {
		t.Errorf("%d wait, want %d; %s", len(list.Held), waiting, d)
	}
	f.refused(CodeDependencyInvalid, func() (Answer, error) {
		on := ids(name(n - 1))
		a, err := f.Update(f.ctx(), f.call("agent-a", name(0)), UpdateArgs{DependsOn: &on})
		if cycle, _ := AsRefusal(err).Detail["cycle"].([]ID); len(cycle) < 3 || cycle[1] != name(n-1) {
			t.Errorf("got the cycle %v", cycle)
		}
		return a, err
	})
	f.must(f.Add(f.ctx(), f.call("agent-a", "todo_new"), AddArgs{Text: "new", DependsOn: ids(name(0), name(n/2), name(n-1))}))
}
