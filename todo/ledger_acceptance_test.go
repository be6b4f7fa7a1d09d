package todo

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
)

var demoGoal = Call{Goal: "demo"}

func TestAcceptanceJourney(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{Text: "one"})
	f.add("todo_b", AddArgs{Text: "two"})
	if v, err := f.Acceptance(f.ctx(), "demo"); err != nil || v.Configured || v.Enabled || v.Scope != "" || v.Guards == nil || v.Bindings == nil || v.Revision != f.tip() {
		t.Errorf("never configured: got %+v, %v", v, err)
	}
	enabled := f.must(f.EnableAcceptance(f.ctx(), demoGoal, nil))
	if r := resultOf[AcceptanceResult](t, enabled); enabled.Kind != "goal acceptance enable" || !r.Enabled || r.Scope != HoldAll || !r.Changed || enabled.Todo != "" {
		t.Errorf("enable: got %+v with %+v", enabled, r)
	}
	if again := f.must(f.EnableAcceptance(f.ctx(), demoGoal, nil)); again.Status != gitstore.NoChange {
		t.Errorf("enable again: got %+v", again)
	}
	f.refused(CodeAcceptanceUnbound, func() (Answer, error) { return f.Claim(f.ctx(), f.call("agent-b", "todo_a"), "") })
	f.refused(CodeAcceptanceUnbound, func() (Answer, error) {
		return f.Add(f.ctx(), f.call("agent-b", "todo_c"), AddArgs{Text: "three", ClaimedBy: "agent-b"})
	})
	f.must(f.Add(f.ctx(), f.call("agent-b", "todo_c"), AddArgs{Text: "three"}))

	bound := f.must(f.BindAcceptance(f.ctx(), demoGoal, []ID{"todo_b", "todo_a", "todo_b"}))
	if r := resultOf[AcceptanceResult](t, bound); len(r.Bound) != 2 || r.Bound[0].TodoID != "todo_a" || bound.Kind != "goal acceptance bind" {
		t.Errorf("bind: got %+v with %+v", bound, r)
	}
	if again := f.must(f.BindAcceptance(f.ctx(), demoGoal, []ID{"todo_a"})); again.Status != gitstore.NoChange {
		t.Errorf("bind again: got %+v", again)
	}
	claim := f.call("agent-b", "todo_a")
	claim.Operation = "claim-1"
	f.must(f.Claim(f.ctx(), claim, ""))
	f.must(f.Update(f.ctx(), f.call("agent-b", "todo_a"), UpdateArgs{Priority: ptr("P0"), Labels: &[]string{"disk"}}))
	if a := f.must(f.Claim(f.ctx(), claim, "")); a.Refused != nil {
		t.Errorf("confirmed: a claim that is repeated is refused: %v", a.Refused)
	}
	f.must(f.Update(f.ctx(), f.call("agent-b", "todo_a"), UpdateArgs{Text: ptr("one, and more")}))
	if a := f.must(f.Claim(f.ctx(), claim, "")); a.Status != gitstore.Replayed || CodeOf(a.Refused) != CodeAcceptanceStale {
		t.Errorf("changed since: got %+v", a)
	}
	f.refused(CodeAcceptanceStale, func() (Answer, error) { return f.Claim(f.ctx(), f.call("agent-b", "todo_a"), "") })
	f.refused(CodeAcceptanceStale, func() (Answer, error) { return f.Complete(f.ctx(), f.call("agent-b", "todo_a"), CompleteArgs{}) })
	f.must(f.Release(f.ctx(), f.call("agent-b", "todo_a"), ReleaseArgs{}))

	v, err := f.Acceptance(f.ctx(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	var states []GuardState
	for _, g := range v.Guards {
		states = append(states, g.State)
	}
	if diff := cmp.Diff([]GuardState{GuardStale, GuardReady}, states); diff != "" || !v.Enabled || !v.Guards[0].Readable || v.Guards[0].TodoID != "todo_a" {
		t.Errorf("show: got %+v: %s", v, diff)
	}
	some := f.must(f.EnableAcceptance(f.ctx(), demoGoal, []ID{"todo_c"}))
	if r := resultOf[AcceptanceResult](t, some); r.Scope != HoldSelected || len(r.TodoIDs) != 1 {
		t.Errorf("enable some: got %+v", r)
	}
	f.must(f.Claim(f.ctx(), f.call("agent-b", "todo_a"), ""))
	f.refused(CodeAcceptanceUnbound, func() (Answer, error) { return f.Claim(f.ctx(), f.call("agent-b", "todo_c"), "") })
	f.must(f.DisableAcceptance(f.ctx(), demoGoal))
	f.must(f.Claim(f.ctx(), f.call("agent-b", "todo_c"), ""))
	goal, err := f.Goal(f.ctx(), "demo")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&AcceptanceSettings{Scope: HoldSelected, TodoIDs: []ID{"todo_c"}, Bound: 2}, goal.Acceptance); diff != "" {
		t.Error(diff)
	}
}

