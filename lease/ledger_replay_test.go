package lease

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Cases 62 and 63.
func TestAcquireAgain(t *testing.T) {
	f := newFixture(t)
	first := f.ok(f.acquire(nil))
	for name, change := range map[string]func(*AcquireRequest){
		"other ttl":     func(r *AcquireRequest) { r.TTL = ptr[int64](60) },
		"other scopes":  func(r *AcquireRequest) { r.WriteScopes = []string{"src"} },
		"other version": func(r *AcquireRequest) { r.ExpectedVersion = ptr[int64](0) },
	} {
		before := f.tip()
		var identity *gitstore.IdentityError
		if _, err := f.acquire(change); !errors.As(err, &identity) || f.tip() != before {
			t.Errorf("%s: got %v", name, err)
		}
	}
	again := func(shown int64, refused todo.Code) {
		t.Helper()
		before := f.tip()
		a := f.ok(f.acquire(nil))
		if a.Status != gitstore.Replayed || a.Changed || !a.Idempotent || a.Receipt.Revision != first.Receipt.Revision || f.tip() != before {
			t.Errorf("got %+v", a)
		}
		if refused != "" {
			if a.Refused == nil || a.Refused.Code != refused || a.Lease != nil || a.Verified || a.Done {
				t.Errorf("got %+v, want %s and no lease", a, refused)
			}
			return
		}
		if a.Refused != nil || a.Lease == nil || a.Lease.Version != shown || !a.Verified || !a.Done {
			t.Errorf("got %+v, want the lease of version %d", a, shown)
		}
	}
	again(1, "")
	f.ok(f.renew(nil))
	again(2, "")
	f.putTodo("todo_a", func(x *todo.Todo) { x.ExcludedAgents = []todo.AgentID{"agent-a"} })
	again(0, todo.CodeLeaseClaimDivergence)
	f.putTodo("todo_a", func(x *todo.Todo) { x.ExcludedAgents = nil })
	f.clock = f.clock.Add(DefaultTTL * time.Second)
	again(0, CodeKeyReuse)
	f.clock = f.clock.Add(-time.Hour)
	again(2, "")
	f.ok(f.transfer(func(r *TransferRequest) { r.ExpectedVersion, r.TransferClaim = ptr[int64](2), false }))
	again(0, CodeKeyReuse)
	f.ok(f.transfer(func(r *TransferRequest) { // back again, for a process of agent-a that is not the one which acquired it
		r.Owner, r.Key, r.NewOwner, r.NewKey, r.ExpectedVersion = "agent-b", "execution-b", "agent-a", "execution-a", ptr[int64](3)
		r.TransferClaim = false
	}))
	again(0, CodeKeyReuse)
	f.putTodo("todo_a", func(x *todo.Todo) { x.Text, x.SchemaVersion = "x", todo.TodoSchema })
	f.put(map[string][]byte{todo.LeasePath("todo_a"): []byte("?")})
	again(0, todo.CodeInvalidProjection)
}

// A lease that came with other words is the same lease: acquire of it is no change.
func TestAcquireOfTheSame(t *testing.T) {
	f := newFixture(t)
	l := held()
	l.WriteScopes = nil
	f.putLease(l)
	a := f.ok(f.acquire(nil))
	if a.Status != gitstore.NoChange || a.Changed || !a.Idempotent || !a.Done || !a.Verified || a.Lease.Version != 3 {
		t.Errorf("got %+v", a)
	}
	if diff := cmp.Diff(l, f.lease("todo_a")); diff != "" {
		t.Error(diff)
	}
}

// An owner acquires a Todo once with a key, however long ago that was, and not with a claim either.
func TestKeysOfLongAgo(t *testing.T) {
	f := newFixture(t)
	f.ok(f.acquire(nil))
	f.ok(f.release(nil))
	f.ok(f.acquire(func(r *AcquireRequest) { r.Key = "execution-2" }))
	f.ok(f.release(func(r *ReleaseRequest) { r.Key, r.ExpectedVersion = "execution-2", ptr[int64](2) }))
	f.unmoved(CodeKeyReuse, func() error {
		_, err := f.ClaimWithLease(f.ctx(), by("agent-a", "todo_a"), "agent-a", &Request{Key: "execution-a"})
		return err
	})
	f.ok(f.acquire(func(r *AcquireRequest) { r.Owner = "agent-b" })) // another's key of the same name
}

