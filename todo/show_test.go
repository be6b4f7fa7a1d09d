package todo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestShowViews(t *testing.T) {
	waiting := func(s *State) { s.Todo.ResumeAt = "2026-09-15T00:00:00Z" }
	needs := func(s *State) { s.Todo.DependsOn = []ID{"todo_gone"} }
	lease := HoldingView{Owner: "agent-a", IdempotencyKey: "execution", Version: 3, Epoch: 2, ExpiresAt: "2026-09-14T09:00:00Z"}
	live := func(active bool, why Code) *HoldingView {
		v := lease
		v.Live, v.Active, v.Reason = true, active, why
		return &v
	}
	for _, c := range []struct {
		name  string
		state State
		lease *HoldingView
		waits DependencyState
		guard GuardState // "" is not shown
		holds []Code
	}{
		{"nothing beside it", demo(), nil, DependenciesReady, "", []Code{}},
		{"my live lease", demo(leaseOf("agent-a")), live(true, ""), DependenciesReady, "", []Code{}},
		{"my lease is over", demo(leaseOf("agent-a", over)), &lease, DependenciesReady, "", []Code{}},
		{"my lease is over, and live to others for a while", demo(leaseOf("agent-a", withinSkew)), live(true, ""), DependenciesReady, "", []Code{}},
		{"my lease is given back", demo(leaseOf("agent-a", givenBack)), &lease, DependenciesReady, "", []Code{}},
		{"live, but its owner left", demo(leaseOf("agent-a"), unregistered("agent-a")), live(false, CodeOwnerNotRegistered), DependenciesReady, "", []Code{}},
		{"live, but the work is done", demo(leaseOf("agent-a"), inStatus(Done)), live(false, CodeTodoNotOpen), DependenciesReady, "", []Code{}},
		{"live, but claimed by another", demo(leaseOf("agent-a"), claimedBy("agent-b")), live(false, CodeOwnerConflictsWithClaim), DependenciesReady, "", []Code{}},
		{"waiting", demo(waiting), nil, DependenciesPending, "", []Code{CodeDependencyPending}},
		{"waiting for what is not there", demo(needs), nil, DependenciesInvalid, "", []Code{CodeDependencyInvalid}},
		{"never confirmed", demo(holding(holdAll)), nil, DependenciesReady, GuardUnbound, []Code{CodeAcceptanceUnbound}},
		{"confirmed", demo(holding(bound(holdAll, vectorWork))), nil, DependenciesReady, GuardReady, []Code{}},
		{"not named", demo(holding(holdOther)), nil, DependenciesReady, "", []Code{}},
		{"both", demo(waiting, holding(bound(holdAll, otherWork))), nil, DependenciesPending, GuardStale, []Code{CodeDependencyPending, CodeAcceptanceStale}},
		{"both, blocked", demo(waiting, holding(holdAll), inStatus(Blocked)), nil, DependenciesPending, GuardUnbound, []Code{CodeDependencyPending, CodeAcceptanceUnbound}},
		{"both, but done", demo(waiting, holding(holdAll), inStatus(Done)), nil, DependenciesPending, GuardUnbound, []Code{}},
		{"both, but put away", demo(waiting, holding(holdAll), archived), nil, DependenciesPending, GuardUnbound, []Code{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := ShowViewOf(c.state, testAt)
			if diff := cmp.Diff(c.lease, v.Lease); diff != "" {
				t.Error(diff)
			}
			var guard GuardState
			if v.Acceptance != nil {
				guard = v.Acceptance.State
			}
			if v.DependencyState != c.waits || guard != c.guard {
				t.Errorf("got %s and %q, want %s and %q", v.DependencyState, guard, c.waits, c.guard)
			}
			if diff := cmp.Diff(c.holds, v.Holds); diff != "" {
				t.Error(diff)
			}
			if v.TodoFacts != TodoFacts(*c.state.Todo) || v.Revision != vectorRevision || v.View.TodoID != "todo_a" || v.Note.State != NoteMissing {
				t.Errorf("got %+v", v)
			}
		})
	}
}

// A claim is not held by what the Todo waits for; its answer says where that stands, however it ended.
func TestClaimShowsTheDependencyState(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{})
	f.add("todo_b", AddArgs{DependsOn: []ID{"todo_a"}})
	f.add("todo_c", AddArgs{ResumeAt: At(f.clock.Add(time.Hour))})
	claim := func(id ID, operation string, dryRun bool) DependencyState {
		t.Helper()
		c := f.call("agent-b", id)
		c.Operation, c.DryRun = operation, dryRun
		return f.must(f.Claim(f.ctx(), c, "")).DependencyState
	}
	for _, c := range []struct {
		what string
		got  DependencyState
		want DependencyState
	}{
		{"waits for nothing", claim("todo_a", "", false), DependenciesReady},
		{"planned", claim("todo_b", "", true), DependenciesPending},
		{"applied", claim("todo_b", "claim-b", false), DependenciesPending},
		{"no change", claim("todo_b", "", false), DependenciesPending},
		{"replayed", claim("todo_b", "claim-b", false), DependenciesPending},
		{"waits for a time", claim("todo_c", "claim-c", false), DependenciesPending},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %q, want %q", c.what, c.got, c.want)
		}
	}
	f.must(f.Complete(f.ctx(), f.call("agent-b", "todo_a"), CompleteArgs{}))
	f.clock = f.clock.Add(time.Hour)
	if got := claim("todo_b", "claim-b", false); got != DependenciesReady {
		t.Errorf("replayed when what it waited for is done: got %q", got)
	}
	if got := claim("todo_c", "claim-c", false); got != DependenciesReady {
		t.Errorf("replayed when the time has come: got %q", got)
	}
	f.put(map[string][]byte{TodoPath("todo_b"): []byte("{}\n")})
	c := f.call("agent-b", "todo_b")
	c.Operation = "claim-b"
	if a := f.must(f.Claim(f.ctx(), c, "")); a.DependencyState != "" || CodeOf(a.Refused) != CodeInvalidProjection {
		t.Errorf("replayed when the record is damaged: got %q, %v", a.DependencyState, a.Refused)
	}
}
