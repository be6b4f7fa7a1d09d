package todo

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
)

func TestJourney(t *testing.T) {
	f := newDemo(t)
	id := ID("todo_a")
	added := f.add(id, AddArgs{ClaimedBy: "agent-a", Priority: "P1"})
	if added.Status != gitstore.Applied || !added.Changed || added.Todo != id || added.View == nil || added.View.ClaimedBy != "agent-a" || added.Revision != f.tip() {
		t.Errorf("add: got %+v, view %+v", added, added.View)
	}
	if r := resultOf[AddResult](t, added); r.Claim == nil || !r.Claim.Changed {
		t.Errorf("add: got result %+v", r)
	}
	f.clock = f.clock.Add(time.Hour)
	noted := f.must(f.SetNote(f.ctx(), f.call("agent-a", id), NoteArgs{Text: "read the log"}))
	if noted.View.UpdatedAt != "2026-09-13T11:00:00Z" {
		t.Errorf("note: got %+v", noted.View)
	}
	show, err := f.Show(f.ctx(), "demo", id)
	if err != nil || show.Note.State != NoteMissing || show.Note.Text != "read the log" || show.Revision != noted.Revision || show.TodoFacts == "" {
		t.Errorf("show: got %+v, %v", show, err)
	}
	f.must(f.Release(f.ctx(), f.call("agent-a", id), ReleaseArgs{}))
	claim := f.must(f.Claim(f.ctx(), f.call("agent-b", id), "agent-b"))
	if claim.Kind != "todo claim" || claim.Receipt.Revision != claim.Revision || claim.View.ClaimedBy != "agent-b" {
		t.Errorf("claim: got %+v", claim)
	}
	again := f.must(f.Claim(f.ctx(), f.call("agent-b", id), "agent-b"))
	if again.Status != gitstore.NoChange || again.Changed || again.Revision == claim.Revision {
		t.Errorf("claim again: got %+v", again)
	}
	f.must(f.Update(f.ctx(), f.call("agent-b", id), UpdateArgs{Status: ptr(Blocked), Reason: ptr("no disk")}))
	f.must(f.Reopen(f.ctx(), f.call("agent-b", id), ReopenArgs{}))
	f.add("todo_b", AddArgs{})
	done := f.must(f.Complete(f.ctx(), f.call("agent-b", id), CompleteArgs{Evidence: "log", Successors: []ID{"todo_b"}}))
	if done.View.Status != Done || done.View.Reason != "" || done.View.CompletedAt == "" {
		t.Errorf("complete: got %+v", done.View)
	}
	f.must(f.Archive(f.ctx(), f.call("agent-a", id)))
	f.add("todo_a2", AddArgs{Text: "another"})
	f.must(f.Archive(f.ctx(), f.call("agent-a", id))) // nothing but a receipt
	commits, err := f.History(f.ctx(), "demo", id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var subjects []string
	for _, c := range commits {
		subjects = append(subjects, c.Subject)
	}
	want := []string{
		"todo archive todo_a", "todo archive todo_a", "todo complete todo_a", "todo reopen todo_a", "todo update todo_a",
		"todo claim todo_a", "todo claim todo_a", "todo release todo_a", "todo note todo_a", "todo add todo_a",
	}
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Error(diff)
	}
	if newest, err := f.History(f.ctx(), "demo", id, 3); err != nil || !slices.Equal(newest, commits[:3]) {
		t.Errorf("the newest three: got %v, %v", newest, err)
	}
	if all, err := f.History(f.ctx(), "demo", "", 3); err != nil || len(all) != 3 {
		t.Errorf("history of the goal: got %v, %v", all, err)
	}
	f.git("-C", f.dir, "fsck", "--strict")
}

