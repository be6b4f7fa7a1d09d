package lease

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// race runs calls at once, each with a ledger of its own, and returns the one answer that was applied and the codes of all
// others.
func (f *fixture) race(calls ...func(*Ledger) (Answer, error)) (won []Answer, lost []todo.Code) {
	f.t.Helper()
	var wait sync.WaitGroup
	var mu sync.Mutex
	for i, call := range calls {
		l := f.open(byte(10 + i))
		wait.Go(func() {
			a, err := call(l)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil && todo.AsRefusal(err) == nil:
				f.t.Errorf("call %d: %v", i, err)
			case err != nil:
				lost = append(lost, todo.CodeOf(err))
			case a.Status == gitstore.Applied:
				won = append(won, a)
			default:
				f.t.Errorf("call %d: %s", i, a.Status)
			}
		})
	}
	wait.Wait()
	return won, lost
}

// Case 64, with more of them: of those who acquire at once exactly one does, and the others find its lease.
func TestAcquireAtOnce(t *testing.T) {
	f := newFixture(t)
	var calls []func(*Ledger) (Answer, error)
	for i := range 4 {
		r := acquireRequest()
		r.Owner, r.Key = []todo.AgentID{"agent-a", "agent-b"}[i%2], fmt.Sprint("execution-", i)
		calls = append(calls, func(l *Ledger) (Answer, error) { return l.AcquireLease(f.ctx(), r) })
	}
	won, lost := f.race(calls...)
	want := []todo.Code{todo.CodeLeaseConflict, todo.CodeLeaseConflict, todo.CodeLeaseConflict}
	if diff := cmp.Diff(want, lost); len(won) != 1 || diff != "" {
		t.Fatalf("%d won, %s", len(won), diff)
	}
	if l := f.lease("todo_a"); l.Owner != won[0].Lease.Owner || l.Key != won[0].Lease.IdempotencyKey || l.Version != 1 {
		t.Errorf("got %+v, the winner is %+v", l, won[0].Lease)
	}
}

// The same race for scopes that overlap, on two Todos.
func TestScopesAtOnce(t *testing.T) {
	f := newFixture(t)
	f.add("todo_b", todo.AddArgs{})
	one, other := acquireRequest(), acquireRequest()
	one.WriteScopes = []string{"src"}
	other.Todo, other.Owner, other.WriteScopes = "todo_b", "agent-b", []string{"src/**"}
	won, lost := f.race(
		func(l *Ledger) (Answer, error) { return l.AcquireLease(f.ctx(), one) },
		func(l *Ledger) (Answer, error) { return l.AcquireLease(f.ctx(), other) },
	)
	if diff := cmp.Diff([]todo.Code{CodeWriteScopeConflict}, lost); len(won) != 1 || diff != "" {
		t.Errorf("%d won, %s", len(won), diff)
	}
}

// A holder that renews and hands over at once does one of them; the version proves what.
func TestRenewAndTransferAtOnce(t *testing.T) {
	f := leased(t)
	renew, transfer := renewRequest(), transferRequest()
	transfer.ExpectedVersion = ptr[int64](1)
	won, lost := f.race(
		func(l *Ledger) (Answer, error) { return l.RenewLease(f.ctx(), renew) },
		func(l *Ledger) (Answer, error) { return l.TransferLease(f.ctx(), transfer) },
	)
	if len(won) != 1 || len(lost) != 1 || lost[0] != todo.CodeVersionMismatch && lost[0] != todo.CodeOwnerConflictsWithClaim {
		t.Errorf("%d won, lost %s", len(won), lost)
	}
	if l := f.lease("todo_a"); l.Version != 2 || l.Owner != won[0].Lease.Owner {
		t.Errorf("got %+v", l)
	}
}

