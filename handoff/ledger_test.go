package handoff

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// Cases 2, 16, 20, 21, 22 and 25: prepare, inspect, adopt, and each of them again.
func TestJourney(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	before := w.inspect("agent-a", "source-session")
	if before.NoteState != todo.NoteMissing || before.CanAdopt {
		t.Fatalf("%+v", before)
	}

	prepare := w.prepareAt(before.Revision)
	left, err := w.Prepare(ctx, prepare)
	w.must(err)
	if left.Status != gitstore.Applied || !left.NoteVerified || left.NoteState != todo.NoteCurrent || left.Refused != nil ||
		left.Revision == before.Revision || left.Revision != w.tip() || !left.Changed || left.Receipt.Revision != left.Revision {
		t.Fatalf("%+v", left)
	}
	if todo.NoteFacts([]byte(w.note())) != left.Result.NoteFacts || left.View == nil || left.View.UpdatedAt != at {
		t.Errorf("result %+v, view %+v", left.Result, left.View)
	}
	w.unmoved(func() {
		again, err := w.Prepare(ctx, prepare)
		w.must(err)
		if again.Status != gitstore.Replayed || again.Changed || !again.NoteVerified || again.Result.NoteFacts != left.Result.NoteFacts || again.Receipt.Revision != left.Revision {
			t.Errorf("%+v", again)
		}
	})

	note := w.note()
	p := w.inspect("agent-b", "target-session")
	if !p.CanAdopt || p.NoteState != todo.NoteCurrent || !p.Availability.Ready || p.NextStep != "Bound the retry loop by time" || p.Revision != left.Revision {
		t.Fatalf("%+v", p)
	}
	adopt := w.adoptAt(p.Revision)
	taken, err := w.Adopt(ctx, adopt)
	w.must(err)
	if taken.Status != gitstore.Applied || !taken.Verified || taken.Refused != nil || taken.Failures == nil || len(taken.Failures) > 0 ||
		taken.Target != "agent-b" || !taken.Claim.OK || taken.Claim.ClaimedBy != "agent-b" || taken.Claim.SourceAgentID != "agent-a" ||
		taken.Claim.NoteFacts != left.Result.NoteFacts || taken.View.ClaimedBy != "agent-b" {
		t.Fatalf("%+v", taken)
	}
	if taken.Packet.NoteState != todo.NoteStale || taken.Packet.CanAdopt || taken.Packet.Revision != taken.Revision || w.note() != note {
		t.Errorf("packet %+v, note %s", taken.Packet, w.note())
	}
	w.unmoved(func() { // from another session and process, the workspace gone, the clock far ahead
		other := Ledger{lease.New(w.open(), clock("2036-01-01T00:00:00Z"), rand.Reader)}
		elsewhere := adopt
		elsewhere.Session, elsewhere.Workspace, elsewhere.Artifacts, elsewhere.Target = "third-session", filepath.Join(w.dir, "gone"), []string{"gone.md"}, "agent-b"
		again, err := other.Adopt(ctx, elsewhere)
		w.must(err)
		if again.Status != gitstore.Replayed || !again.Verified || again.Refused != nil || !reflect.DeepEqual(again.Claim, taken.Claim) || again.Packet.Availability.WorkspaceAvailable {
			t.Errorf("%+v", again)
		}
	})
	w.unmoved(func() { // what was done with the source's id is no longer true
		again, err := w.Prepare(ctx, prepare)
		w.must(err)
		if again.Status != gitstore.Replayed || again.NoteVerified || todo.CodeOf(again.Refused) != CodeOwnerRequired {
			t.Errorf("%+v", again)
		}
	})
	w.git("fsck", "--strict", "--no-dangling")
	if subjects := w.git("log", "-2", "--format=%s", "refs/loopx/goals/demo"); subjects != "handoff adopt todo_a\nhandoff prepare todo_a" {
		t.Errorf("history %q", subjects)
	}
}

// Case 25: the owner goes on in another session: one commit with the receipt only.
func TestAdoptOwnTodo(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	left, err := w.Prepare(ctx, w.prepareAt(w.tip()))
	w.must(err)
	r := w.adoptAt(left.Revision)
	r.Agent = "agent-a"
	taken, err := w.Adopt(ctx, r)
	w.must(err)
	if taken.Status != gitstore.NoChange || taken.Changed || !taken.Verified || taken.Packet.NoteState != todo.NoteCurrent || taken.Claim.Changed {
		t.Errorf("%+v", taken)
	}
	if changed := w.git("diff-tree", "-r", "--name-only", "--no-commit-id", string(taken.Revision)); !strings.HasPrefix(changed, "receipts/") || strings.Contains(changed, "\n") {
		t.Errorf("changed %s", changed)
	}
}