func TestOrderOfChecks(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{ClaimedBy: "agent-a"})
	bad := Call{Goal: "Demo", Agent: "agent-x", Todo: "todo_x"}
	absent := Call{Goal: "absent", Agent: "", Todo: "todo_x"}
	nobody := Call{Goal: "demo", Todo: "todo_x"}
	stranger := Call{Goal: "demo", Agent: "Agent-A", Todo: "todo_x"}
	lost := Call{Goal: "demo", Agent: "agent-a", Todo: "todo_x"}
	noted := Call{Goal: "demo", Agent: "agent-a", Todo: "todo_a", Operation: "lease-renew:x"}
	verbs := map[string]struct {
		family Code
		call   func(Call) (Answer, error)
	}{
		"update":    {CodeInvalidUpdate, func(c Call) (Answer, error) { return f.Update(f.ctx(), c, UpdateArgs{Title: ptr("t")}) }},
		"note":      {CodeInvalidUpdate, func(c Call) (Answer, error) { return f.SetNote(f.ctx(), c, NoteArgs{Text: "t"}) }},
		"claim":     {CodeInvalidClaim, func(c Call) (Answer, error) { return f.Claim(f.ctx(), c, "agent-a") }},
		"release":   {CodeInvalidClaim, func(c Call) (Answer, error) { return f.Release(f.ctx(), c, ReleaseArgs{}) }},
		"complete":  {CodeInvalidLifecycle, func(c Call) (Answer, error) { return f.Complete(f.ctx(), c, CompleteArgs{}) }},
		"supersede": {CodeInvalidLifecycle, func(c Call) (Answer, error) { return f.Supersede(f.ctx(), c, SupersedeArgs{By: "todo_a"}) }},
		"reopen":    {CodeInvalidLifecycle, func(c Call) (Answer, error) { return f.Reopen(f.ctx(), c, ReopenArgs{}) }},
		"archive":   {CodeInvalidArchive, func(c Call) (Answer, error) { return f.Archive(f.ctx(), c) }},
	}
	for name, v := range verbs {
		t.Run(name, func(t *testing.T) {
			for _, c := range []struct {
				call Call
				want Code
			}{
				{bad, v.family},
				{Call{Goal: "demo", Agent: "agent-a"}, v.family},
				{Call{Goal: "demo", Agent: "agent-a", Todo: "x"}, v.family},
				{Call{Goal: "demo", Agent: "agent-a", Todo: "todo_a", Session: "\u3000"}, v.family},
				{noted, v.family},
				{absent, CodeGoalNotFound},
				{nobody, CodeActorRequired},
				{stranger, CodeActorNotRegistered},
				{lost, CodeTodoNotFound},
			} {
				f.refused(c.want, func() (Answer, error) { return v.call(c.call) })
			}
			var mismatch *gitstore.MismatchError
			pinned := lost
			pinned.Expected = f.tip()[:12]
			if _, err := v.call(pinned); !errors.As(err, &mismatch) || mismatch.Current != f.tip() {
				t.Errorf("an abbreviated revision: got %v", err)
			}
		})
	}
	f.refused(CodeActorRequired, func() (Answer, error) { return f.Claim(f.ctx(), f.call("", "todo_a"), "") })
	f.refused(CodeInvalidClaim, func() (Answer, error) { return f.Claim(f.ctx(), f.call("agent-a", "todo_a"), "\xff") })
	f.refused(CodeInvalidArchive, func() (Answer, error) { return f.Archive(f.ctx(), f.call("\xff", "todo_a")) })
	f.refused(CodeInvalidUpdate, func() (Answer, error) { return f.Update(f.ctx(), absent, UpdateArgs{}) })
	f.refused(CodeInvalidAdd, func() (Answer, error) { return f.Add(f.ctx(), absent, AddArgs{}) })
	f.refused(CodeActorRequired, func() (Answer, error) { return f.Add(f.ctx(), Call{Goal: "demo"}, AddArgs{Text: "x"}) })
	if refs := f.git("-C", f.dir, "for-each-ref", "--format=%(refname)"); refs != "refs/loopx/goals/demo" {
		t.Errorf("refs: %s", refs)
	}
}

