package lease

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Cases 65 and 66: only what is effective on another Todo is in the way.
func TestScopesOfOthers(t *testing.T) {
	f := newFixture(t)
	f.add("todo_b", todo.AddArgs{RequiredWriteScopes: []string{"src/**"}})
	f.ok(f.acquire(func(r *AcquireRequest) { r.Todo, r.Owner = "todo_b", "agent-b" }))
	want := func(code todo.Code) {
		t.Helper()
		dry := func() error {
			_, err := f.acquire(func(r *AcquireRequest) { r.WriteScopes, r.DryRun = []string{"Src/a.go"}, true })
			return err
		}
		f.unmoved(code, dry)
	}
	_, err := f.acquire(func(r *AcquireRequest) { r.WriteScopes = []string{"Src/a.go"} })
	if diff := cmp.Diff([]Conflict{{"todo_b", "agent-b", "src/**", "Src/a.go", "2026-09-13T10:45:00Z"}}, todo.AsRefusal(err).Detail["conflicts"]); diff != "" {
		t.Error(diff)
	}
	want(CodeWriteScopeConflict)
	f.putTodo("todo_b", func(x *todo.Todo) { x.ExcludedAgents = []todo.AgentID{"agent-b"} })
	want("")
	f.putTodo("todo_b", func(x *todo.Todo) { x.ExcludedAgents, x.Status = nil, todo.Done })
	want("")
	f.putTodo("todo_b", func(x *todo.Todo) { x.Status = todo.Open })
	want(CodeWriteScopeConflict)
	_, err = f.RemoveAgent(f.ctx(), by("agent-b", ""))
	f.must(err)
	want("")
	_, err = f.AddAgent(f.ctx(), by("agent-b", ""), "")
	f.must(err)
	want(CodeWriteScopeConflict)
	f.put(map[string][]byte{todo.TodoPath("todo_b"): []byte("?")})
	want(todo.CodeInvalidProjection) // nobody can say that it is not effective
	f.put(map[string][]byte{todo.TodoPath("todo_b"): f.fileAt(f.tip()+"~1", todo.TodoPath("todo_b"))})
	lease := []byte(f.git("-C", f.dir, "cat-file", "-p", string(f.tip())+":"+todo.LeasePath("todo_b")) + "\n")
	f.put(map[string][]byte{todo.LeasePath("todo_b"): []byte("?")})
	want(todo.CodeInvalidProjection)
	f.unmoved("", func() error { // what writes nowhere is in nobody's way
		_, err := f.acquire(func(r *AcquireRequest) { r.DryRun = true })
		return err
	})
	f.put(map[string][]byte{todo.LeasePath("todo_b"): lease})
	want(CodeWriteScopeConflict)
	f.git("-C", f.dir, "config", "loopx.lease.skew", "30")
	f.Ledger = f.open(2)
	f.clock = f.clock.Add(2710 * time.Second)
	want(CodeWriteScopeConflict)
	f.clock = f.clock.Add(20 * time.Second)
	want("")
}

func (f *fixture) fileAt(revision gitstore.ObjectID, path string) []byte {
	f.t.Helper()
	return []byte(f.git("-C", f.dir, "cat-file", "-p", string(revision)+":"+path) + "\n")
}

// Case 68.
func TestSkew(t *testing.T) {
	f := newFixture(t)
	f.git("-C", f.dir, "config", "loopx.lease.skew", "30")
	f.Ledger = f.open(2)
	f.ok(f.acquire(func(r *AcquireRequest) { r.TTL = ptr[int64](60) }))
	f.clock = f.clock.Add(70 * time.Second)
	f.unmoved(todo.CodeLeaseConflict, func() error {
		_, err := f.acquire(func(r *AcquireRequest) { r.Owner = "agent-b" })
		return err
	})
	f.unmoved(CodeLeaseNotActive, func() error { _, err := f.renew(nil); return err })
	i, err := f.InspectLease(f.ctx(), "demo", "todo_a")
	if err != nil || !i.Active || i.Skew != 30 {
		t.Errorf("inspect: got %+v, %v", i, err)
	}
	f.ok(f.acquire(func(r *AcquireRequest) { r.Key = "execution-2" }))

	for _, bad := range []string{"soon", "-1", "3601", "1.5", "", " 30"} {
		f.git("-C", f.dir, "config", "loopx.lease.skew", bad)
		f.Ledger = f.open(3)
		f.ok(f.acquire(func(r *AcquireRequest) { r.Key = "execution-2" })) // it is live: no skew is asked for
		f.clock = f.clock.Add(DefaultTTL * time.Second)
		f.unmoved(CodeInvalidSkew, func() error { _, err := f.acquire(func(r *AcquireRequest) { r.Owner = "agent-b" }); return err })
		if _, err := f.InspectLease(f.ctx(), "demo", "todo_a"); todo.CodeOf(err) != CodeInvalidSkew {
			t.Errorf("inspect with skew %q: got %v", bad, err)
		}
		f.clock = f.clock.Add(-DefaultTTL * time.Second)
	}
}

