package todo

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// beside are the Todos beside todo_a: b is open, c blocked, d done, e done and put away, f deferred and put away. Each
// chain is Todos of which the next took the place of the one before; the last of a chain stays as it is.
func beside(chains ...[]ID) Following {
	f := Following{}
	put := func(id ID, s WorkStatus, a Archive, by ID) {
		t := vectorTodo()
		t.ID, t.Status, t.ArchiveState, t.SupersededBy = id, s, a, by
		f[id] = t
	}
	put("todo_b", Open, Active, "")
	put("todo_c", Blocked, Active, "")
	put("todo_d", Done, Active, "")
	put("todo_e", Done, Archived, "")
	put("todo_f", Deferred, Archived, "")
	for _, chain := range chains {
		for i, id := range chain[:len(chain)-1] {
			put(id, Done, Active, chain[i+1])
		}
	}
	return f
}

func dependsOn(ids ...ID) func(*State)  { return func(s *State) { s.Todo.DependsOn = ids } }
func resumesAt(i Instant) func(*State)  { return func(s *State) { s.Todo.ResumeAt = i } }
func among(chains ...[]ID) func(*State) { return func(s *State) { s.Others = beside(chains...) } }
func ids(list ...ID) []ID               { return list }
func detail(pairs ...any) map[string]any {
	d := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		d[pairs[i].(string)] = pairs[i+1]
	}
	return d
}

