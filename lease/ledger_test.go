package lease

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// acquire takes the lease of agent-a on todo_a with execution-a, changed as the test likes.
func (f *fixture) acquire(change func(*AcquireRequest)) (Answer, error) {
	r := acquireRequest()
	if change != nil {
		change(&r)
	}
	return f.AcquireLease(f.ctx(), r)
}

func (f *fixture) renew(change func(*RenewRequest)) (Answer, error) {
	r := renewRequest()
	if change != nil {
		change(&r)
	}
	return f.RenewLease(f.ctx(), r)
}

// transfer is L8, of version 1.
func (f *fixture) transfer(change func(*TransferRequest)) (Answer, error) {
	r := transferRequest()
	r.ExpectedVersion = ptr[int64](1)
	if change != nil {
		change(&r)
	}
	return f.TransferLease(f.ctx(), r)
}

func (f *fixture) release(change func(*ReleaseRequest)) (Answer, error) {
	r := releaseRequest()
	if change != nil {
		change(&r)
	}
	return f.ReleaseLease(f.ctx(), r)
}

// ok returns the answer of a call that succeeds.
func (f *fixture) ok(a Answer, err error) Answer {
	f.t.Helper()
	f.must(err)
	return a
}

// leased is a fixture whose todo_a is claimed and leased by agent-a, with version 1.
func leased(t testing.TB) *fixture {
	f := newFixture(t)
	f.ok(f.acquire(nil))
	f.putTodo("todo_a", func(x *todo.Todo) { x.ClaimedBy = "agent-a" })
	return f
}

func TestJourney(t *testing.T) {
	f := newFixture(t)
	got := f.ok(f.acquire(func(r *AcquireRequest) { r.Session = "s-1" }))
	if got.Status != gitstore.Applied || !got.Changed || got.Kind != "lease acquire" || !strings.HasPrefix(got.Operation, "lease-acquire:") ||
		!got.Done || !got.Verified || got.Idempotent || got.Mode != todo.HardLease || got.Revision != f.tip() || got.View == nil {
		t.Errorf("acquire: got %+v", got)
	}
	want := View{
		GoalID: "demo", TodoID: "todo_a", Owner: "agent-a", IdempotencyKey: "execution-a", WriteScopes: []string{}, AcquireTTL: 2700, Version: 1, Epoch: 1,
		Status: Active, AcquiredAt: "2026-09-13T10:00:00Z", UpdatedAt: "2026-09-13T10:00:00Z", ExpiresAt: "2026-09-13T10:45:00Z", Clock: ClockNote{"local", "2026-09-13T10:00:00Z"},
	}
	if diff := cmp.Diff(&want, got.Lease); diff != "" {
		t.Error(diff)
	}
	log, err := f.History(f.ctx(), "demo", "todo_a", 1)
	if err != nil || log[0].Subject != "lease acquire todo_a" || log[0].Agent != "agent-a" || log[0].Session != "s-1" {
		t.Errorf("commit: got %+v, %v", log, err)
	}

	f.clock = f.clock.Add(10 * time.Minute)
	got = f.ok(f.renew(func(r *RenewRequest) { r.TTL = ptr[int64](600) }))
	if got.Status != gitstore.Applied || !got.Done || !got.Verified || got.Lease.Version != 2 || got.Lease.Epoch != 1 || got.Lease.ExpiresAt != "2026-09-13T10:20:00Z" || got.Lease.AcquireTTL != 2700 {
		t.Errorf("renew: got %+v, %+v", got, got.Lease)
	}
	got = f.ok(f.transfer(func(r *TransferRequest) { r.ExpectedVersion, r.TransferClaim = ptr[int64](2), false }))
	if got.Status != gitstore.Applied || !got.Verified || got.TransferClaim || got.Lease.Owner != "agent-b" || got.Lease.Version != 3 || got.Lease.Epoch != 2 {
		t.Errorf("transfer: got %+v, %+v", got, got.Lease)
	}
	got = f.ok(f.release(func(r *ReleaseRequest) { r.Owner, r.Key, r.ExpectedVersion = "agent-b", "execution-b", ptr[int64](3) }))
	if got.Status != gitstore.Applied || !got.Done || got.Verified || got.Lease.Version != 3 || got.Lease.Status != Released || got.Lease.ReleasedAt != "2026-09-13T10:10:00Z" {
		t.Errorf("release: got %+v, %+v", got, got.Lease)
	}
	got = f.ok(f.acquire(func(r *AcquireRequest) { r.Owner, r.Key = "agent-b", "execution-c" }))
	if got.Lease.Version != 4 || got.Lease.Epoch != 3 {
		t.Errorf("the next generation: got %+v", got.Lease)
	}
	f.git("-C", f.dir, "fsck", "--strict")
}

