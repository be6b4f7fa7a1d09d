package todo

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
)

func TestAddAndUpdateJudgeDependencies(t *testing.T) {
	f := newDemo(t)
	for _, id := range ids("todo_a", "todo_b", "todo_c", "todo_put_away", "todo_superseded", "todo_done") {
		f.add(id, AddArgs{ClaimedBy: "agent-a"})
	}
	update := func(id ID, on ...ID) (Answer, error) {
		return f.Update(f.ctx(), f.call("agent-a", id), UpdateArgs{DependsOn: &on})
	}
	f.must(f.Complete(f.ctx(), f.call("agent-a", "todo_done"), CompleteArgs{}))
	f.must(f.Supersede(f.ctx(), f.call("agent-a", "todo_superseded"), SupersedeArgs{By: "todo_c"}))
	f.must(f.Release(f.ctx(), f.call("agent-a", "todo_put_away"), ReleaseArgs{}))
	f.must(f.Update(f.ctx(), f.call("agent-a", "todo_put_away"), UpdateArgs{Status: ptr(Deferred)}))
	f.must(f.Archive(f.ctx(), f.call("agent-a", "todo_put_away")))
	f.put(map[string][]byte{TodoPath("todo_future"): []byte(`{"schema_version":"loopx.todo/2"}` + "\n")})

	f.must(update("todo_b", "todo_a", "todo_done"))
	f.must(update("todo_c", "todo_b"))
	for name, c := range map[string]struct {
		on     []ID
		want   Code
		cycle  []ID // update's
		onlyUp bool // add has no such case
	}{
		"unknown":                        {ids("todo_b", "todo_z"), CodeDependencyInvalid, nil, false},
		"put away and not done":          {ids("todo_put_away"), CodeDependencyInvalid, nil, false},
		"not understood":                 {ids("todo_future"), CodeUnsupportedSchema, nil, false},
		"itself":                         {ids("todo_a"), CodeDependencyInvalid, ids("todo_a", "todo_a"), false},
		"a cycle of two":                 {ids("todo_b"), CodeDependencyInvalid, ids("todo_a", "todo_b", "todo_a"), true},
		"a cycle of three":               {ids("todo_c"), CodeDependencyInvalid, ids("todo_a", "todo_c", "todo_b", "todo_a"), true},
		"a cycle through what was ended": {ids("todo_superseded"), CodeDependencyInvalid, ids("todo_a", "todo_superseded", "todo_c", "todo_b", "todo_a"), true},
	} {
		t.Run(name, func(t *testing.T) {
			f.refused(c.want, func() (Answer, error) {
				a, err := update("todo_a", c.on...)
				if cycle, _ := AsRefusal(err).Detail["cycle"].([]ID); !slices.Equal(cycle, c.cycle) {
					t.Errorf("got the cycle %v, want %v", cycle, c.cycle)
				}
				return a, err
			})
			on := slices.Clone(c.on)
			if name == "itself" {
				on = ids("todo_new")
			}
			add := func() (Answer, error) {
				return f.Add(f.ctx(), f.call("agent-a", "todo_new"), AddArgs{Text: "new", DependsOn: on, ClaimedBy: "agent-a"})
			}
			if !c.onlyUp {
				f.refused(c.want, add)
				return
			}
			c := f.call("agent-a", "todo_new")
			c.DryRun = true
			if a, err := f.Add(f.ctx(), c, AddArgs{Text: "new", DependsOn: on}); err != nil || a.Status != gitstore.Planned {
				t.Errorf("nothing leads back to a new Todo: got %+v, %v", a, err)
			}
		})
	}
	all := f.must(f.Add(f.ctx(), f.call("agent-a", "todo_new"), AddArgs{Text: "new", DependsOn: ids("todo_superseded", "todo_b", "todo_done", "todo_b")}))
	if d := cmp.Diff(ids("todo_b", "todo_done", "todo_superseded"), all.View.DependsOn); d != "" {
		t.Error(d)
	}
	f.must(update("todo_a", "todo_done"))
	f.must(update("todo_c")) // lets go
	f.must(update("todo_a", "todo_c"))
	f.refused(CodeDependencyInvalid, func() (Answer, error) { return update("todo_c", "todo_new") })
}

// What waits is not completed, and the ref stays; it is once what it waits for is done, whoever took its place.
func TestCompleteAfterADependency(t *testing.T) {
	f := newDemo(t)
	f.add("todo_first", AddArgs{ClaimedBy: "agent-a"})
	f.add("todo_second", AddArgs{ClaimedBy: "agent-a"})
	f.add("todo_a", AddArgs{ClaimedBy: "agent-a", DependsOn: ids("todo_first"), ResumeAt: At(f.clock.Add(time.Second))})
	complete := func() (Answer, error) { return f.Complete(f.ctx(), f.call("agent-a", "todo_a"), CompleteArgs{}) }
	f.refused(CodeDependencyPending, complete)
	f.must(f.Supersede(f.ctx(), f.call("agent-a", "todo_first"), SupersedeArgs{By: "todo_second"}))
	f.refused(CodeDependencyPending, complete)
	f.must(f.Complete(f.ctx(), f.call("agent-a", "todo_second"), CompleteArgs{}))
	f.refused(CodeDependencyPending, complete)
	f.clock = f.clock.Add(time.Second)
	f.must(complete())
}