func TestDependenciesOfATodo(t *testing.T) {
	const later, now = Instant("2026-09-14T08:00:01Z"), testAt
	self := func(s *State) {
		s.Others = beside(ids("todo_x", "todo_a"))
		s.Others["todo_a"] = *s.Todo
	}
	for _, c := range []struct {
		name   string
		state  State
		want   DependencyState
		detail map[string]any
	}{
		{"nothing to wait for", demo(among()), DependenciesReady, nil},
		{"done", demo(among(), dependsOn("todo_d", "todo_e")), DependenciesReady, nil},
		{"open", demo(among(), dependsOn("todo_b", "todo_d")), DependenciesPending, detail("pending_todo_ids", ids("todo_b"))},
		{"open and blocked", demo(among(), dependsOn("todo_b", "todo_c")), DependenciesPending, detail("pending_todo_ids", ids("todo_b", "todo_c"))},
		{"unknown", demo(among(), dependsOn("todo_b", "todo_z")), DependenciesInvalid, detail("invalid_todo_ids", ids("todo_z"))},
		{"put away and not done", demo(among(), dependsOn("todo_f")), DependenciesInvalid, detail("invalid_todo_ids", ids("todo_f"))},
		{"itself", demo(among(), dependsOn("todo_a")), DependenciesInvalid, detail("invalid_todo_ids", ids("todo_a"), "cycle", ids("todo_a", "todo_a"))},
		{"superseded by a done one", demo(among(ids("todo_x", "todo_y", "todo_d")), dependsOn("todo_x")), DependenciesReady, nil},
		{"superseded by a done one that is put away", demo(among(ids("todo_x", "todo_e")), dependsOn("todo_x")), DependenciesReady, nil},
		{"superseded by an open one", demo(among(ids("todo_x", "todo_y", "todo_b")), dependsOn("todo_b", "todo_x", "todo_y")), DependenciesPending,
			detail("pending_todo_ids", ids("todo_b"))},
		{"superseded by one that is put away and not done", demo(among(ids("todo_x", "todo_f")), dependsOn("todo_x")), DependenciesInvalid,
			detail("invalid_todo_ids", ids("todo_x"))},
		{"superseded by an unknown one", demo(among(ids("todo_x", "todo_z")), dependsOn("todo_x")), DependenciesInvalid, detail("invalid_todo_ids", ids("todo_x"))},
		{"superseded in a circle", demo(among(ids("todo_x", "todo_y", "todo_x")), dependsOn("todo_x")), DependenciesInvalid, detail("invalid_todo_ids", ids("todo_x"))},
		{"superseded by itself", demo(among(ids("todo_x", "todo_x")), dependsOn("todo_x")), DependenciesInvalid, detail("invalid_todo_ids", ids("todo_x"))},
		{"superseded by the one that waits", demo(self, dependsOn("todo_x")), DependenciesInvalid,
			detail("invalid_todo_ids", ids("todo_x"), "cycle", ids("todo_a", "todo_x", "todo_a"))},
		{"to be resumed", demo(among(), resumesAt(later)), DependenciesPending, detail("resume_at", later)},
		{"to be resumed now", demo(among(), resumesAt(now)), DependenciesReady, nil},
		{"open and to be resumed", demo(among(), dependsOn("todo_b"), resumesAt(later)), DependenciesPending,
			detail("pending_todo_ids", ids("todo_b"), "resume_at", later)},
		{"unknown and to be resumed", demo(among(), dependsOn("todo_z"), resumesAt(later)), DependenciesInvalid, detail("invalid_todo_ids", ids("todo_z"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.state.Dependencies(testAt); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			err := c.state.CheckDependencies(testAt)
			wantCode(t, Decision{}, err, map[DependencyState]Code{DependenciesPending: CodeDependencyPending, DependenciesInvalid: CodeDependencyInvalid}[c.want])
			if c.want != DependenciesReady {
				if diff := cmp.Diff(c.detail, AsRefusal(err).Detail); diff != "" || AsRefusal(err).Status != Rejected {
					t.Errorf("%s: %s", AsRefusal(err).Status, diff)
				}
			}
		})
	}
	if err := demo(absent).CheckDependencies(testAt); err != nil {
		t.Errorf("no Todo waits: %v", err)
	}
}

// Work that waits is not completed, and nothing is decided.
func TestCompleteWaits(t *testing.T) {
	for name, c := range map[string]struct {
		state State
		want  Code
	}{
		"open":    {demo(among(), dependsOn("todo_b")), CodeDependencyPending},
		"unknown": {demo(among(), dependsOn("todo_z")), CodeDependencyInvalid},
		"done":    {demo(among(), dependsOn("todo_d")), ""},
	} {
		d, err := decideComplete(c.state, by("agent-a"), CompleteArgs{}, nil, testAt)
		t.Run(name, func(t *testing.T) { wantCode(t, d, err, c.want) })
	}
}

func TestDependenciesToBe(t *testing.T) {
	todos := beside(ids("todo_x", "todo_y", "todo_b"), ids("todo_v", "todo_a"))
	for id, deps := range map[ID][]ID{"todo_a": nil, "todo_b": ids("todo_c"), "todo_c": ids("todo_a", "todo_d"), "todo_d": ids("todo_w"), "todo_w": nil} {
		d := vectorTodo()
		d.ID, d.DependsOn = id, deps
		if was, ok := todos[id]; ok {
			d.Status = was.Status
		}
		todos[id] = d
	}
	for _, c := range []struct {
		name   string
		self   ID
		there  bool
		on     []ID
		reason string
		detail map[string]any // nil: no refusal
	}{
		{"nothing", "todo_a", true, nil, "", nil},
		{"done and open", "todo_a", true, ids("todo_d", "todo_w"), "", nil},
		{"a new one on what waits for others", "todo_new", false, ids("todo_b", "todo_x"), "", nil},
		{"a new one on itself", "todo_new", false, ids("todo_new"), "todo todo_new: cannot wait for todo_new, which is the Todo itself",
			detail("invalid_todo_ids", ids("todo_new"), "cycle", ids("todo_new", "todo_new"))},
		{"unknown", "todo_a", true, ids("todo_d", "todo_z"), "todo todo_a: cannot wait for todo_z, which is not in the goal", detail("invalid_todo_ids", ids("todo_z"))},
		{"put away and not done", "todo_new", false, ids("todo_f"), "todo todo_new: cannot wait for todo_f, which is archived and not done",
			detail("invalid_todo_ids", ids("todo_f"))},
		{"itself", "todo_a", true, ids("todo_a"), "todo todo_a: cannot wait for todo_a, which is the Todo itself",
			detail("invalid_todo_ids", ids("todo_a"), "cycle", ids("todo_a", "todo_a"))},
		{"a cycle of two", "todo_a", true, ids("todo_c"), "todo todo_a: cannot wait for todo_c, which waits for it",
			detail("invalid_todo_ids", ids("todo_c"), "cycle", ids("todo_a", "todo_c", "todo_a"))},
		{"a cycle of three", "todo_a", true, ids("todo_b"), "todo todo_a: cannot wait for todo_b, which waits for it",
			detail("invalid_todo_ids", ids("todo_b"), "cycle", ids("todo_a", "todo_b", "todo_c", "todo_a"))},
		{"the shortest of two cycles", "todo_a", true, ids("todo_b", "todo_c"), "todo todo_a: cannot wait for todo_c, which waits for it",
			detail("invalid_todo_ids", ids("todo_c"), "cycle", ids("todo_a", "todo_c", "todo_a"))},
		{"a cycle through what was superseded", "todo_a", true, ids("todo_x"), "todo todo_a: cannot wait for todo_x, which waits for it",
			detail("invalid_todo_ids", ids("todo_x"), "cycle", ids("todo_a", "todo_x", "todo_y", "todo_b", "todo_c", "todo_a"))},
		{"what it took the place of", "todo_a", true, ids("todo_v"), "todo todo_a: cannot wait for todo_v, which was superseded by the Todo itself",
			detail("invalid_todo_ids", ids("todo_v"), "cycle", ids("todo_a", "todo_v", "todo_a"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := judgeDependencies(c.self, c.there, c.on, todos.link).check()
			if c.detail == nil {
				wantCode(t, Decision{}, err, "")
				return
			}
			wantCode(t, Decision{}, err, CodeDependencyInvalid)
			if r := AsRefusal(err); r.Reason != c.reason || cmp.Diff(c.detail, r.Detail) != "" {
				t.Errorf("got %q %v, want %q %v", r.Reason, r.Detail, c.reason, c.detail)
			}
		})
	}
}

// graphs draws Todos that depend on and were superseded by each other in any way, todo_0 among them.
func graphs() *rapid.Generator[Following] {
	return rapid.Custom(func(t *rapid.T) Following {
		n := rapid.IntRange(1, 9).Draw(t, "todos")
		id := rapid.Custom(func(t *rapid.T) ID { return ID(fmt.Sprintf("todo_%d", rapid.IntRange(0, n).Draw(t, "id"))) }) // todo_n is not there
		f := Following{}
		for i := range n {
			todo := vectorTodo()
			todo.ID = ID(fmt.Sprintf("todo_%d", i))
			todo.Status = rapid.SampledFrom([]WorkStatus{Open, Done, Done, Deferred}).Draw(t, "status")
			if rapid.IntRange(0, 4).Draw(t, "away") == 0 {
				todo.ArchiveState = Archived
			}
			todo.DependsOn = SetOf(rapid.SliceOfN(id, 0, 3).Draw(t, "depends on"))
			if rapid.IntRange(0, 2).Draw(t, "superseded") == 0 {
				todo.SupersededBy = id.Draw(t, "by")
			}
			f[todo.ID] = todo
		}
		return f
	})
}

// naiveDependency says where a dependency stands, by walking the chain of those that took its place for as long as one
// without a circle could be.
func naiveDependency(self, id ID, todos Following) DependencyState {
	if id == self {
		return DependenciesInvalid
	}
	for range len(todos) {
		t, ok := todos[id]
		switch {
		case !ok:
			return DependenciesInvalid
		case t.SupersededBy != "":
			id = t.SupersededBy
		case id == self:
			return DependenciesInvalid
		case t.Status == Done:
			return DependenciesReady
		case t.ArchiveState == Archived:
			return DependenciesInvalid
		default:
			return DependenciesPending
		}
	}
	return DependenciesInvalid
}

// naiveDependencies is the worst of a Todo's dependencies; a time that is ahead is pending.
func naiveDependencies(t Todo, todos Following, at Instant) DependencyState {
	state := DependenciesReady
	if t.ResumeAt > at {
		state = DependenciesPending
	}
	for _, id := range t.DependsOn {
		switch naiveDependency(t.ID, id, todos) {
		case DependenciesInvalid:
			return DependenciesInvalid
		case DependenciesPending:
			state = DependenciesPending
		}
	}
	return state
}

// A Todo's dependencies are as done as the worst of them.
func TestDependenciesAreTheWorst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		todos := graphs().Draw(t, "todos")
		for _, id := range slices.Sorted(maps.Keys(todos)) {
			todo := todos[id]
			todo.ResumeAt = rapid.SampledFrom([]Instant{"", "2026-09-14T07:59:59Z", testAt, "2026-09-14T08:00:01Z"}).Draw(t, "resume at")
			s := State{Todo: &todo, Others: todos}
			if got, want := s.Dependencies(testAt), naiveDependencies(todo, todos, testAt); got != want {
				t.Fatalf("%s: got %s, want %s", id, got, want)
			}
		}
	})
}

