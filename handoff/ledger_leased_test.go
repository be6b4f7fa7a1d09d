package handoff

import (
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// Cases 47 to 52 and section 7.6: the note is left, claim, lease and note move together, the receiver takes them over.
func TestLeasedJourney(t *testing.T) {
	w, ctx := newLeasedWorld(t), t.Context()
	for _, row := range []struct {
		proof todo.Proof
		want  todo.Code
	}{
		{todo.Proof{}, todo.CodeLeaseFenceRequired},
		{todo.ProofOf("execution-x", 3), todo.CodeLeaseCASMismatch},
		{todo.ProofOf("execution-a", 999), todo.CodeVersionMismatch},
	} {
		r := w.prepareLeased()
		r.Proof = row.proof
		w.unmoved(func() {
			_, err := w.Prepare(ctx, r)
			wantCode(t, err, row.want)
		})
	}
	record := func() string {
		return w.git("cat-file", "-p", "refs/loopx/goals/demo:"+todo.LeasePath("todo_a"))
	}
	before := record()
	prepare := w.prepareLeased()
	left, err := w.Prepare(ctx, prepare)
	w.must(err)
	if left.Status != gitstore.Applied || !left.NoteVerified || record() != before || left.View.ClaimedBy != "agent-a" {
		t.Fatalf("%+v", left)
	}
	w.unmoved(func() {
		again, err := w.Prepare(ctx, prepare)
		w.must(err)
		if again.Status != gitstore.Replayed || !again.NoteVerified {
			t.Errorf("%+v", again)
		}
	})

	w.unmoved(func() { // not transferred
		if p := w.inspectLeased(todo.Proof{}); fmt.Sprint(p.Blockers) != "[continuation_transfer_required]" || p.CanAdopt {
			t.Errorf("blockers %v", p.Blockers)
		}
		_, err := w.Adopt(ctx, w.adoptLeased())
		if refusal := wantCode(t, err, CodeTransferRequired); nestedIn(refusal) != "adoption" {
			t.Errorf("refusal %+v", refusal)
		}
	})

	note := w.note()
	facts := w.facts()
	w.transfer()
	got := slices.DeleteFunc(w.files(w.tip()), isReceipt)
	if want := []string{todo.LeasePath("todo_a"), todo.NotePath("todo_a"), todo.TodoPath("todo_a")}; !slices.Equal(got, want) {
		t.Errorf("the transfer changed %s, want %s", got, want)
	}
	if want := strings.Replace(note, facts, w.facts(), 1); w.note() != want || note == want {
		t.Errorf("note %s, want %s", w.note(), want)
	}

	w.unmoved(func() {
		p := w.inspectLeased(proofOfB)
		if !p.CanAdopt || p.NoteState != todo.NoteCurrent || p.Authority == nil || !p.Authority.Allowed || p.Authority.Code != fenceVerified || p.DependencyState != todo.DependenciesReady {
			t.Errorf("%+v", p)
		}
		if p := w.inspectLeased(todo.Proof{}); fmt.Sprint(p.Blockers) != "[lease_fence_required]" || p.Authority.Code != todo.CodeLeaseFenceRequired {
			t.Errorf("without proof: %v, %+v", p.Blockers, p.Authority)
		}
		for _, proof := range []todo.Proof{{}, proofOfA, todo.ProofOf("execution-b", 3)} {
			r := w.adoptLeased()
			r.Proof = proof
			if _, err := w.Adopt(ctx, r); err == nil {
				t.Errorf("adopted with %+v", proof)
			}
		}
	})

	note, before = w.note(), record()
	adopt := w.adoptLeased()
	taken, err := w.Adopt(ctx, adopt)
	w.must(err)
	if taken.Status != gitstore.NoChange || taken.Changed || !taken.Verified || taken.Refused != nil || taken.Claim != nil || taken.Target != "agent-b" {
		t.Fatalf("%+v", taken)
	}
	if a := taken.Adoption; a == nil || !a.OK || a.Changed || !a.Adopted || a.AgentID != "agent-b" || a.SourceAgentID != "agent-a" || a.NoteFacts != todo.NoteFacts([]byte(note)) {
		t.Errorf("adoption %+v", taken.Adoption)
	}
	if got := w.files(taken.Revision); len(got) != 1 || !isReceipt(got[0]) {
		t.Errorf("the adoption changed %s", got)
	}
	if taken.Packet.NoteState != todo.NoteCurrent || !taken.Packet.CanAdopt || w.note() != note || record() != before {
		t.Errorf("packet %+v", taken.Packet)
	}

	w.unmoved(func() {
		other := Ledger{lease.New(w.open(), w.Now, rand.Reader)}
		again, err := other.Adopt(ctx, adopt)
		w.must(err)
		if again.Status != gitstore.Replayed || !again.Verified || again.Adoption == nil || *again.Adoption != *taken.Adoption || again.Claim != nil {
			t.Errorf("%+v", again)
		}
		for name, change := range map[string]func(*AdoptRequest){
			"session":  func(r *AdoptRequest) { r.Session = "third-session" },
			"no proof": func(r *AdoptRequest) { r.Proof = todo.Proof{} },
			"version":  func(r *AdoptRequest) { r.Proof = todo.ProofOf("execution-b", 5) },
		} {
			r := adopt
			change(&r)
			var identity *gitstore.IdentityError
			if _, err := w.Adopt(ctx, r); !errors.As(err, &identity) {
				t.Errorf("another %s: %v", name, err)
			}
		}
		old := w.call("agent-a")
		old.Proof = proofOfA
		_, err = w.Update(ctx, old, todo.UpdateArgs{Text: pointer("Another text")})
		wantCode(t, err, todo.CodeUpdateOwnerMismatch)
	})
	w.git("fsck", "--strict", "--no-dangling")
}

// Cases 53 and 54: a replayed adoption is verified by what is true now, the lease too.
func TestLeasedAdoptAgainLater(t *testing.T) {
	byB := func(w *world) todo.Call {
		c := w.call("agent-b")
		c.Proof = proofOfB
		return c
	}
	nothing := func(*world) error { return nil }
	for _, row := range []struct {
		name   string
		change func(*world) error
		now    string
		want   string
	}{
		{"in time", nothing, "2026-09-13T10:14:59Z", "[]"},
		{"at the end of the lease", nothing, "2026-09-13T10:15:00Z", "[handoff_mode_requires_lease]"},
		{"another Todo", func(w *world) error {
			c := w.call("agent-b")
			c.Todo = "todo_c"
			_, err := w.Add(w.t.Context(), c, todo.AddArgs{Text: "Another"})
			return err
		}, "", "[provider_revision_mismatch]"},
		{"text", func(w *world) error {
			_, err := w.Update(w.t.Context(), byB(w), todo.UpdateArgs{Text: pointer("Another text")})
			return err
		}, "", "[continuation_facts_changed provider_revision_mismatch]"},
		{"held", func(w *world) error {
			_, err := w.EnableAcceptance(w.t.Context(), w.call(""), nil)
			return err
		}, "", "[goal_acceptance_unbound provider_revision_mismatch]"},
		{"released", func(w *world) error {
			_, err := w.ReleaseLease(w.t.Context(), lease.ReleaseRequest{
				Held: holderOf("agent-b", "execution-b", pointer(int64(4))),
			})
			return err
		}, "", "[handoff_mode_requires_lease provider_revision_mismatch]"},
		{"renewed", func(w *world) error {
			_, err := w.RenewLease(w.t.Context(), lease.RenewRequest{
				Held: holderOf("agent-b", "execution-b", pointer(int64(4))),
			})
			return err
		}, "", "[version_mismatch provider_revision_mismatch]"},
		{"dependency reopened", reopenB, "", "[todo_dependency_pending provider_revision_mismatch]"},
		{"done", func(w *world) error {
			_, err := w.Complete(w.t.Context(), byB(w), todo.CompleteArgs{})
			return err
		}, "", "[todo_not_open continuation_facts_changed handoff_mode_requires_lease provider_revision_mismatch]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newLeasedWorld(t)
			_, err := w.Prepare(t.Context(), w.prepareLeased())
			w.must(err)
			w.transfer()
			r := w.adoptLeased()
			taken, err := w.Adopt(t.Context(), r)
			w.must(err)
			w.must(row.change(w))
			if row.now != "" {
				w.Now = clock(row.now)
			}
			w.unmoved(func() {
				again, err := w.Adopt(t.Context(), r)
				w.must(err)
				if again.Status != gitstore.Replayed || again.Verified != (row.want == "[]") || fmt.Sprint(again.Failures) != row.want ||
					again.Adoption.Code != todo.CodeOf(asError(again.Refused)) || again.Adoption.Adoption != taken.Adoption.Adoption {
					t.Errorf("failures %v, want %s: %+v", again.Failures, row.want, again)
				}
			})
		})
	}
}