// Cases 57, 58, 61, 67 and 70 at the ledger: the exact code, and no ref moved.
func TestRefusals(t *testing.T) {
	claimed := func(a todo.AgentID) func(*fixture) {
		return func(f *fixture) { f.putTodo("todo_a", func(x *todo.Todo) { x.ClaimedBy = a }) }
	}
	plain := newFixture(t)
	for _, c := range []struct {
		name  string
		given func(*fixture)
		when  func(*fixture) (Answer, error)
		want  todo.Code
	}{
		{"acquire, goal unknown", nil, func(f *fixture) (Answer, error) { return f.acquire(func(r *AcquireRequest) { r.Goal = "absent" }) }, todo.CodeGoalNotFound},
		{"acquire, todo unknown", nil, func(f *fixture) (Answer, error) { return f.acquire(func(r *AcquireRequest) { r.Todo = "todo_x" }) }, todo.CodeTodoNotFound},
		{"acquire, another's claim", claimed("agent-b"), func(f *fixture) (Answer, error) { return f.acquire(nil) }, todo.CodeOwnerConflictsWithClaim},
		{"acquire, unregistered", nil, func(f *fixture) (Answer, error) { return f.acquire(func(r *AcquireRequest) { r.Owner = "agent-x" }) }, todo.CodeOwnerNotRegistered},
		{"acquire, malformed", nil, func(f *fixture) (Answer, error) { return f.acquire(func(r *AcquireRequest) { r.Key = " " }) }, CodeInvalidKey},
		{"acquire, leased", func(f *fixture) { f.ok(f.acquire(nil)) }, func(f *fixture) (Answer, error) { return f.acquire(func(r *AcquireRequest) { r.Owner = "agent-b" }) }, todo.CodeLeaseConflict},
		{"renew, goal unknown", nil, func(f *fixture) (Answer, error) { return f.renew(func(r *RenewRequest) { r.Goal = "absent" }) }, todo.CodeGoalNotFound},
		{"renew, none", nil, func(f *fixture) (Answer, error) { return f.renew(nil) }, todo.CodeVersionMismatch},
		{"renew, no version", nil, func(f *fixture) (Answer, error) { return f.renew(func(r *RenewRequest) { r.ExpectedVersion = nil }) }, CodeVersionRequired},
		{"renew, other key", func(f *fixture) { f.ok(f.acquire(nil)) }, func(f *fixture) (Answer, error) { return f.renew(func(r *RenewRequest) { r.Key = "x" }) }, todo.CodeLeaseCASMismatch},
		{"transfer, goal unknown", nil, func(f *fixture) (Answer, error) {
			return f.transfer(func(r *TransferRequest) { r.Goal, r.TransferClaim = "absent", false })
		}, todo.CodeGoalNotFound},
		{"transfer with the claim, goal unknown", nil, func(f *fixture) (Answer, error) { return f.transfer(func(r *TransferRequest) { r.Goal = "absent" }) }, CodeTransferNeedsAuthority},
		{"transfer with the claim, unclaimed", nil, func(f *fixture) (Answer, error) { return f.transfer(nil) }, CodeTransferOwnerMismatch},
		{"transfer with the claim, receiver unknown", claimed("agent-a"), func(f *fixture) (Answer, error) {
			return f.transfer(func(r *TransferRequest) { r.NewOwner = "agent-x" })
		}, todo.CodeActorNotRegistered},
		{"transfer, its epoch at the end", func(f *fixture) {
			l := held()
			l.Epoch = canonical.MaxInteger
			f.putLease(l)
		}, func(f *fixture) (Answer, error) {
			return f.transfer(func(r *TransferRequest) { r.ExpectedVersion, r.TransferClaim = ptr[int64](3), false })
		}, CodeGenerationExhausted},
		{"release, other version", func(f *fixture) { f.ok(f.acquire(nil)) }, func(f *fixture) (Answer, error) {
			return f.release(func(r *ReleaseRequest) { r.ExpectedVersion = ptr[int64](2) })
		}, todo.CodeVersionMismatch},
		{"release, todo unknown", nil, func(f *fixture) (Answer, error) { return f.release(func(r *ReleaseRequest) { r.Todo = "todo_x" }) }, todo.CodeTodoNotFound},
		{"any verb, an unreadable end", func(f *fixture) {
			f.put(map[string][]byte{todo.LeasePath("todo_a"): records(f.t, "bad")["lease_expires_at_unreadable"]})
		},
			func(f *fixture) (Answer, error) { return f.release(nil) }, todo.CodeInvalidProjection},
		{"any verb, an unknown schema", func(f *fixture) {
			f.put(map[string][]byte{todo.LeasePath("todo_a"): records(f.t, "bad")["lease_future_schema"]})
		},
			func(f *fixture) (Answer, error) { return f.acquire(nil) }, todo.CodeUnsupportedSchema},
		{"the clock of 1999", func(f *fixture) { f.clock = time.Date(1999, 12, 31, 0, 0, 0, 0, time.UTC) }, func(f *fixture) (Answer, error) { return f.acquire(nil) }, todo.CodeInvalidClock},
		{"the clock of 10000", func(f *fixture) { f.clock = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) }, func(f *fixture) (Answer, error) { return f.release(nil) }, todo.CodeInvalidClock},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := plain // a refusal leaves it as it was
			if c.given != nil {
				f = newFixture(t)
				c.given(f)
			}
			f.unmoved(c.want, func() error {
				a, err := c.when(f)
				if a.Lease != nil || a.Receipt.OperationID != "" {
					t.Errorf("got %+v", a)
				}
				return err
			})
			if refs := f.git("-C", f.dir, "for-each-ref", "--format=%(refname)"); refs != "refs/loopx/goals/demo" {
				t.Errorf("refs: %s", refs)
			}
		})
	}
}

