package handoff

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// Cases 46, 54, 55, 56 and 68: what is in the way of leased work, in inspect and in adopt.
func TestLeasedRefused(t *testing.T) {
	for _, row := range []struct {
		name     string
		before   func(*world) error // of the transfer
		after    func(*world) error
		now      string
		blockers string
	}{
		{"as it should be", nil, nil, "", "[]"},
		{"text changed before", func(w *world) error {
			c := w.call("agent-a")
			c.Proof = proofOfA
			_, err := w.Update(w.t.Context(), c, todo.UpdateArgs{Text: pointer("Another text")})
			return err
		}, nil, "", "[note_stale]"},
		{"dependency reopened", nil, reopenB, "", "[todo_dependency_pending]"},
		{"held", nil, func(w *world) error {
			_, err := w.EnableAcceptance(w.t.Context(), w.call(""), nil)
			return err
		}, "", "[goal_acceptance_unbound]"},
		{"held and confirmed", nil, func(w *world) error {
			if _, err := w.EnableAcceptance(w.t.Context(), w.call(""), nil); err != nil {
				return err
			}
			_, err := w.BindAcceptance(w.t.Context(), w.call(""), []todo.ID{"todo_a"})
			return err
		}, "", "[]"},
		{"lease over", nil, nil, "2026-09-13T10:15:00Z", "[handoff_mode_requires_lease]"},
		{"lease over but for others", nil, func(w *world) error {
			w.git("config", "loopx.lease.skew", "30")
			return nil
		}, "2026-09-13T10:15:10Z", "[handoff_mode_requires_lease]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w, ctx := newLeasedWorld(t), t.Context()
			_, err := w.Prepare(ctx, w.prepareLeased())
			w.must(err)
			if row.before != nil {
				w.must(row.before(w))
			}
			note := w.note()
			w.transfer()
			if row.before != nil && w.note() != note {
				t.Errorf("a note that was stale was touched: %s", w.note())
			}
			if row.after != nil {
				w.must(row.after(w))
			}
			if row.now != "" {
				w.Now = clock(row.now)
				w.Ledger.Ledger = lease.New(w.open(), w.Now, rand.Reader) // another process, which reads its settings anew
			}
			w.unmoved(func() {
				p := w.inspectLeased(proofOfB)
				if fmt.Sprint(p.Blockers) != row.blockers || p.CanAdopt != (row.blockers == "[]") {
					t.Errorf("blockers %v, want %s", p.Blockers, row.blockers)
				}
				if row.blockers == "[]" {
					return
				}
				_, err := w.Adopt(ctx, w.adoptLeased())
				want := p.Blockers[0]
				if isReadiness(want) {
					want = CodeNotReady
				}
				wantCode(t, err, want)
				receipt, err := w.FindReceipt(ctx, "demo", "accept-context")
				if receipt != nil || err != nil {
					t.Errorf("a refusal left a receipt: %v, %v", receipt, err)
				}
			})
			if row.blockers == "[]" {
				taken, err := w.Adopt(ctx, w.adoptLeased())
				w.must(err)
				if taken.Status != gitstore.NoChange || !taken.Verified {
					t.Errorf("%+v", taken)
				}
			}
		})
	}
}

// Case 47: a lease that is over proves nothing, even while others have to take it for live.
func TestPrepareLeaseOver(t *testing.T) {
	w, ctx := newLeasedWorld(t), t.Context()
	w.git("config", "loopx.lease.skew", "3600")
	w.Ledger.Ledger = lease.New(w.open(), clock("2026-09-13T10:45:00Z"), rand.Reader)
	w.unmoved(func() {
		_, err := w.Prepare(ctx, w.prepareLeased())
		wantCode(t, err, todo.CodeModeRequiresLease)
		if p := w.inspect("agent-a", "other-session"); p.Authority == nil || p.Authority.Code != todo.CodeModeRequiresLease || p.CanAdopt {
			t.Errorf("%+v", p)
		}
	})
}

