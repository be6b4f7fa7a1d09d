package todo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// after makes the Todos that work goes on in: id, then the ids that it names as successors.
func after(chains ...[]ID) Following {
	f := Following{}
	for _, c := range chains {
		t := vectorTodo()
		t.ID, t.SuccessorTodoIDs = c[0], c[1:]
		f[t.ID] = t
	}
	return f
}

func TestCompleteChecks(t *testing.T) {
	next := func(ids ...ID) CompleteArgs { return CompleteArgs{Successors: ids} }
	for _, c := range []struct {
		name  string
		state State
		args  CompleteArgs
		after Following
		actor AgentID
		want  Code
	}{
		{"mine", demo(), CompleteArgs{}, nil, "agent-a", ""},
		{"a user's, unclaimed", demo(ofUser, claimedBy("")), CompleteArgs{}, nil, "agent-b", ""},
		{"a user's, claimed by another, where leases are needed", demo(ofUser, hardLease), CompleteArgs{}, nil, "agent-b", ""},
		{"with a successor", demo(), next("todo_b"), after([]ID{"todo_b", "todo_c"}, []ID{"todo_c"}), "agent-a", ""},
		{"with a successor whose chain ends nowhere", demo(), next("todo_b"), after([]ID{"todo_b", "todo_gone"}), "agent-a", ""},
		{"two successors with one common end", demo(), next("todo_b", "todo_c"), after([]ID{"todo_b", "todo_d"}, []ID{"todo_c", "todo_d"}, []ID{"todo_d"}), "agent-a", ""},
		{"not there", demo(absent), CompleteArgs{}, nil, "agent-a", CodeTodoNotFound},
		{"archived and done", demo(archived, inStatus(Done)), CompleteArgs{}, nil, "agent-a", CodeTodoArchived},
		{"done", demo(inStatus(Done), excludes("agent-a")), CompleteArgs{}, nil, "agent-a", CodeTodoNotOpen},
		{"blocked", demo(inStatus(Blocked)), CompleteArgs{}, nil, "agent-a", CodeTodoNotOpen},
		{"excluded", demo(excludes("agent-b")), CompleteArgs{}, nil, "agent-b", CodeActorExcluded},
		{"bound away", demo(boundTo("agent-a")), CompleteArgs{}, nil, "agent-b", CodeBoundAgentMismatch},
		{"another's", demo(hardLease), CompleteArgs{}, nil, "agent-b", CodeClaimOwnerMismatch},
		{"unclaimed", demo(claimedBy("")), CompleteArgs{}, nil, "agent-a", CodeClaimOwnerMismatch},
		{"leases are needed", demo(hardLease), next("todo_b"), nil, "agent-a", CodeModeRequiresLease},
		{"unknown successor", demo(), next("todo_b"), nil, "agent-a", CodeSuccessorNotFound},
		{"its own successor", demo(), next("todo_a"), after([]ID{"todo_a"}), "agent-a", CodeSuccessorCycle},
		{"a successor that leads back", demo(), next("todo_b"), after([]ID{"todo_b", "todo_c"}, []ID{"todo_c", "todo_a"}, []ID{"todo_a"}), "agent-a", CodeSuccessorCycle},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideComplete(c.state, by(c.actor), c.args, c.after, testAt)
			wantCode(t, d, err, c.want)
			if err == nil && (d.Todos[0].Status != Done || d.Todos[0].CompletedAt != testAt) {
				t.Errorf("got %+v", d.Todos)
			}
		})
	}
}

func TestSupersedeChecks(t *testing.T) {
	chain := func(id, by ID) Following {
		f := after([]ID{id})
		x := f[id]
		x.SupersededBy = by
		f[id] = x
		return f
	}
	for _, c := range []struct {
		name  string
		state State
		after Following
		actor AgentID
		want  Code
	}{
		{"mine", demo(), after([]ID{"todo_b"}), "agent-a", ""},
		{"unclaimed, by any agent, where leases are needed", demo(claimedBy(""), hardLease), after([]ID{"todo_b"}), "agent-b", ""},
		{"a user's", demo(ofUser), after([]ID{"todo_b"}), "agent-b", ""},
		{"another's", demo(), after([]ID{"todo_b"}), "agent-b", CodeClaimOwnerMismatch},
		{"leases are needed", demo(hardLease), after([]ID{"todo_b"}), "agent-a", CodeModeRequiresLease},
		{"done", demo(inStatus(Done)), after([]ID{"todo_b"}), "agent-a", CodeTodoNotOpen},
		{"archived", demo(archived), after([]ID{"todo_b"}), "agent-a", CodeTodoArchived},
		{"excluded", demo(claimedBy(""), excludes("agent-b")), after([]ID{"todo_b"}), "agent-b", CodeActorExcluded},
		{"by an unknown one", demo(), nil, "agent-a", CodeSuccessorNotFound},
		{"by one that this one took the place of", demo(), chain("todo_b", "todo_a"), "agent-a", CodeSuccessorCycle},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideSupersede(c.state, by(c.actor), SupersedeArgs{By: "todo_b"}, c.after, testAt)
			wantCode(t, d, err, c.want)
			if err == nil && (d.Todos[0].Status != Done || d.Todos[0].SupersededBy != "todo_b") {
				t.Errorf("got %+v", d.Todos)
			}
		})
	}
	_, err := decideSupersede(demo(), by("agent-a"), SupersedeArgs{By: "todo_a"}, after([]ID{"todo_a"}), testAt)
	wantCode(t, Decision{}, err, CodeSuccessorCycle)
}

