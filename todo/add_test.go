package todo

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddArguments(t *testing.T) {
	many := func(n int) []string {
		var l []string
		for i := range n {
			l = append(l, "l"+strings.Repeat("x", i))
		}
		return l
	}
	for _, c := range []struct {
		name string
		args AddArgs
		want Code
	}{
		{"a text", AddArgs{Text: "x"}, ""},
		{"a text of two lines", AddArgs{Text: "a\nb"}, ""},
		{"for a user", AddArgs{Text: "x", Role: RoleUser}, ""},
		{"no text", AddArgs{}, CodeInvalidAdd},
		{"a blank text", AddArgs{Text: "\u3000"}, CodeInvalidAdd},
		{"another role", AddArgs{Text: "x", Role: "team"}, CodeInvalidAdd},
		{"21 labels", AddArgs{Text: "x", Labels: many(21)}, CodeInvalidAdd},
		{"20 labels and one twice", AddArgs{Text: "x", Labels: append(many(20), "l")}, ""},
		{"an empty label", AddArgs{Text: "x", Labels: []string{""}}, CodeInvalidAdd},
		{"a task class in upper case", AddArgs{Text: "x", TaskClass: "Bug"}, CodeInvalidAdd},
		{"bound to no agent id", AddArgs{Text: "x", BoundAgent: "Agent A"}, CodeInvalidAdd},
		{"excluding no agent id", AddArgs{Text: "x", ExcludedAgents: []AgentID{"-"}}, CodeInvalidAdd},
		{"a scope with wildcards", AddArgs{Text: "x", RequiredWriteScopes: []string{"src/**", "*.go", "?"}}, ""},
		{"a scope with a bracket", AddArgs{Text: "x", RequiredWriteScopes: []string{"a<b"}}, CodeInvalidAdd},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.args.check()
			wantCode(t, Decision{}, err, c.want)
		})
	}
}

func TestAddChecks(t *testing.T) {
	old := vectorTodo()
	old.ID, old.Priority, old.Labels = "todo_old", "P1", []string{"a"}
	free := old
	free.ClaimedBy = ""
	args := func(change func(*AddArgs)) AddArgs {
		a := AddArgs{Role: RoleAgent, Text: old.Text}
		change(&a)
		return a
	}
	same := args(func(*AddArgs) {})
	for _, c := range []struct {
		name     string
		state    State
		args     AddArgs
		given    bool
		siblings []Todo
		want     Code
		exists   ID
	}{
		{"new", demo(absent), same, false, nil, "", ""},
		{"new, id of the caller's choice", demo(absent), same, true, nil, "", ""},
		{"new, claimed by the actor", demo(absent), args(func(a *AddArgs) { a.ClaimedBy = "agent-b" }), false, nil, "", ""},
		{"the id is taken, by a duplicate at that", demo(), same, true, []Todo{vectorTodo()}, CodeTodoExists, ""},
		{"the same again", demo(absent), same, false, []Todo{old}, "", "todo_old"},
		{"the same again, members given", demo(absent), args(func(a *AddArgs) { a.Priority, a.Labels = "P1", []string{"a"} }), false, []Todo{old}, "", "todo_old"},
		{"the same again, the second of two", demo(absent), args(func(a *AddArgs) { a.ClaimedBy = "agent-a" }), false, []Todo{free, old}, "", "todo_old"},
		{"other priority", demo(absent), args(func(a *AddArgs) { a.Priority = "P2" }), false, []Todo{old}, CodeTodoDuplicate, ""},
		{"other labels", demo(absent), args(func(a *AddArgs) { a.Labels = []string{"a", "b"} }), false, []Todo{old}, CodeTodoDuplicate, ""},
		{"other owner", demo(absent), args(func(a *AddArgs) { a.ClaimedBy = "agent-b" }), false, []Todo{old}, CodeTodoDuplicate, ""},
		{"an id of the caller's choice", demo(absent), same, true, []Todo{old}, CodeTodoDuplicate, ""},
		{"claimed for somebody else", demo(absent), args(func(a *AddArgs) { a.ClaimedBy = "agent-a" }), false, nil, CodeClaimActorMismatch, ""},
		{"a user's, claimed", demo(absent), args(func(a *AddArgs) { a.Role, a.ClaimedBy = RoleUser, "agent-b" }), false, nil, CodeTodoNotAgent, ""},
		{"claimed by one who is excluded", demo(absent), args(func(a *AddArgs) {
			a.ClaimedBy, a.ExcludedAgents = "agent-b", []AgentID{"agent-b"}
		}), false, nil, CodeActorExcluded, ""},
		{"claimed, where leases are needed", demo(absent, hardLease), args(func(a *AddArgs) { a.ClaimedBy = "agent-b" }), false, nil, CodeModeRequiresLease, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideAdd(c.state, addRequest{Args: c.args, ID: "todo_new", Given: c.given, Actor: "agent-b", At: testAt, Siblings: c.siblings})
			wantCode(t, d, err, c.want)
			if err != nil {
				return
			}
			result := d.Result.(AddResult)
			if c.exists != "" {
				if d.Changes() || d.Todo != c.exists || !result.AlreadyExists || result.TodoID != c.exists {
					t.Errorf("got %+v", d)
				}
				return
			}
			want := c.args.todo("todo_new").touched("agent-b", testAt)
			want.CreatedBy, want.CreatedAt, want.ClaimedBy = "agent-b", testAt, c.args.ClaimedBy
			if diff := cmp.Diff([]Todo{want}, d.Todos); diff != "" {
				t.Error(diff)
			}
			if (result.Claim != nil) != (c.args.ClaimedBy != "") || !result.Changed {
				t.Errorf("got %+v", result)
			}
		})
	}
}

