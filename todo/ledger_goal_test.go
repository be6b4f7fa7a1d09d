package todo

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
)

func TestGoals(t *testing.T) {
	f := newDemo(t)
	create := Call{Goal: "other", Operation: "create-1"}
	made := f.must(f.CreateGoal(f.ctx(), create, "Other work", SoftClaim))
	again := f.must(f.CreateGoal(f.ctx(), create, "Other work", ""))
	if again.Status != gitstore.Replayed || again.Receipt.Revision != made.Revision {
		t.Errorf("created again: got %+v", again)
	}
	for _, c := range []struct {
		call  Call
		title string
		mode  Mode
		want  Code
	}{
		{Call{Goal: "demo"}, "", "", CodeGoalExists},
		{Call{Goal: "Bad"}, "", "", CodeInvalidGoalRequest},
		{Call{Goal: "new"}, "two\nlines", "", CodeInvalidGoalRequest},
		{Call{Goal: "new"}, "", "legacy", CodeInvalidHandoffMode},
		{Call{Goal: "new"}, "", "hard_lease ", CodeInvalidHandoffMode},
	} {
		f.refused(c.want, func() (Answer, error) { return f.CreateGoal(f.ctx(), c.call, c.title, c.mode) })
	}
	if leased := f.must(f.CreateGoal(f.ctx(), Call{Goal: "leased"}, "", HardLease)); resultOf[GoalResult](t, leased).HandoffMode != HardLease {
		t.Errorf("with a mode: got %s", leased.Receipt.Result)
	}
	f.put(map[string][]byte{GoalPath: []byte(`{"schema":"loopx.goal/2"}` + "\n")})
	goals, err := f.Goals(f.ctx())
	if err != nil || len(goals) != 3 {
		t.Fatalf("got %+v, %v", goals, err)
	}
	if g := goals[0]; g.GoalID != "demo" || g.Readable || g.Error != CodeUnsupportedSchema || g.Agents == nil {
		t.Errorf("got %+v", g)
	}
	if g := goals[1]; g.GoalID != "leased" || g.Mode != HardLease || g.Acceptance != nil {
		t.Errorf("got %+v", g)
	}
	if g := goals[2]; !g.Readable || g.Title != "Other work" || !validScopeID(g.ScopeID) || g.Revision != made.Revision || g.Mode != SoftClaim {
		t.Errorf("got %+v", g)
	}
	_, err = f.Goal(f.ctx(), "absent")
	wantCode(t, Decision{}, err, CodeGoalNotFound)
	f.refused(CodeUnsupportedSchema, func() (Answer, error) { return f.AddAgent(f.ctx(), f.call("agent-d", ""), "") })
	f.refused(CodeUnsupportedSchema, func() (Answer, error) { return f.Add(f.ctx(), f.call("agent-a", ""), AddArgs{Text: "x"}) })
}

func TestModeAndAgents(t *testing.T) {
	f := newDemo(t)
	if a := f.must(f.SetMode(f.ctx(), Call{Goal: "demo"}, SoftClaim)); a.Status != gitstore.NoChange {
		t.Errorf("same mode: got %+v", a)
	}
	f.refused(CodeInvalidHandoffMode, func() (Answer, error) { return f.SetMode(f.ctx(), Call{Goal: "demo"}, "legacy") })
	f.add("todo_a", AddArgs{ClaimedBy: "agent-a"})
	f.refused(CodeModeNotQuiescent, func() (Answer, error) { return f.SetMode(f.ctx(), Call{Goal: "demo"}, HardLease) })
	removed := f.must(f.RemoveAgent(f.ctx(), f.call("agent-a", "")))
	if diff := cmp.Diff([]ClaimedTodo{{"todo_a", "agent-a", Open}}, resultOf[AgentResult](t, removed).ClaimedTodos); diff != "" {
		t.Error(diff)
	}
	if a := f.must(f.RemoveAgent(f.ctx(), f.call("agent-a", ""))); a.Status != gitstore.NoChange {
		t.Errorf("removed again: got %+v", a)
	}
	if got := f.must(f.Release(f.ctx(), f.call("agent-b", "todo_a"), ReleaseArgs{Override: true, Reason: "left"})); got.View.ClaimedBy != "" {
		t.Errorf("got %+v", got.View)
	}
	f.must(f.AddAgent(f.ctx(), f.call("agent-a", ""), "Ada"))
	g, err := f.Goal(f.ctx(), "demo")
	if err != nil || len(g.Agents) != 3 || g.Agents[0].Label != "Ada" {
		t.Errorf("got %+v, %v", g, err)
	}
	if a := f.must(f.SetMode(f.ctx(), Call{Goal: "demo"}, HardLease)); a.Status != gitstore.Applied || resultOf[ModeResult](t, a).Previous != SoftClaim {
		t.Errorf("released: got %+v", a)
	}
	f.refused(CodeModeRequiresLease, func() (Answer, error) { return f.Claim(f.ctx(), f.call("agent-a", "todo_a"), "agent-a") })
	f.put(map[string][]byte{LeasePath("todo_a"): []byte("{}\n")})
	f.refused(CodeInvalidProjection, func() (Answer, error) { return f.SetMode(f.ctx(), Call{Goal: "demo"}, SoftClaim) })
	f.put(map[string][]byte{LeasePath("todo_a"): nil, TodoPath("todo_b"): []byte("{}\n")})
	f.refused(CodeInvalidProjection, func() (Answer, error) { return f.SetMode(f.ctx(), Call{Goal: "demo"}, SoftClaim) })
	f.put(map[string][]byte{TodoPath("todo_b"): nil})
	f.must(f.SetMode(f.ctx(), Call{Goal: "demo"}, SoftClaim))
}