// Case 60: an unrelated commit between load and swap: the transfer is decided again, and both halves are in one commit.
func TestTransferLosesARace(t *testing.T) {
	f := leased(t)
	r := transferRequest()
	r.ExpectedVersion = ptr[int64](1)
	v, err := f.transferVerb(r)
	f.must(err)
	decide, decided := v.decide, 0
	var foreign string
	v.decide = func(ctx context.Context, s *gitstore.Snapshot, at todo.Instant) (todo.Decision, error) {
		if decided++; decided == 1 {
			tip := string(s.Revision())
			foreign = f.git("-C", f.dir, "commit-tree", "-m", "todo add todo_x", "-p", tip, tip+"^{tree}")
			f.git("-C", f.dir, "update-ref", "refs/loopx/goals/demo", foreign, tip)
		}
		return decide(ctx, s, at)
	}
	a := f.ok(f.run(f.ctx(), v))
	if a.Status != gitstore.Applied || decided != 2 || !a.Verified {
		t.Errorf("decided %d times, got %+v", decided, a)
	}
	if parent := f.git("-C", f.dir, "rev-parse", string(a.Revision)+"^"); parent != foreign {
		t.Errorf("stands on %s, not on %s", parent, foreign)
	}
	files := f.git("-C", f.dir, "diff-tree", "-r", "--name-only", "--no-commit-id", foreign, string(a.Revision))
	want := todo.LeasePath("todo_a") + "\n" + gitstore.ReceiptPath(a.Operation) + "\n" + todo.TodoPath("todo_a")
	if files != want {
		t.Errorf("the commit has %s", files)
	}
}

// The facts changed between load and swap: the transfer is decided on the new ones, and refused without a trace.
func TestTransferLosesItsTodo(t *testing.T) {
	f := leased(t)
	r := transferRequest()
	r.ExpectedVersion = ptr[int64](1)
	v, err := f.transferVerb(r)
	f.must(err)
	decide, decided := v.decide, 0
	v.decide = func(ctx context.Context, s *gitstore.Snapshot, at todo.Instant) (todo.Decision, error) {
		d, err := decide(ctx, s, at)
		if decided++; decided == 1 {
			_, err := f.open(2).Update(f.ctx(), todo.Call{Goal: "demo", Todo: "todo_a", Agent: "agent-a", Proof: todo.ProofOf("execution-a", 1)}, todo.UpdateArgs{Status: ptr(todo.Blocked)})
			f.must(err)
		}
		return d, err
	}
	_, err = f.run(f.ctx(), v)
	if todo.CodeOf(err) != CodeTransferNeedsOpenTodo || decided != 2 {
		t.Errorf("decided %d times, got %v", decided, err)
	}
	if l := f.lease("todo_a"); l.Owner != "agent-a" || l.Status != Released {
		t.Errorf("got %+v", l)
	}
	if receipt, err := f.FindReceipt(f.ctx(), "demo", v.operation); receipt != nil || err != nil {
		t.Errorf("receipt %v, %v", receipt, err)
	}
}

// A holder that waits for its turn until its lease is over gets nothing: others may have taken what it kept from them, and
// there would be two leases with one write scope.
func TestHolderWaitsTooLong(t *testing.T) {
	renew, transfer := renewRequest(), transferRequest()
	transfer.ExpectedVersion = ptr[int64](1)
	for _, c := range []struct {
		name string
		call func(*fixture, *Ledger) error
		want todo.Code
	}{
		{"renew", func(f *fixture, l *Ledger) error {
			_, err := l.RenewLease(f.ctx(), renew)
			return err
		}, CodeLeaseNotActive},
		{"transfer", func(f *fixture, l *Ledger) error {
			_, err := l.TransferLease(f.ctx(), transfer)
			return err
		}, CodeLeaseNotActive},
		{"complete", func(f *fixture, l *Ledger) error {
			done := by("agent-a", "todo_a")
			done.Proof = todo.ProofOf("execution-a", 1)
			_, err := l.Complete(f.ctx(), done, todo.CompleteArgs{})
			return err
		}, todo.CodeModeRequiresLease},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFixture(t)
			f.add("todo_b", todo.AddArgs{})
			f.ok(f.acquire(func(r *AcquireRequest) { r.WriteScopes = []string{"src"} }))
			f.putTodo("todo_a", func(x *todo.Todo) { x.ClaimedBy = "agent-a" })
			waiting := f.open(2)
			waiting.Now = func() time.Time {
				began := f.clock
				if end := began.Add(DefaultTTL * time.Second); f.file(todo.LeasePath("todo_b")) == nil {
					f.clock = end
					f.ok(f.acquire(func(r *AcquireRequest) { r.Todo, r.Owner, r.WriteScopes = "todo_b", "agent-b", []string{"src/**"} }))
				}
				return began
			}
			if err := c.call(f, waiting); todo.CodeOf(err) != c.want || f.lease("todo_a").Version != 1 {
				t.Errorf("got %v; leased are %+v and %+v", err, f.lease("todo_a"), f.lease("todo_b"))
			}
		})
	}
}