// What overlaps in another goal is reported and not refused; a goal that cannot be read is passed over.
func TestOtherGoals(t *testing.T) {
	f := newFixture(t)
	f.goal("other", todo.HardLease)
	f.goal("broken", todo.HardLease)
	_, err := f.Add(f.ctx(), todo.Call{Goal: "other", Todo: "todo_o", Agent: "agent-a"}, todo.AddArgs{Text: "x"})
	f.must(err)
	f.ok(f.acquire(func(r *AcquireRequest) {
		r.Goal, r.Todo, r.Owner, r.WriteScopes = "other", "todo_o", "agent-b", []string{"src"}
	}))
	f.git("-C", f.dir, "update-ref", "refs/loopx/goals/broken", f.git("-C", f.dir, "commit-tree", "-m", "x", f.git("-C", f.dir, "mktree")))
	a := f.ok(f.acquire(func(r *AcquireRequest) { r.WriteScopes = []string{"src/a.go", "test"} }))
	want := []Advisory{{"other", "todo_o", "agent-b", "src", "src/a.go", "2026-09-13T10:45:00Z"}}
	if diff := cmp.Diff(want, a.Advisories); diff != "" || a.Status != gitstore.Applied {
		t.Errorf("got %+v, %s", a, diff)
	}
	if again := f.ok(f.acquire(func(r *AcquireRequest) { r.WriteScopes = []string{"src/a.go", "test"} })); again.Advisories != nil {
		t.Errorf("a replay looks at other goals: %+v", again.Advisories)
	}
}

func TestInspectLease(t *testing.T) {
	f := newFixture(t)
	i, err := f.InspectLease(f.ctx(), "demo", "todo_a")
	if err != nil || i.Lease != nil || i.Active || i.Revision != string(f.tip()) || i.Mode != todo.HardLease || i.JudgedAt != now {
		t.Errorf("got %+v, %v", i, err)
	}
	f.ok(f.acquire(nil))
	f.putTodo("todo_a", func(x *todo.Todo) { x.Status = todo.Done })
	before := f.tip()
	i, err = f.InspectLease(f.ctx(), "demo", "todo_a")
	if err != nil || i.Lease.Version != 1 || i.Active || i.Constraint == nil || i.Constraint.Reason != todo.CodeTodoNotOpen || f.tip() != before {
		t.Errorf("got %+v, %v", i, err)
	}
	for _, c := range []struct {
		goal todo.GoalID
		id   todo.ID
		want todo.Code
	}{
		{"Demo", "todo_a", todo.CodeUsage}, {"demo", "", todo.CodeUsage}, {"demo", "a", todo.CodeUsage},
		{"absent", "todo_a", todo.CodeGoalNotFound}, {"demo", "todo_x", todo.CodeTodoNotFound},
	} {
		if _, err := f.InspectLease(f.ctx(), c.goal, c.id); todo.CodeOf(err) != c.want {
			t.Errorf("%s, %s: got %v, want %s", c.goal, c.id, err, c.want)
		}
	}
	f.clock = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, err := f.InspectLease(f.ctx(), "demo", "todo_a"); todo.CodeOf(err) != todo.CodeInvalidClock {
		t.Errorf("the clock of 1999: got %v", err)
	}
}

// All leases of a goal: what is long over is left out, what cannot be read is named.
func TestAllLeases(t *testing.T) {
	f := newFixture(t)
	all := func() (map[todo.ID]todo.Holding, map[todo.ID]*todo.Refusal, error) {
		s, err := f.Load(f.ctx(), "demo")
		f.must(err)
		return f.Leases.All(f.ctx(), s, "demo", todo.At(f.clock))
	}
	if held, unread, err := all(); len(held)+len(unread) > 0 || err != nil {
		t.Errorf("none: got %v, %v, %v", held, unread, err)
	}
	files := map[string][]byte{
		todo.LeasePath("todo_unread"):   records(t, "bad")["lease_future_schema"],
		"leases/00/todo_misplaced.json": []byte("{}\n"),
	}
	for id, change := range map[todo.ID]func(*Lease){
		"todo_live":     func(*Lease) {},
		"todo_over":     func(l *Lease) { l.ExpiresAt = now },
		"todo_released": func(l *Lease) { *l = l.released(now) },
		"todo_ancient":  func(l *Lease) { l.ExpiresAt = "2020-01-01T00:00:00Z" },
	} {
		l := held()
		l.Todo = id
		change(&l)
		b, err := EncodeLease(l)
		f.must(err)
		files[todo.LeasePath(id)] = b
	}
	f.put(files)
	for range 2 { // from the records, then from the cache
		held, unread, err := all()
		f.must(err)
		if h := held["todo_live"]; !h.Live || !h.LiveToOthers || h.Version != 3 {
			t.Errorf("got %+v", h)
		}
		if h, there := held["todo_over"]; !there || h.Live || h.LiveToOthers {
			t.Errorf("over: got %+v, %v", h, there)
		}
		if len(held) != 2 {
			t.Errorf("got %d leases", len(held))
		}
		if len(unread) != 2 || unread["todo_unread"].Code != todo.CodeUnsupportedSchema || unread["todo_misplaced"].Code != todo.CodeInvalidProjection {
			t.Errorf("unreadable: got %v", unread)
		}
	}
	f.clock = time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	if _, _, err := all(); todo.CodeOf(err) != todo.CodeInvalidClock {
		t.Errorf("the clock of 1999: got %v", err)
	}
}
