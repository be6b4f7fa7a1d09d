package todo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestModeBesideLeases(t *testing.T) {
	g := demo(hardLease).Goal
	live := []ActiveLease{{"todo_b", "agent-b", "2026-09-14T09:00:00Z", 3}}
	claimed := []ClaimedTodo{{"todo_a", "agent-a", Blocked}}
	for _, c := range []struct {
		name    string
		to      Mode
		claimed []ClaimedTodo
		live    []ActiveLease
		want    Code
		changes bool
	}{
		{"nothing is held", SoftClaim, nil, nil, "", true},
		{"the same mode, whatever is held", HardLease, claimed, live, "", false},
		{"a lease is live", SoftClaim, nil, live, CodeModeNotQuiescent, false},
		{"a claim is there", SoftClaim, claimed, nil, CodeModeNotQuiescent, false},
		{"both", SoftClaim, claimed, live, CodeModeNotQuiescent, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideMode(g, c.to, c.claimed, c.live)
			wantCode(t, d, err, c.want)
			if d.Changes() != c.changes {
				t.Errorf("got %+v", d)
			}
			if err != nil {
				want := map[string]any{"claimed_todos": append([]ClaimedTodo{}, c.claimed...), "active_leases": append([]ActiveLease{}, c.live...)}
				if diff := cmp.Diff(want, AsRefusal(err).Detail); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// Who is taken from the list keeps claims, and holds leases that are not effective any more: the answer lists both.
func TestRemoveAgentBesideLeases(t *testing.T) {
	g := demo().Goal
	live := []ActiveLease{{"todo_b", "agent-b", "2026-09-14T09:00:00Z", 3}}
	claimed := []ClaimedTodo{{"todo_a", "agent-b", Open}}
	d := decideRemoveAgent(g, "agent-b", claimed, live, []ID{"todo_c"})
	want := AgentResult{AgentID: "agent-b", Changed: true, ClaimedTodos: claimed, ActiveLeases: live, UnreadableTodos: []ID{"todo_c"}}
	if diff := cmp.Diff(want, d.Result); diff != "" || d.Goal.Registered("agent-b") || d.Leases != nil || d.Todos != nil {
		t.Errorf("got %+v: %s", d, diff)
	}
	s := demo(claimedBy("agent-b"), leaseOf("agent-b"))
	if !s.EffectiveFor("agent-a") {
		t.Error("the lease is not effective before")
	}
	s.Goal = *d.Goal
	if s.EffectiveFor("agent-a") || s.EffectiveFor("agent-b") || CodeOf(s.Divergence("todo_a", "agent-a")) != CodeOwnerNotRegistered {
		t.Error("the lease is effective still")
	}
}
