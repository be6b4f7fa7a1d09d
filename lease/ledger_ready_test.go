package lease

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/todo"
)

// A Todo is not ready for others while its lease is effective in their eyes, and is again once it is over, its holder gone, or
// the lease given back.
func TestReadyBesideLeases(t *testing.T) {
	f := newFixture(t)
	f.add("todo_b", todo.AddArgs{Priority: "P4"})
	wantReady := func(when string, agent todo.AgentID, want ...todo.ID) {
		t.Helper()
		list, err := f.Ready(f.ctx(), "demo", agent, 0, true)
		f.must(err)
		var got []todo.ID
		for _, e := range list.Rows {
			got = append(got, e.TodoID())
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s, %q: %s", when, agent, d)
		}
		for _, h := range list.Held {
			if h != (todo.Held{TodoID: "todo_a", Code: todo.CodeLeaseConflict}) {
				t.Errorf("%s, %q: held %v", when, agent, h)
			}
		}
	}
	wantReady("before", "agent-b", "todo_b", "todo_a")
	f.ok(f.acquire(func(r *AcquireRequest) { r.TTL = ptr[int64](60) }))
	wantReady("leased", "agent-a", "todo_b", "todo_a")
	wantReady("leased", "agent-b", "todo_b")
	wantReady("leased", "", "todo_b")
	f.clock = f.clock.Add(59 * time.Second)
	wantReady("a second before its end", "agent-b", "todo_b")
	f.clock = f.clock.Add(time.Second)
	wantReady("at its end", "agent-b", "todo_b", "todo_a")

	f.git("-C", f.dir, "config", "loopx.lease.skew", "30")
	f.Ledger = f.open(2)
	wantReady("at its end, and clocks may differ", "agent-b", "todo_b")
	wantReady("at its end, and clocks may differ", "agent-a", "todo_b", "todo_a")
	_, err := f.RemoveAgent(f.ctx(), todo.Call{Goal: "demo", Agent: "agent-a"})
	f.must(err)
	wantReady("its holder gone", "agent-b", "todo_b", "todo_a")

	f.put(map[string][]byte{todo.LeasePath("todo_b"): []byte("{}\n")})
	list, err := f.Ready(f.ctx(), "demo", "agent-b", 0, true)
	f.must(err)
	if d := cmp.Diff([]todo.Held{{TodoID: "todo_b", Code: todo.CodeInvalidProjection}}, list.Held); d != "" || list.Total != 1 {
		t.Errorf("a lease that cannot be read: %d are ready, %s", list.Total, d)
	}
}