func TestAcceptanceRefusals(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{})
	f.put(map[string][]byte{TodoPath("todo_future"): []byte(`{"schema_version":"loopx.todo/2"}` + "\n")})
	for name, verb := range map[string]func(Call, []ID) (Answer, error){
		"enable": func(c Call, ids []ID) (Answer, error) { return f.EnableAcceptance(f.ctx(), c, ids) },
		"bind":   func(c Call, ids []ID) (Answer, error) { return f.BindAcceptance(f.ctx(), c, ids) },
	} {
		t.Run(name, func(t *testing.T) {
			f.refused(CodeTodoNotFound, func() (Answer, error) { return verb(demoGoal, []ID{"todo_a", "todo_b"}) })
			f.refused(CodeUnsupportedSchema, func() (Answer, error) { return verb(demoGoal, []ID{"todo_a", "todo_future"}) })
			f.refused(CodeInvalidGoalRequest, func() (Answer, error) { return verb(demoGoal, []ID{"a"}) })
			f.refused(CodeInvalidGoalRequest, func() (Answer, error) { return verb(Call{Goal: "Demo"}, []ID{"todo_a"}) })
			f.refused(CodeGoalNotFound, func() (Answer, error) { return verb(Call{Goal: "absent"}, []ID{"todo_a"}) })
		})
	}
	f.refused(CodeInvalidGoalRequest, func() (Answer, error) { return f.BindAcceptance(f.ctx(), demoGoal, nil) })
	f.refused(CodeGoalNotFound, func() (Answer, error) { return f.DisableAcceptance(f.ctx(), Call{Goal: "absent"}) })
	_, err := f.Acceptance(f.ctx(), "absent")
	wantCode(t, Decision{}, err, CodeGoalNotFound)
	_, err = f.Acceptance(f.ctx(), "Demo")
	wantCode(t, Decision{}, err, CodeUsage)
	before := f.tip()
	if a := f.must(f.EnableAcceptance(f.ctx(), Call{Goal: "demo", DryRun: true}, []ID{"todo_a"})); a.Status != gitstore.Planned || f.tip() != before {
		t.Errorf("a dry run: got %+v", a)
	}
	var mismatch *gitstore.MismatchError
	if _, err := f.DisableAcceptance(f.ctx(), Call{Goal: "demo", Expected: "no revision"}); !errors.As(err, &mismatch) || f.tip() != before {
		t.Errorf("another revision: got %v", err)
	}
}

// A verb of the hold is known again by what was asked for: the Todos in any order, and whether there were any.
func TestAcceptanceReplays(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{})
	f.add("todo_b", AddArgs{})
	call := Call{Goal: "demo", Operation: "hold-1"}
	first := f.must(f.EnableAcceptance(f.ctx(), call, []ID{"todo_a", "todo_b"}))
	f.must(f.DisableAcceptance(f.ctx(), demoGoal))
	again := f.must(f.EnableAcceptance(f.ctx(), call, []ID{"todo_b", "todo_a", "todo_a"}))
	if again.Status != gitstore.Replayed || again.Changed || again.Receipt.Revision != first.Receipt.Revision {
		t.Errorf("again: got %+v", again)
	}
	for name, other := range map[string]func() (Answer, error){
		"all":         func() (Answer, error) { return f.EnableAcceptance(f.ctx(), call, nil) },
		"other Todos": func() (Answer, error) { return f.EnableAcceptance(f.ctx(), call, []ID{"todo_a"}) },
		"bind":        func() (Answer, error) { return f.BindAcceptance(f.ctx(), call, []ID{"todo_a", "todo_b"}) },
		"disable":     func() (Answer, error) { return f.DisableAcceptance(f.ctx(), call) },
	} {
		before := f.tip()
		var identity *gitstore.IdentityError
		if _, err := other(); !errors.As(err, &identity) || f.tip() != before {
			t.Errorf("%s with this id: got %v", name, err)
		}
	}
}

// What is bound and gone is not shown; what cannot be read is shown as such.
func TestAcceptanceOfWhatCannotBeRead(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{})
	f.add("todo_b", AddArgs{})
	f.must(f.BindAcceptance(f.ctx(), demoGoal, []ID{"todo_a", "todo_b"}))
	f.must(f.EnableAcceptance(f.ctx(), demoGoal, nil))
	f.put(map[string][]byte{TodoPath("todo_a"): []byte(`{"schema_version":"loopx.todo/2"}` + "\n"), TodoPath("todo_b"): nil})
	v, err := f.Acceptance(f.ctx(), "demo")
	if err != nil || len(v.Bindings) != 2 || len(v.Guards) != 1 {
		t.Fatalf("got %+v, %v", v, err)
	}
	want := TodoGuard{TodoID: "todo_a", Guard: Guard{Applicable: true, Code: CodeUnsupportedSchema, BoundDigest: v.Bindings["todo_a"]}}
	if diff := cmp.Diff(want, v.Guards[0]); diff != "" {
		t.Error(diff)
	}
}