// Case 69.
func TestRenewAgain(t *testing.T) {
	f := newFixture(t)
	f.ok(f.acquire(nil))
	f.clock = f.clock.Add(time.Minute)
	first := f.ok(f.renew(nil))
	f.clock = f.clock.Add(time.Minute)
	again := f.ok(f.renew(nil))
	if diff := cmp.Diff(first.Lease, again.Lease); diff != "" || again.Status != gitstore.Replayed || !again.Verified || again.Refused != nil {
		t.Errorf("got %+v, %s", again, diff)
	}
	f.clock = f.clock.Add(24 * time.Hour)
	before := f.tip()
	late := f.ok(f.renew(nil))
	if diff := cmp.Diff(first.Lease, late.Lease); diff != "" || late.Status != gitstore.Replayed || late.Verified || late.Refused != nil || !late.Done || f.tip() != before {
		t.Errorf("a day later: got %+v, %s", late, diff)
	}
	if f.lease("todo_a").ExpiresAt != "2026-09-13T10:46:00Z" {
		t.Error("extended")
	}
}

// Case 49, 59: L8 in one commit, and again long after.
func TestTransferWithTheClaimAgain(t *testing.T) {
	f := leased(t)
	x, err := todo.DecodeTodo("todo_a", f.file(todo.TodoPath("todo_a")))
	f.must(err)
	f.put(map[string][]byte{todo.NotePath("todo_a"): continuation(t, x)})
	before := f.tip()
	first := f.ok(f.transfer(nil))
	if !first.TransferClaim || first.ClaimedBy != "agent-b" || !first.TodoChanged || !first.Done || !first.Verified || first.Lease.Epoch != 2 || first.View.ClaimedBy != "agent-b" {
		t.Errorf("got %+v", first)
	}
	if parent := f.git("-C", f.dir, "rev-parse", string(first.Revision)+"^"); parent != string(before) {
		t.Errorf("not one commit: %s on %s", first.Revision, parent)
	}
	s, err := f.Load(f.ctx(), "demo")
	f.must(err)
	state, err := f.ReadState(f.ctx(), s, "demo", "todo_a", now)
	f.must(err)
	if state.JudgeNote().State != todo.NoteCurrent || state.Lease.Owner != "agent-b" || state.Todo.ClaimedBy != "agent-b" {
		t.Errorf("got %+v", state)
	}

	f.ok(f.transfer(func(r *TransferRequest) {
		r.Owner, r.Key, r.NewOwner, r.NewKey, r.ExpectedVersion = "agent-b", "execution-b", "agent-a", "execution-c", ptr[int64](2)
	}))
	for _, a := range []todo.AgentID{"agent-a", "agent-b"} {
		_, err := f.RemoveAgent(f.ctx(), by(a, ""))
		f.must(err)
	}
	f.clock = f.clock.AddDate(3, 0, 0)
	before = f.tip()
	again := f.ok(f.transfer(nil))
	if diff := cmp.Diff(first.Lease, again.Lease); diff != "" || again.Status != gitstore.Replayed || again.Refused != nil || again.Verified || !again.TransferClaim || f.tip() != before {
		t.Errorf("got %+v, %s", again, diff)
	}
	for name, change := range map[string]func(*TransferRequest){
		"flag dropped":  func(r *TransferRequest) { r.TransferClaim = false },
		"other new key": func(r *TransferRequest) { r.NewKey = "execution-d" },
		"other ttl":     func(r *TransferRequest) { r.TTL = nil },
	} {
		var identity *gitstore.IdentityError
		if _, err := f.transfer(change); !errors.As(err, &identity) || f.tip() != before {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestReleaseAgain(t *testing.T) {
	f := newFixture(t)
	f.ok(f.acquire(nil))
	_, err := f.RemoveAgent(f.ctx(), by("agent-a", ""))
	f.must(err)
	f.clock = f.clock.AddDate(5, 0, 0)
	first := f.ok(f.release(nil))
	f.clock = f.clock.Add(time.Hour)
	again := f.ok(f.release(nil))
	if diff := cmp.Diff(first.Lease, again.Lease); diff != "" || again.Status != gitstore.Replayed || again.Verified || !again.Done {
		t.Errorf("got %+v, %s", again, diff)
	}
}

// An answer that was lost in the call is found again by its receipt.
func TestRecovered(t *testing.T) {
	f := leased(t)
	before := f.tip()
	r := transferRequest()
	r.ExpectedVersion = ptr[int64](1)
	first := f.ok(f.TransferLease(f.ctx(), r))
	f.git("-C", f.dir, "update-ref", "refs/loopx/goals/demo", string(before))
	v, err := f.transferVerb(r)
	f.must(err)
	decide := v.decide
	v.decide = func(ctx context.Context, s *gitstore.Snapshot, at todo.Instant) (todo.Decision, error) {
		f.git("-C", f.dir, "update-ref", "refs/loopx/goals/demo", string(first.Revision))
		return decide(ctx, s, at)
	}
	a := f.ok(f.run(f.ctx(), v))
	if a.Status != gitstore.Recovered || !a.Verified || a.Lease.Owner != "agent-b" || f.tip() != first.Revision {
		t.Errorf("got %+v", a)
	}
}