// A Todo gets the dependencies it is to have exactly if none of them is invalid by itself and none leads back to it, and a
// refusal shows a way that is there.
func TestCycleIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		todos := graphs().Draw(t, "todos")
		self := ID("todo_0")
		on := SetOf(rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(todos))), 0, 3).Draw(t, "on"))

		reached := map[ID]bool{} // whatever on leads to, by adding what is one step further until nothing new is found
		for _, id := range on {
			reached[id] = true
		}
		for before := -1; before != len(reached); {
			before = len(reached)
			for id := range maps.Clone(reached) {
				for _, next := range linkOf(todos[id]).next {
					reached[next] = true
				}
			}
		}
		bad := reached[self]
		for _, id := range on {
			bad = bad || naiveDependency(self, id, todos) == DependenciesInvalid
		}
		err := judgeDependencies(self, true, on, todos.link).check()
		if (err != nil) != bad || err != nil && CodeOf(err) != CodeDependencyInvalid {
			t.Fatalf("got %v, and what is wrong is %v", err, bad)
		}
		if err == nil {
			return
		}
		cycle, ok := AsRefusal(err).Detail["cycle"].([]ID)
		if !ok {
			return
		}
		if cycle[0] != self || cycle[len(cycle)-1] != self || !slices.Contains(on, cycle[1]) {
			t.Fatalf("the cycle %v is none of %s on %v", cycle, self, on)
		}
		for i := 1; i+1 < len(cycle); i++ {
			if !slices.Contains(linkOf(todos[cycle[i]]).next, cycle[i+1]) {
				t.Fatalf("the cycle %v has a step from %s that is not there", cycle, cycle[i])
			}
		}
	})
}