// Dependencies are judged after what is there already, and before the claim.
func TestAddJudgesDependenciesInTheirTurn(t *testing.T) {
	bad := judgeDependencies("todo_new", false, []ID{"todo_z"}, Following{}.link)
	old := vectorTodo()
	old.ID, old.Priority = "todo_old", "P1"
	for _, c := range []struct {
		name     string
		state    State
		priority string
		siblings []Todo
		want     Code
	}{
		{"the id is taken", demo(), "", nil, CodeTodoExists},
		{"the same again", demo(absent), "P1", []Todo{old}, ""},
		{"a duplicate", demo(absent), "P2", []Todo{old}, CodeTodoDuplicate},
		{"claimed for somebody else", demo(absent), "", nil, CodeDependencyInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := AddArgs{Role: RoleAgent, Text: old.Text, Priority: c.priority, ClaimedBy: "agent-a"}
			d, err := decideAdd(c.state, addRequest{Args: a, ID: "todo_new", Actor: "agent-b", At: testAt, Siblings: c.siblings, Dependencies: bad})
			wantCode(t, d, err, c.want)
		})
	}
}

func TestGoalModeRule(t *testing.T) {
	claimed := []ClaimedTodo{{"todo_a", "agent-a", Open}}
	g := demo(hardLease).Goal
	d, err := decideMode(g, HardLease, claimed, nil)
	wantCode(t, d, err, "")
	if d.Changes() {
		t.Errorf("the same mode changes %+v", d)
	}
	d, err = decideMode(g, SoftClaim, claimed, nil)
	wantCode(t, d, err, CodeModeNotQuiescent)
	if diff := cmp.Diff(map[string]any{"claimed_todos": claimed, "active_leases": []ActiveLease{}}, AsRefusal(err).Detail); diff != "" {
		t.Error(diff)
	}
	d, err = decideMode(g, SoftClaim, nil, nil)
	wantCode(t, d, err, "")
	if d.Goal == nil || d.Goal.HandoffMode != SoftClaim || g.HandoffMode != HardLease {
		t.Errorf("got %+v", d)
	}
	for m, want := range map[Mode]Code{SoftClaim: "", HardLease: "", "legacy": CodeInvalidHandoffMode, "": CodeInvalidHandoffMode} {
		if got := CodeOf(checkMode(m)); got != want {
			t.Errorf("mode %q: got %q, want %q", m, got, want)
		}
	}
}

func TestAgentRules(t *testing.T) {
	g := demo().Goal
	ids := func(g Goal) (l []AgentID) {
		for _, a := range g.Agents {
			l = append(l, a.ID)
		}
		return l
	}
	d := decideAddAgent(g, "agent-aa", "Ada", testAt)
	if diff := cmp.Diff([]AgentID{"agent-a", "agent-aa", "agent-b", "agent-c"}, ids(*d.Goal)); diff != "" {
		t.Error(diff)
	}
	if d := decideAddAgent(g, "agent-a", "", testAt); d.Changes() {
		t.Errorf("added twice: %+v", d)
	}
	d = decideAddAgent(g, "agent-a", "Ada", testAt)
	if d.Goal == nil || d.Goal.Agents[0].Label != "Ada" || g.Agents[0].Label != "" {
		t.Errorf("a new label: %+v, before %+v", d.Goal, g)
	}
	if d := decideAddAgent(*d.Goal, "agent-a", "Ada", testAt); d.Changes() {
		t.Errorf("the same label: %+v", d)
	}
	held := []ClaimedTodo{{"todo_a", "agent-b", Open}}
	d = decideRemoveAgent(g, "agent-b", held, nil, nil)
	if diff := cmp.Diff([]AgentID{"agent-a", "agent-c"}, ids(*d.Goal)); diff != "" {
		t.Error(diff)
	}
	if r := d.Result.(AgentResult); !slices.Equal(r.ClaimedTodos, held) || !r.Changed || r.ActiveLeases == nil {
		t.Errorf("got %+v", r)
	}
	if d := decideRemoveAgent(g, "agent-d", nil, nil, nil); d.Changes() {
		t.Errorf("removed what was not there: %+v", d)
	}
	wantCode(t, Decision{}, checkAgent("Agent-A", ""), CodeInvalidGoalRequest)
	wantCode(t, Decision{}, checkAgent("agent-a", "two\nlines"), CodeInvalidGoalRequest)
}