func TestCycleIsShown(t *testing.T) {
	_, err := decideComplete(demo(), by("agent-a"), CompleteArgs{Successors: []ID{"todo_b", "todo_c"}},
		after([]ID{"todo_b"}, []ID{"todo_c", "todo_d"}, []ID{"todo_d", "todo_b", "todo_a"}), testAt)
	if diff := cmp.Diff([]ID{"todo_a", "todo_c", "todo_d", "todo_a"}, AsRefusal(err).Detail["cycle"]); diff != "" {
		t.Error(diff)
	}
}

func TestReopen(t *testing.T) {
	finished := func(s *State) {
		s.Todo.Status, s.Todo.CompletedAt = Done, "2026-09-13T12:00:00Z"
		s.Todo.Reason, s.Todo.Evidence, s.Todo.SuccessorTodoIDs = "measured", "log", []ID{"todo_b"}
	}
	for _, c := range []struct {
		name    string
		state   State
		actor   AgentID
		want    Code
		changed bool
		owner   AgentID
	}{
		{"open and active", demo(excludes("agent-b")), "agent-b", "", false, ""},
		{"my done work keeps its claim", demo(finished), "agent-a", "", true, "agent-a"},
		{"another's done work loses it", demo(finished, archived), "agent-b", "", true, ""},
		{"my blocked work, where leases are needed", demo(inStatus(Blocked), hardLease), "agent-a", "", true, "agent-a"},
		{"deferred and put away", demo(inStatus(Deferred), claimedBy(""), archived), "agent-b", "", true, ""},
		{"not there", demo(absent), "agent-a", CodeTodoNotFound, false, ""},
		{"superseded", demo(finished, supersededBy("todo_b"), excludes("agent-a")), "agent-a", CodeTodoSuperseded, false, ""},
		{"excluded", demo(finished, excludes("agent-b")), "agent-b", CodeActorExcluded, false, ""},
		{"another's blocked work", demo(inStatus(Blocked)), "agent-b", CodeClaimOwnerMismatch, false, ""},
		{"another's deferred work", demo(inStatus(Deferred)), "agent-b", CodeClaimOwnerMismatch, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideReopen(c.state, "todo_a", ReopenArgs{}, c.actor, testAt)
			wantCode(t, d, err, c.want)
			if d.Changes() != c.changed {
				t.Fatalf("got %+v", d)
			}
			if !c.changed {
				return
			}
			want := vectorTodo().touched(c.actor, testAt)
			want.ClaimedBy = c.owner
			want.Evidence, want.ExcludedAgents = c.state.Todo.Evidence, c.state.Todo.ExcludedAgents
			if diff := cmp.Diff([]Todo{want}, d.Todos); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A Todo that is completed without evidence and opened again has the fingerprint it had.
func TestReopenGivesBackTheFingerprint(t *testing.T) {
	s := demo()
	d, err := decideComplete(s, by("agent-a"), CompleteArgs{Reason: "measured", Successors: []ID{"todo_b"}}, after([]ID{"todo_b"}), testAt)
	if err != nil {
		t.Fatal(err)
	}
	s.Todo = &d.Todos[0]
	if d, err = decideReopen(s, "todo_a", ReopenArgs{}, "agent-a", testAt); err != nil {
		t.Fatal(err)
	}
	if got, want := TodoFacts(d.Todos[0]), TodoFacts(vectorTodo()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestLifecycleArguments(t *testing.T) {
	complete := func(a CompleteArgs) error { _, err := a.check(); return err }
	for name, err := range map[string]error{
		"successor by prefix": complete(CompleteArgs{Successors: []ID{"b"}}),
		"blank evidence":      complete(CompleteArgs{Evidence: " "}),
		"no replacement":      SupersedeArgs{}.check(),
		"blank reason":        ReopenArgs{Reason: "\u2003"}.check(),
	} {
		if CodeOf(err) != CodeInvalidLifecycle {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestArchive(t *testing.T) {
	for _, c := range []struct {
		name    string
		state   State
		want    Code
		changed bool
	}{
		{"done", demo(inStatus(Done)), "", true},
		{"deferred and unclaimed", demo(inStatus(Deferred), claimedBy("")), "", true},
		{"archived already", demo(archived), "", false},
		{"deferred and claimed", demo(inStatus(Deferred)), CodeTodoNotDone, false},
		{"open", demo(claimedBy("")), CodeTodoNotDone, false},
		{"blocked", demo(inStatus(Blocked), claimedBy("")), CodeTodoNotDone, false},
		{"not there", demo(absent), CodeTodoNotFound, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideArchive(c.state, "todo_a", "agent-b", testAt)
			wantCode(t, d, err, c.want)
			if d.Changes() != c.changed || c.changed && d.Todos[0].ArchiveState != Archived {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestSurplusKeepsTheNewest(t *testing.T) {
	done := []doneTodo{{"todo_a", "2"}, {"todo_b", "1"}, {"todo_c", "2"}, {"todo_d", "3"}}
	for keep, want := range map[int][]ID{
		0: {"todo_a", "todo_b", "todo_c", "todo_d"},
		2: {"todo_a", "todo_b"},
		3: {"todo_b"},
		4: nil,
		9: nil,
	} {
		if diff := cmp.Diff(want, surplus(done, keep)); diff != "" {
			t.Errorf("keep %d: %s", keep, diff)
		}
	}
	if err := (ArchiveCompletedArgs{MaxActiveDone: -1}).check(); CodeOf(err) != CodeInvalidArchive {
		t.Errorf("got %v", err)
	}
}
