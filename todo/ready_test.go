package todo

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-loopx/git-loopx/gitstore"
)

// rowsOf are the rows of Todos, by path as a table has them, and with damaged ones.
func rowsOf(t interface{ Fatal(...any) }, todos []Todo, damaged ...ID) []gitstore.Row {
	var rows []gitstore.Row
	for _, todo := range todos {
		b, err := EncodeTodo(todo)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, makeRow(TodoPath(todo.ID), b))
	}
	for _, id := range damaged {
		rows = append(rows, makeRow(TodoPath(id), []byte("{}\n")))
	}
	slices.SortFunc(rows, func(a, b gitstore.Row) int { return cmp.Compare(a.Name, b.Name) })
	return rows
}

// live is an active lease that is live for everybody.
func live(owner AgentID) Holding {
	return Holding{Owner: owner, Active: true, Live: true, LiveToOthers: true}
}

func TestReadyHolds(t *testing.T) {
	over := Holding{Owner: "agent-b", Active: true}
	skewed := Holding{Owner: "agent-b", Active: true, LiveToOthers: true}
	free := claimedBy("")
	for _, c := range []struct {
		name  string
		agent AgentID
		state State
		lease Holding
		want  Code
	}{
		{"free", "agent-a", demo(free), Holding{}, ""},
		{"free, for nobody", "", demo(free), Holding{}, ""},
		{"mine", "agent-a", demo(), Holding{}, ""},
		{"another's", "agent-b", demo(), Holding{}, CodeClaimOwnerMismatch},
		{"another's, for nobody", "", demo(), Holding{}, CodeClaimOwnerMismatch},
		{"a user's", "agent-a", demo(ofUser, inStatus(Blocked)), Holding{}, CodeTodoNotAgent},
		{"blocked", "agent-a", demo(inStatus(Blocked)), Holding{}, CodeTodoNotOpen},
		{"deferred, another's", "agent-b", demo(inStatus(Deferred)), Holding{}, CodeTodoNotOpen},
		{"leased by me", "agent-b", demo(free), live("agent-b"), ""},
		{"leased by another", "agent-c", demo(free), live("agent-b"), CodeLeaseConflict},
		{"leased, for nobody", "", demo(free), live("agent-b"), CodeLeaseConflict},
		{"leased by another and waiting", "agent-c", demo(free, dependsOn("todo_b")), live("agent-b"), CodeLeaseConflict},
		{"mine, leased by another", "agent-a", demo(), live("agent-b"), ""},
		{"leased by one who is gone", "agent-c", demo(free, unregistered("agent-b")), live("agent-b"), ""},
		{"leased by one who is excluded", "agent-c", demo(free, excludes("agent-b")), live("agent-b"), ""},
		{"leased by another until now", "agent-c", demo(free), over, ""},
		{"leased by another until now, by a clock that may be wrong", "agent-c", demo(free), skewed, CodeLeaseConflict},
		{"leased by me until now, by a clock that may be wrong", "agent-b", demo(free), skewed, ""},
		{"waiting", "agent-a", demo(dependsOn("todo_b")), Holding{}, CodeDependencyPending},
		{"waiting no more", "agent-a", demo(dependsOn("todo_d", "todo_e")), Holding{}, ""},
		{"waiting for what is not there, excluded", "agent-a", demo(dependsOn("todo_z"), excludes("agent-a")), Holding{}, CodeDependencyInvalid},
		{"waiting for itself", "agent-a", demo(dependsOn("todo_a")), Holding{}, CodeDependencyInvalid},
		{"waiting for what was superseded by an open one", "agent-a", demo(dependsOn("todo_x")), Holding{}, CodeDependencyPending},
		{"waiting for what was superseded by a done one", "agent-a", demo(dependsOn("todo_y")), Holding{}, ""},
		{"waiting for a record that cannot be read", "agent-a", demo(dependsOn("todo_damaged")), Holding{}, CodeDependencyInvalid},
		{"to be resumed, bound to another", "agent-b", demo(free, resumesAt("2026-09-14T08:00:01Z"), boundTo("agent-c")), Holding{}, CodeDependencyPending},
		{"to be resumed now", "agent-b", demo(free, resumesAt(testAt)), Holding{}, ""},
		{"excluded and bound to another", "agent-b", demo(free, excludes("agent-b"), boundTo("agent-c")), Holding{}, CodeActorExcluded},
		{"bound to another", "agent-b", demo(free, boundTo("agent-c")), Holding{}, CodeBoundAgentMismatch},
		{"bound to me", "agent-b", demo(free, boundTo("agent-b")), Holding{}, ""},
		{"bound to somebody, for nobody", "", demo(free, boundTo("agent-b")), Holding{}, CodeBoundAgentMismatch},
		{"never confirmed, bound to another", "agent-b", demo(free, confirmed(""), boundTo("agent-c")), Holding{}, CodeBoundAgentMismatch},
		{"never confirmed", "agent-b", demo(free, confirmed("")), Holding{}, CodeAcceptanceUnbound},
		{"confirmed as it was", "agent-b", demo(free, confirmed("0")), Holding{}, CodeAcceptanceStale},
		{"confirmed", "agent-b", demo(free, confirmed(WorkDigest(vectorTodo()))), Holding{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			todos := []Todo{*c.state.Todo}
			for _, other := range beside(ids("todo_x", "todo_b"), ids("todo_y", "todo_d")) {
				todos = append(todos, other)
			}
			rows := rowsOf(t, todos, "todo_damaged")
			q := newQueue(c.state.Goal, c.agent, testAt, rows, map[ID]Holding{"todo_a": c.lease}, nil)
			ready, rest, err := q.split(true)
			if err != nil {
				t.Fatal(err)
			}
			got := Code("neither ready nor held")
			for _, e := range ready {
				if e.TodoID() == "todo_a" {
					got = ""
				}
			}
			for _, h := range rest {
				if h.TodoID() == "todo_a" {
					got = h.code
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// confirmed holds all Todos until they are confirmed, and todo_a was, as it read with that digest; "" is never.
func confirmed(digest string) func(*State) {
	return func(s *State) {
		s.Goal.Acceptance = &Acceptance{Enabled: true, Scope: HoldAll}
		if digest != "" {
			s.Goal.Acceptance.Bindings = map[ID]string{"todo_a": digest}
		}
	}
}

// looking is a goal in which an agent looks for work.
type looking struct {
	goal    Goal
	agent   AgentID
	todos   Following
	damaged []ID
	leases  map[ID]Holding
	unread  map[ID]*Refusal
}

func lookings() *rapid.Generator[looking] {
	return rapid.Custom(func(t *rapid.T) looking {
		agents := rapid.SampledFrom([]AgentID{"", "agent-a", "agent-b", "agent-c"})
		instants := rapid.SampledFrom([]Instant{"", "2026-09-14T07:59:59Z", testAt, "2026-09-14T08:00:01Z"})
		l := looking{goal: demo().Goal, agent: agents.Draw(t, "agent"), todos: graphs().Draw(t, "todos"), leases: map[ID]Holding{}, unread: map[ID]*Refusal{}}
		if rapid.Bool().Draw(t, "b is gone") {
			l.goal.Agents = slices.DeleteFunc(l.goal.Agents, func(a Agent) bool { return a.ID == "agent-b" })
		}
		hold := Acceptance{Enabled: rapid.Bool().Draw(t, "hold"), Scope: HoldAll, Bindings: map[ID]string{}}
		for _, id := range slices.Sorted(maps.Keys(l.todos)) {
			todo := l.todos[id]
			todo.Role = rapid.SampledFrom([]Role{RoleAgent, RoleAgent, RoleUser}).Draw(t, "role")
			todo.Priority = rapid.SampledFrom([]string{"", "P0", "P4"}).Draw(t, "priority")
			todo.CreatedAt = rapid.SampledFrom([]Instant{"", "2026-09-13T10:00:00Z", "2026-09-13T10:00:01Z"}).Draw(t, "created")
			todo.ClaimedBy, todo.BoundAgent, todo.ResumeAt = agents.Draw(t, "owner"), agents.Draw(t, "bound"), instants.Draw(t, "resume at")
			if a := agents.Draw(t, "excluded"); a != "" {
				todo.ExcludedAgents = []AgentID{a}
			}
			l.todos[id] = todo
			if a := agents.Draw(t, "leased"); a != "" {
				l.leases[id] = Holding{Owner: a, Live: rapid.Bool().Draw(t, "live"), LiveToOthers: rapid.Bool().Draw(t, "live to others")}
			}
			switch rapid.IntRange(0, 4).Draw(t, "confirmed") {
			case 0:
				hold.Bindings[id] = WorkDigest(vectorTodo())
			case 1, 2:
				hold.Bindings[id] = WorkDigest(todo)
			}
			switch rapid.IntRange(0, 9).Draw(t, "damaged") {
			case 0:
				l.damaged = append(l.damaged, id)
				delete(l.todos, id)
			case 1:
				l.unread[id] = Fail(CodeUnsupportedSchema, "lease on %s", id)
			}
		}
		if rapid.Bool().Draw(t, "acceptance") {
			l.goal.Acceptance = &hold
		}
		return l
	})
}

// naiveHold says why a Todo is not ready, in the words of the rules for one Todo.
func (l looking) naiveHold(t Todo) Code {
	s := State{Goal: l.goal, Todo: &t, Lease: l.leases[t.ID]}
	waits := map[DependencyState]Code{DependenciesPending: CodeDependencyPending, DependenciesInvalid: CodeDependencyInvalid}
	switch {
	case l.unread[t.ID] != nil:
		return l.unread[t.ID].Code
	case t.Role != RoleAgent:
		return CodeTodoNotAgent
	case t.Status != Open:
		return CodeTodoNotOpen
	case t.ClaimedBy != "" && t.ClaimedBy != l.agent:
		return CodeClaimOwnerMismatch
	case s.Lease.ForeignTo(l.agent) && s.EffectiveFor(l.agent):
		return CodeLeaseConflict
	}
	return cmp.Or(waits[naiveDependencies(t, l.todos, testAt)], CodeOf(Admit(t, l.agent)), CodeOf(s.CheckAcceptance()))
}

// What is ready is what no rule holds, in the order of a list; all else that is neither done nor put away is held by the
// first rule that says so, in the same order.
func TestReadyIsWhatNothingHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := lookings().Draw(t, "goal")
		var todos []Todo
		for _, todo := range l.todos {
			todos = append(todos, todo)
		}
		slices.SortFunc(todos, func(a, b Todo) int {
			return cmp.Or(cmp.Compare(cmp.Or(a.Priority, "P9"), cmp.Or(b.Priority, "P9")), cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
		})
		var wantReady []ID
		var wantHeld []Held
		for _, todo := range todos {
			if todo.Status == Done || todo.ArchiveState == Archived {
				continue
			}
			if code := l.naiveHold(todo); code != "" {
				wantHeld = append(wantHeld, Held{todo.ID, code})
			} else {
				wantReady = append(wantReady, todo.ID)
			}
		}
		slices.Sort(l.damaged)
		for _, id := range l.damaged {
			wantHeld = append(wantHeld, Held{id, CodeInvalidProjection})
		}

		rows := rowsOf(t, todos, l.damaged...)
		for _, explain := range []bool{true, false} {
			ready, rest, err := newQueue(l.goal, l.agent, testAt, rows, l.leases, l.unread).split(explain)
			if err != nil {
				t.Fatal(err)
			}
			var gotReady []ID
			for _, e := range firstOf(ready, 0) {
				gotReady = append(gotReady, e.TodoID())
			}
			if d := diff.Diff(wantReady, gotReady); d != "" {
				t.Fatalf("ready: %s", d)
			}
			var gotHeld []Held
			for _, h := range rest {
				gotHeld = append(gotHeld, Held{h.TodoID(), h.code})
			}
			if !explain {
				wantHeld = nil
			}
			if d := diff.Diff(wantHeld, gotHeld); d != "" {
				t.Fatalf("held: %s", d)
			}
		}
	})
}

// Many Todos that wait for members of one long chain cost no more than the chain and they.
func TestReadyFollowsALongChainOnce(t *testing.T) {
	const n = 5_000
	todos := make([]Todo, 0, 2*n)
	name := func(kind string, i int) ID {
		return ID(kind + string([]byte{byte('a' + i/676%26), byte('a' + i/26%26), byte('a' + i%26)}))
	}
	for i := range n {
		chain, waits := vectorTodo(), vectorTodo()
		chain.ID, chain.Status = name("todo_chain", i), Done
		if i+1 < n {
			chain.SupersededBy = name("todo_chain", i+1)
		}
		waits.ID, waits.ClaimedBy, waits.DependsOn = name("todo_waits", i), "", ids(chain.ID)
		todos = append(todos, chain, waits)
	}
	q := newQueue(demo().Goal, "agent-a", testAt, rowsOf(t, todos), nil, nil)
	looked := 0
	q.chains.todos = func(id ID) (link, bool) {
		looked++
		return q.todos.link(id)
	}
	ready, _, err := q.split(false)
	if err != nil || len(ready) != n || looked > n {
		t.Errorf("%d are ready after looking up %d, %v", len(ready), looked, err)
	}
}

// A row that is damaged is an error and no answer.
func TestReadyOfADamagedRow(t *testing.T) {
	a, b := vectorTodo(), vectorTodo()
	a.DependsOn = ids("todo_b")
	b.ID, b.Status, b.SupersededBy = "todo_b", Done, "todo_c"
	rows := rowsOf(t, []Todo{a, b})
	for i := range rows {
		damaged := slices.Clone(rows)
		damaged[i].Data = damaged[i].Data[:len(damaged[i].Data)/4]
		if _, _, err := newQueue(demo().Goal, "agent-a", testAt, damaged, nil, nil).split(true); err != errRow {
			t.Errorf("%s: got %v, want %v", rows[i].Name, err, errRow)
		}
	}
}