// Case 19: a later change does not undo the receipt, and the replay says what is not true any more.
func TestPrepareAgainLater(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*world) error
		want   todo.Code
	}{
		{"another Todo", func(w *world) error {
			c := w.call("agent-b")
			c.Todo = "todo_b"
			_, err := w.Add(w.t.Context(), c, todo.AddArgs{Text: "Another"})
			return err
		}, ""},
		{"a label", func(w *world) error {
			_, err := w.Update(w.t.Context(), w.call("agent-a"), todo.UpdateArgs{Labels: &[]string{"late"}})
			return err
		}, CodeNoteStale},
		{"another note", func(w *world) error {
			r := w.prepareAt(w.tip())
			r.Operation, r.Session = "handoff-2", "later-session"
			_, err := w.Prepare(w.t.Context(), r)
			return err
		}, CodeNoteReplaced},
		{"a release", func(w *world) error {
			_, err := w.Release(w.t.Context(), w.call("agent-a"), todo.ReleaseArgs{})
			return err
		}, CodeOwnerRequired},
		{"done", func(w *world) error {
			_, err := w.Complete(w.t.Context(), w.call("agent-a"), todo.CompleteArgs{})
			return err
		}, todo.CodeTodoNotOpen},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.prepareAt(w.tip())
			left, err := w.Prepare(t.Context(), r)
			w.must(err)
			w.must(row.change(w))
			w.unmoved(func() {
				again, err := w.Prepare(t.Context(), r)
				w.must(err)
				if again.Status != gitstore.Replayed || again.NoteVerified != (row.want == "") || again.Result.NoteFacts != left.Result.NoteFacts {
					t.Errorf("%+v", again)
				}
				wantCode(t, asError(again.Refused), row.want)
			})
		})
	}
}

// Cases 23 and 24: a replayed takeover is verified by what is true now.
func TestAdoptAgainLater(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*world) error
		want   string
	}{
		{"another Todo", func(w *world) error {
			c := w.call("agent-b")
			c.Todo = "todo_b"
			_, err := w.Add(w.t.Context(), c, todo.AddArgs{Text: "Another"})
			return err
		}, "[provider_revision_mismatch]"},
		{"done", func(w *world) error {
			_, err := w.Complete(w.t.Context(), w.call("agent-b"), todo.CompleteArgs{})
			return err
		}, "[todo_not_open continuation_facts_changed provider_revision_mismatch]"},
		{"released", func(w *world) error {
			_, err := w.Release(w.t.Context(), w.call("agent-b"), todo.ReleaseArgs{})
			return err
		}, "[claim_owner_mismatch provider_revision_mismatch]"},
		{"handed on", func(w *world) error {
			r := w.prepareAt(w.tip())
			r.Operation, r.Agent = "handoff-2", "agent-b"
			left, err := w.Prepare(w.t.Context(), r)
			if err != nil {
				return err
			}
			next := w.adoptAt(left.Revision)
			next.Operation, next.Agent = "resume-2", "agent-c"
			_, err = w.Adopt(w.t.Context(), next)
			return err
		}, "[claim_owner_mismatch continuation_note_replaced provider_revision_mismatch]"},
		{"note", func(w *world) error {
			_, err := w.SetNote(w.t.Context(), w.call("agent-b"), todo.NoteArgs{Text: "Back at noon"})
			return err
		}, "[continuation_note_replaced provider_revision_mismatch]"},
		{"text", func(w *world) error {
			_, err := w.Update(w.t.Context(), w.call("agent-b"), todo.UpdateArgs{Text: pointer("Another text")})
			return err
		}, "[continuation_facts_changed provider_revision_mismatch]"},
		{"held", func(w *world) error {
			_, err := w.EnableAcceptance(w.t.Context(), w.call(""), nil)
			return err
		}, "[goal_acceptance_unbound provider_revision_mismatch]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t)
			left, err := w.Prepare(t.Context(), w.prepareAt(w.tip()))
			w.must(err)
			r := w.adoptAt(left.Revision)
			taken, err := w.Adopt(t.Context(), r)
			w.must(err)
			w.must(row.change(w))
			w.unmoved(func() {
				again, err := w.Adopt(t.Context(), r)
				w.must(err)
				if again.Status != gitstore.Replayed || again.Verified || fmt.Sprint(again.Failures) != row.want ||
					again.Refused == nil || again.Claim.Code != again.Refused.Code || !reflect.DeepEqual(again.Claim.Claim, taken.Claim.Claim) {
					t.Errorf("failures %v, want %s: %+v", again.Failures, row.want, again)
				}
			})
		})
	}
}