// Whoever waited for their turn until their lease was over has none when it comes: nothing is written.
func TestLeaseEndsWhileWaiting(t *testing.T) {
	for _, row := range []struct {
		name string
		call func(*world) error
		end  string
	}{
		{"prepare", func(w *world) error { _, err := w.Prepare(t.Context(), w.prepareLeased()); return err }, "2026-09-13T10:45:00Z"},
		{"adopt", func(w *world) error { _, err := w.Adopt(t.Context(), w.adoptLeased()); return err }, "2026-09-13T10:15:00Z"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newLeasedWorld(t)
			if row.name == "adopt" {
				_, err := w.Prepare(t.Context(), w.prepareLeased())
				w.must(err)
				w.transfer()
			}
			began, reads := w.Now, 0
			w.Now = func() time.Time {
				if reads++; reads == 1 {
					return began()
				}
				return clock(row.end)()
			}
			w.unmoved(func() { wantCode(t, row.call(w), todo.CodeModeRequiresLease) })
		})
	}
}

// Case 71: a lease that cannot be read stops every handoff verb and is left untouched.
func TestUnreadableLease(t *testing.T) {
	w, ctx := newLeasedWorld(t), t.Context()
	_, err := w.Prepare(ctx, w.prepareLeased())
	w.must(err)
	path := todo.LeasePath("todo_a")
	record := w.git("cat-file", "-p", "refs/loopx/goals/demo:"+path)
	for want, blob := range map[todo.Code]string{
		todo.CodeInvalidProjection: strings.Replace(record, `"expires_at":"2026`, `"expires_at":"soon`, 1),
		todo.CodeUnsupportedSchema: strings.Replace(record, `loopx.lease/1`, `loopx.lease/2`, 1),
	} {
		_, err := w.Store.Apply(ctx, gitstore.Operation{
			Ref: "refs/loopx/goals/demo", ID: "foreign " + string(want), Kind: "test", Goal: "demo", Request: strings.Repeat("0", 64),
			Decide: func(context.Context, *gitstore.Snapshot) (gitstore.Change, error) {
				return gitstore.Change{Subject: "test", Files: map[string][]byte{path: []byte(blob + "\n")}}, nil
			},
		})
		w.must(err)
		w.unmoved(func() {
			again := w.prepareLeased()
			again.Operation = "fresh"
			_, err := w.Prepare(ctx, again)
			wantCode(t, err, want)
			_, err = w.Adopt(ctx, w.adoptLeased())
			wantCode(t, err, want)
			r := inspectRequest("agent-b")
			r.Workspace = w.dir
			_, err = w.Inspect(ctx, r)
			wantCode(t, err, want)
		})
		if got := w.git("cat-file", "-p", "refs/loopx/goals/demo:"+path); got != blob {
			t.Errorf("the lease was touched: %s", got)
		}
	}
}

// Section 8: another commit between load and swap is a conflict; an answer lost in the call is found by its receipt.
func TestLeasedRaces(t *testing.T) {
	w, ctx := newLeasedWorld(t), t.Context()
	_, err := w.Prepare(ctx, w.prepareLeased())
	w.must(err)
	w.transfer()
	start := w.tip()
	r := w.adoptLeased()
	seen := func() (Availability, error) { return look(r.Workspace, r.Artifacts) }
	adoptWhile := func(move func(*gitstore.Snapshot)) (AdoptAnswer, error) {
		op, err := w.adoptOperation(r, seen)
		w.must(err)
		decide := op.Decide
		op.Decide = func(ctx context.Context, tip *gitstore.Snapshot) (gitstore.Change, error) {
			move(tip)
			return decide(ctx, tip)
		}
		out, err := w.Store.Apply(ctx, op)
		if err != nil {
			return AdoptAnswer{}, err
		}
		return w.adoptAnswer(ctx, r, op, out, seen)
	}
	_, err = adoptWhile(func(tip *gitstore.Snapshot) {
		foreign := w.git("commit-tree", "-m", "todo add todo_c", "-p", string(tip.Revision()), string(tip.Revision())+"^{tree}")
		w.git("update-ref", "refs/loopx/goals/demo", foreign, string(tip.Revision()))
	})
	wantCode(t, err, CodeRevisionMismatch)

	w.git("update-ref", "refs/loopx/goals/demo", string(start))
	taken, err := w.Adopt(ctx, r)
	w.must(err)
	w.git("update-ref", "refs/loopx/goals/demo", string(start))
	again, err := adoptWhile(func(*gitstore.Snapshot) {
		w.git("update-ref", "refs/loopx/goals/demo", string(taken.Revision))
	})
	w.must(err)
	if again.Status != gitstore.Recovered || !again.Verified || *again.Adoption != *taken.Adoption || w.tip() != taken.Revision {
		t.Errorf("%+v", again)
	}
}