func TestReplays(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{})
	claim := f.call("agent-b", "todo_a")
	claim.Operation = "claim-1"
	first := f.must(f.Claim(f.ctx(), claim, "agent-b"))
	again := f.must(f.Claim(f.ctx(), claim, "agent-b"))
	if again.Status != gitstore.Replayed || again.Changed || again.Refused != nil || again.Receipt.Revision != first.Revision || again.Revision != f.tip() {
		t.Errorf("same again: got %+v", again)
	}
	var other *gitstore.IdentityError
	if _, err := f.Release(f.ctx(), claim, ReleaseArgs{}); !errors.As(err, &other) || other.Kind != "todo claim" {
		t.Errorf("another command with this id: got %v", err)
	}
	moved := claim
	moved.Expected = f.tip()
	if _, err := f.Claim(f.ctx(), moved, "agent-b"); !errors.As(err, &other) {
		t.Errorf("another revision with this id: got %v", err)
	}
	// Case 89: released, and claimed by another since.
	f.must(f.Release(f.ctx(), f.call("agent-b", "todo_a"), ReleaseArgs{}))
	f.must(f.Claim(f.ctx(), f.call("agent-a", "todo_a"), "agent-a"))
	late := f.must(f.Claim(f.ctx(), claim, "agent-b"))
	if late.Status != gitstore.Replayed || late.Refused == nil || late.Refused.Code != CodeClaimOwnerMismatch || late.Receipt.Revision != first.Revision {
		t.Errorf("claimed by another since: got %+v", late)
	}
	// An id that is drawn is not part of the request, so that a retry finds what was made.
	add := f.call("agent-a", "")
	add.Operation = "add-1"
	made := f.must(f.Add(f.ctx(), add, AddArgs{Text: "once"}))
	if retry := f.must(f.Add(f.ctx(), add, AddArgs{Text: "once", Role: RoleAgent})); retry.Status != gitstore.Replayed || retry.Todo != made.Todo || retry.View == nil {
		t.Errorf("add again: got %+v, want %s", retry, made.Todo)
	}
	// The agent left: step 3 comes before the receipt.
	f.must(f.RemoveAgent(f.ctx(), f.call("agent-b", "")))
	f.refused(CodeActorNotRegistered, func() (Answer, error) { return f.Claim(f.ctx(), claim, "agent-b") })
	receipt, err := f.FindReceipt(f.ctx(), "demo", "claim-1")
	if err != nil || receipt == nil || receipt.Todo != "todo_a" || receipt.Kind != "todo claim" {
		t.Errorf("receipt: got %+v, %v", receipt, err)
	}
	if receipt, err := f.FindReceipt(f.ctx(), "demo", "claim-2"); err != nil || receipt != nil {
		t.Errorf("no receipt: got %+v, %v", receipt, err)
	}
}

func TestDryRun(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{})
	before := f.tip()
	c := f.call("agent-b", "todo_a")
	c.DryRun, c.Operation = true, "try"
	a := f.must(f.Claim(f.ctx(), c, "agent-b"))
	if a.Status != gitstore.Planned || !a.Changed || a.View.ClaimedBy != "agent-b" || a.Revision != before || f.tip() != before {
		t.Errorf("got %+v", a)
	}
	c.DryRun = false
	if a := f.must(f.Claim(f.ctx(), c, "agent-b")); a.Status != gitstore.Applied {
		t.Errorf("a dry run used the id up: %+v", a)
	}
	plan := f.must(f.Add(f.ctx(), Call{Goal: "demo", Agent: "agent-a", DryRun: true}, AddArgs{Text: "later"}))
	if plan.View == nil || plan.View.Text != "later" || plan.Todo == "" {
		t.Errorf("got %+v", plan)
	}
	goal := f.must(f.CreateGoal(f.ctx(), Call{Goal: "other", DryRun: true}, "", ""))
	if goal.Status != gitstore.Planned || goal.Revision != "" {
		t.Errorf("got %+v", goal)
	}
}

func TestAddThroughTheTable(t *testing.T) {
	f := newDemo(t)
	first := f.must(f.Add(f.ctx(), f.call("agent-a", ""), AddArgs{Text: "same", Priority: "P1"}))
	if !first.Todo.Valid() || len(first.Todo) != 15 {
		t.Errorf("drawn id %q", first.Todo)
	}
	twice := f.must(f.Add(f.ctx(), f.call("agent-b", ""), AddArgs{Text: "same"}))
	if twice.Status != gitstore.NoChange || twice.Todo != first.Todo || !resultOf[AddResult](t, twice).AlreadyExists || twice.Receipt.Todo != string(first.Todo) {
		t.Errorf("equal: got %+v", twice)
	}
	f.refused(CodeTodoDuplicate, func() (Answer, error) {
		return f.Add(f.ctx(), f.call("agent-b", ""), AddArgs{Text: "same", Priority: "P2"})
	})
	f.refused(CodeTodoExists, func() (Answer, error) {
		return f.Add(f.ctx(), f.call("agent-b", first.Todo), AddArgs{Text: "other"})
	})
	f.must(f.Add(f.ctx(), f.call("agent-b", ""), AddArgs{Text: "same", Role: RoleUser}))
	f.must(f.Claim(f.ctx(), f.call("agent-a", first.Todo), "agent-a"))
	f.must(f.Complete(f.ctx(), f.call("agent-a", first.Todo), CompleteArgs{}))
	if next := f.must(f.Add(f.ctx(), f.call("agent-b", ""), AddArgs{Text: "same", Priority: "P2"})); next.Todo == first.Todo || !next.Changed {
		t.Errorf("after the first is done: got %+v", next)
	}
}

// repeating gives the same bytes for its first draws, then others.
type repeating struct{ n int }