// A long chain is followed once, whoever waits for its members, and does not nest calls.
func TestLongChains(t *testing.T) {
	const n = 10_000
	name := func(i int) ID { return ID(fmt.Sprintf("todo_%d", i)) }
	looked := 0
	var chain links = func(id ID) (link, bool) { // each leads to the next, the last back to the first
		looked++
		var i int
		fmt.Sscanf(string(id), "todo_%d", &i)
		return link{next: ids(name((i + 1) % n))}, true
	}
	err := judgeDependencies(name(0), true, ids(name(1)), chain).check()
	wantCode(t, Decision{}, err, CodeDependencyInvalid)
	if cycle := AsRefusal(err).Detail["cycle"].([]ID); len(cycle) != n+1 || looked > 2*n {
		t.Errorf("a cycle of %d was found as %d by looking up %d", n, len(cycle), looked)
	}

	looked = 0
	superseded := follower{todos: func(id ID) (link, bool) {
		l, ok := chain(id)
		l.superseded, l.done = l.next[0] != name(0), true
		return l, ok
	}}
	for i := range n {
		if e := superseded.on("todo_self", name(i)); e != (ending{name(n - 1), DependenciesReady}) {
			t.Fatalf("the chain from %d ends in %v", i, e)
		}
	}
	if looked > n {
		t.Errorf("a chain of %d was followed by looking up %d", n, looked)
	}
}
