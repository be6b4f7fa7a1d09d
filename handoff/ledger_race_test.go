package handoff

import (
	"context"
	"crypto/rand"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// Cases 14 and 34: of those who act on one revision at once, exactly one wins.
func TestOnlyOneWins(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	race := func(n int, do func(i int, l *Ledger) (gitstore.Status, error)) (applied int, errs []error) {
		var wait sync.WaitGroup
		var mu sync.Mutex
		for i := range n {
			l := &Ledger{lease.New(w.open(), w.Now, rand.Reader)}
			wait.Go(func() {
				status, err := do(i, l)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					errs = append(errs, err)
				} else if status == gitstore.Applied {
					applied++
				}
			})
		}
		wait.Wait()
		return applied, errs
	}
	start := w.tip()
	applied, errs := race(4, func(i int, l *Ledger) (gitstore.Status, error) {
		r := w.prepareAt(start)
		r.Operation, r.Session = fmt.Sprintf("handoff-%d", i), fmt.Sprintf("session-%d", i)
		a, err := l.Prepare(ctx, r)
		return a.Status, err
	})
	if applied != 1 || len(errs) != 3 {
		t.Errorf("prepare: %d applied, %v", applied, errs)
	}
	for _, err := range errs {
		wantCode(t, err, CodeRevisionMismatch)
	}

	prepared := w.tip()
	applied, errs = race(2, func(i int, l *Ledger) (gitstore.Status, error) {
		r := w.adoptAt(prepared)
		r.Agent, r.Operation = []todo.AgentID{"agent-b", "agent-c"}[i], fmt.Sprintf("resume-%d", i)
		a, err := l.Adopt(ctx, r)
		return a.Status, err
	})
	if applied != 1 || len(errs) != 1 || codeOf(errs[0]) != CodeRevisionMismatch && codeOf(errs[0]) != CodeNotReady {
		t.Errorf("adopt: %d applied, %v", applied, errs)
	}
	if parent := w.git("rev-parse", "refs/loopx/goals/demo^"); parent != string(prepared) {
		t.Errorf("the winner stands on %s, not on %s", parent, prepared)
	}
}

// Case 35: another commit between load and swap is a conflict, without a retry and without a receipt.
func TestLostRace(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	left, err := w.Prepare(ctx, w.prepareAt(w.tip()))
	w.must(err)
	r := w.adoptAt(left.Revision)
	seen := func() (Availability, error) { return look(r.Workspace, r.Artifacts) }
	op, err := w.adoptOperation(r, seen)
	w.must(err)
	decide, decided := op.Decide, 0
	var foreign string
	op.Decide = func(ctx context.Context, tip *gitstore.Snapshot) (gitstore.Change, error) {
		decided++
		foreign = w.git("commit-tree", "-m", "todo add todo_b", "-p", string(tip.Revision()), string(tip.Revision())+"^{tree}")
		w.git("update-ref", "refs/loopx/goals/demo", foreign, string(tip.Revision()))
		return decide(ctx, tip)
	}
	_, err = w.Store.Apply(ctx, op)
	wantCode(t, err, CodeRevisionMismatch)
	if decided != 1 || string(w.tip()) != foreign {
		t.Errorf("decided %d times, tip %s", decided, w.tip())
	}
	if receipt, err := w.FindReceipt(ctx, "demo", r.Operation); receipt != nil || err != nil {
		t.Errorf("receipt %v, %v", receipt, err)
	}
}

// Case 16 and 35: an answer lost in the call is found again by its receipt: the race was lost to oneself.
func TestRecovered(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	left, err := w.Prepare(ctx, w.prepareAt(w.tip()))
	w.must(err)
	r := w.adoptAt(left.Revision)
	taken, err := w.Adopt(ctx, r)
	w.must(err)
	w.git("update-ref", "refs/loopx/goals/demo", string(left.Revision))

	seen := func() (Availability, error) { return look(r.Workspace, r.Artifacts) }
	op, err := w.adoptOperation(r, seen)
	w.must(err)
	decide := op.Decide
	op.Decide = func(ctx context.Context, tip *gitstore.Snapshot) (gitstore.Change, error) {
		w.git("update-ref", "refs/loopx/goals/demo", string(taken.Revision))
		return decide(ctx, tip)
	}
	out, err := w.Store.Apply(ctx, op)
	w.must(err)
	again, err := w.adoptAnswer(ctx, r, op, out, seen)
	w.must(err)
	if again.Status != gitstore.Recovered || !again.Verified || !reflect.DeepEqual(again.Claim, taken.Claim) || w.tip() != taken.Revision {
		t.Errorf("%+v", again)
	}
}