func (r *repeating) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.n / 64)
	}
	r.n += len(p)
	return len(p), nil
}

func TestTakenIDDrawsTheNext(t *testing.T) {
	f := newDemo(t)
	f.Random = &repeating{}
	one := f.must(f.Add(f.ctx(), Call{Goal: "demo", Agent: "agent-a", Operation: "one"}, AddArgs{Text: "one"}))
	f.Random = &repeating{n: 16} // the first three draws are as before, the fourth is not
	two := f.must(f.Add(f.ctx(), Call{Goal: "demo", Agent: "agent-a", Operation: "two"}, AddArgs{Text: "two"}))
	if one.Todo == two.Todo || one.Todo == "" {
		t.Errorf("got %q and %q", one.Todo, two.Todo)
	}
}

func TestArchiveCompleted(t *testing.T) {
	f := newDemo(t)
	for _, id := range []ID{"todo_3", "todo_1", "todo_2"} {
		f.add(id, AddArgs{ClaimedBy: "agent-a"})
		f.clock = f.clock.Add(time.Minute)
		f.must(f.Complete(f.ctx(), f.call("agent-a", id), CompleteArgs{}))
	}
	f.add("todo_open", AddArgs{})
	before := f.tip()
	plan, err := f.ArchiveCompleted(f.ctx(), f.call("agent-b", ""), ArchiveCompletedArgs{MaxActiveDone: 1})
	if err != nil || plan.Status != gitstore.Planned || !slices.Equal(plan.Todos, []ID{"todo_1", "todo_3"}) || f.tip() != before {
		t.Errorf("report: got %+v, %v", plan, err)
	}
	call := f.call("agent-b", "")
	call.Operation = "archive-1"
	done, err := f.ArchiveCompleted(f.ctx(), call, ArchiveCompletedArgs{MaxActiveDone: 1, Execute: true})
	if err != nil || done.Status != gitstore.Applied || !slices.Equal(done.Todos, plan.Todos) {
		t.Errorf("execute: got %+v, %v", done, err)
	}
	again, err := f.ArchiveCompleted(f.ctx(), call, ArchiveCompletedArgs{MaxActiveDone: 1, Execute: true})
	if err != nil || again.Status != gitstore.Replayed || !slices.Equal(again.Todos, plan.Todos) {
		t.Errorf("replay: got %+v, %v", again, err)
	}
	none, err := f.ArchiveCompleted(f.ctx(), f.call("agent-b", ""), ArchiveCompletedArgs{MaxActiveDone: 1, Execute: true})
	if err != nil || none.Status != gitstore.NoChange || none.Todos == nil || len(none.Todos) != 0 {
		t.Errorf("nothing left: got %+v, %v", none, err)
	}
}

func TestInvalidClock(t *testing.T) {
	f := newDemo(t)
	f.clock = time.Unix(0, 0)
	f.refused(CodeInvalidClock, func() (Answer, error) { return f.Add(f.ctx(), f.call("agent-a", ""), AddArgs{Text: "x"}) })
	f.refused(CodeInvalidClock, func() (Answer, error) { return f.AddAgent(f.ctx(), f.call("agent-d", ""), "") })
}

// Of agents that claim one Todo at once exactly one wins, and the others learn who did.
func TestOneWinner(t *testing.T) {
	f := newDemo(t)
	f.add("todo_a", AddArgs{})
	agents := []AgentID{"agent-a", "agent-b", "agent-c"}
	answers, errs := make([]Answer, len(agents)), make([]error, len(agents))
	var group sync.WaitGroup
	for i, a := range agents {
		call := f.call(a, "todo_a")
		call.Operation = "claim by " + string(a)
		group.Go(func() { answers[i], errs[i] = f.Claim(f.ctx(), call, a) })
	}
	group.Wait()
	show, err := f.Show(f.ctx(), "demo", "todo_a")
	if err != nil {
		t.Fatal(err)
	}
	won := 0
	for i, a := range agents {
		if errs[i] == nil {
			won++
			if show.View.ClaimedBy != a || answers[i].Status != gitstore.Applied {
				t.Errorf("%s won, but %s owns", a, show.View.ClaimedBy)
			}
			continue
		}
		if r := AsRefusal(errs[i]); r == nil || r.Code != CodeClaimOwnerMismatch || r.Detail["claimed_by"] != show.View.ClaimedBy {
			t.Errorf("%s: got %v", a, errs[i])
		}
	}
	if won != 1 {
		t.Errorf("%d won", won)
	}
}