// In a soft_claim goal there are no leases but those that are given back.
func TestSoftClaim(t *testing.T) {
	f := newFixture(t)
	_, err := f.SetMode(f.ctx(), todo.Call{Goal: "demo"}, todo.SoftClaim)
	f.must(err)
	f.putLease(held())
	f.unmoved(CodeModeForbidsLease, func() error { _, err := f.acquire(nil); return err })
	f.unmoved(CodeModeForbidsLease, func() error { _, err := f.renew(nil); return err })
	f.unmoved(CodeModeForbidsLease, func() error { _, err := f.transfer(func(r *TransferRequest) { r.TransferClaim = false }); return err })
	f.unmoved(CodeTransferNeedsLease, func() error { _, err := f.transfer(nil); return err })
	if a := f.ok(f.release(func(r *ReleaseRequest) { r.ExpectedVersion = ptr[int64](3) })); a.Status != gitstore.Applied || a.Mode != todo.SoftClaim {
		t.Errorf("release: got %+v", a)
	}
}

// Case 70: no record and version 0 is as good as released, and nothing is written.
func TestReleaseOfNothing(t *testing.T) {
	f := newFixture(t)
	before := f.tip()
	none := func(r *ReleaseRequest) { r.ExpectedVersion = ptr[int64](0) }
	a := f.ok(f.release(none))
	if !a.Missing || a.Done || a.Lease != nil || a.Status != gitstore.NoChange || a.Revision != before || a.Mode != todo.HardLease || a.Receipt.OperationID != "" || a.Refused != nil {
		t.Errorf("got %+v", a)
	}
	if receipt, err := f.FindReceipt(f.ctx(), "demo", a.Operation); receipt != nil || err != nil || f.tip() != before {
		t.Errorf("receipt %v, %v, tip %s, was %s", receipt, err, f.tip(), before)
	}
	f.ok(f.acquire(nil)) // and the same release later finds that there is one
	f.unmoved(todo.CodeVersionMismatch, func() error { _, err := f.release(none); return err })
}

func TestDryRuns(t *testing.T) {
	f := leased(t)
	before := f.tip()
	for name, call := range map[string]func() (Answer, error){
		"acquire": func() (Answer, error) {
			f.add("todo_b", todo.AddArgs{})
			before = f.tip()
			return f.acquire(func(r *AcquireRequest) { r.Todo, r.DryRun = "todo_b", true })
		},
		"renew":    func() (Answer, error) { return f.renew(func(r *RenewRequest) { r.DryRun = true }) },
		"transfer": func() (Answer, error) { return f.transfer(func(r *TransferRequest) { r.DryRun = true }) },
		"release":  func() (Answer, error) { return f.release(func(r *ReleaseRequest) { r.DryRun = true }) },
	} {
		a := f.ok(call())
		if a.Status != gitstore.Planned || a.Done || a.Verified || a.Lease == nil || f.tip() != before {
			t.Errorf("%s: got %+v", name, a)
		}
	}
	a := f.ok(f.release(func(r *ReleaseRequest) { r.Todo, r.ExpectedVersion, r.DryRun = "todo_b", ptr[int64](0), true }))
	if a.Status != gitstore.Planned || !a.Missing {
		t.Errorf("release of nothing: got %+v", a)
	}
}
