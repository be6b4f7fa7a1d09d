package lease

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

func transferOn(change func(*TransferRequest)) func(*scene) (any, error) {
	return func(s *scene) (any, error) {
		r := TransferRequest{
			Held:     holder("agent-a", "execution-a", ptr(heldVersion(s))),
			NewOwner: "agent-b", NewKey: "execution-b", TTL: ptr[int64](600),
		}
		if change != nil {
			change(&r)
		}
		return decideTransfer(s.state(), r, s.record, s.at)
	}
}

func withTheClaim(r *TransferRequest) { r.TransferClaim = true }

func exhaustions() []fault {
	return []fault{
		{"no epoch left", CodeGenerationExhausted, func(s *scene) { s.record.Epoch = canonical.MaxInteger }},
		{"no version left", CodeGenerationExhausted, func(s *scene) { s.record.Version = canonical.MaxInteger }},
	}
}

func TestTransferRefusedInOrder(t *testing.T) {
	faults := []fault{
		{"soft_claim", CodeModeForbidsLease, softClaim},
		{"source not registered", todo.CodeOwnerNotRegistered, func(s *scene) { s.remove("agent-a") }},
	}
	faults = append(faults, notEligible("agent-b")...)
	faults = append(faults, fault{"claimed by the source", todo.CodeOwnerConflictsWithClaim, func(s *scene) { s.todo.ClaimedBy = "agent-a" }})
	unclaimed := func(f fault) fault {
		return fault{f.name, f.code, func(s *scene) {
			if s.todo != nil {
				s.todo.ClaimedBy = ""
			}
			f.make(s)
		}}
	}
	for _, f := range slices.Concat(notHeld(), exhaustions()) {
		faults = append(faults, unclaimed(f))
	}
	faultsInOrder(t, faults, transferOn(nil))
}

func TestTransferWithTheClaimRefusedInOrder(t *testing.T) {
	faults := []fault{
		{"soft_claim", CodeTransferNeedsLease, softClaim},
		{"absent", CodeTransferNeedsOpenTodo, func(s *scene) { s.todo = nil }},
		{"archived", CodeTransferNeedsOpenTodo, func(s *scene) { s.todo.ArchiveState = todo.Archived }},
		{"blocked", CodeTransferNeedsOpenTodo, func(s *scene) { s.todo.Status = todo.Blocked }},
		{"a user's", CodeTransferNeedsOpenTodo, func(s *scene) { s.todo.Role = todo.RoleUser }},
		{"unclaimed", CodeTransferOwnerMismatch, func(s *scene) { s.todo.ClaimedBy = "" }},
		{"claimed by the receiver", CodeTransferOwnerMismatch, func(s *scene) { s.todo.ClaimedBy = "agent-b" }},
		{"source not registered", todo.CodeActorNotRegistered, func(s *scene) { s.remove("agent-a") }},
		{"source excluded", todo.CodeActorExcluded, func(s *scene) { s.todo.ExcludedAgents = []todo.AgentID{"agent-a"} }},
		{"source bound away", todo.CodeBoundAgentMismatch, func(s *scene) { s.todo.BoundAgent = "agent-b" }},
		{"receiver not registered", todo.CodeActorNotRegistered, func(s *scene) { s.remove("agent-b") }},
		{"receiver excluded", todo.CodeActorExcluded, func(s *scene) { s.todo.ExcludedAgents = []todo.AgentID{"agent-b"} }},
		{"receiver bound away", todo.CodeBoundAgentMismatch, func(s *scene) { s.todo.BoundAgent = "agent-a" }},
	}
	faultsInOrder(t, slices.Concat(faults, notHeld(), exhaustions()), transferOn(withTheClaim))

	for _, claim := range []bool{false, true} {
		s := newScene()
		if !claim {
			s.todo.ClaimedBy = ""
		}
		_, err := transferOn(func(r *TransferRequest) { r.TransferClaim, r.NewKey = claim, "execution-a" })(s)
		if todo.CodeOf(err) != CodeKeyReuse {
			t.Errorf("the old key again: got %v", err)
		}
		s.record.Epoch = canonical.MaxInteger
		_, err = transferOn(func(r *TransferRequest) { r.TransferClaim, r.NewKey = claim, "execution-a" })(s)
		if todo.CodeOf(err) != CodeKeyReuse {
			t.Errorf("the old key again, and no epoch left: got %v", err)
		}
	}
}

// continuation is a continuation note of agent-a on a Todo as it is now.
func continuation(t *testing.T, x todo.Todo) []byte {
	t.Helper()
	b, findings := todo.BuildNote(todo.Context{Rationale: "a count starves slow disks", NextSteps: []string{}},
		todo.Source{Agent: "agent-a", Session: "source-session"}, now, todo.TodoFacts(x))
	if findings != nil {
		t.Fatal(findings)
	}
	return b
}

// Lease, claim and note move in one decision; of the note only todo_facts changes, and it is current again.
func TestTransferWithTheClaim(t *testing.T) {
	s := newScene()
	s.note = continuation(t, *s.todo)
	unconfirmed(s) // a transfer is not held
	dependent(s)
	s.note = continuation(t, *s.todo)
	got, err := transferOn(withTheClaim)(s)
	want := held()
	want.Owner, want.Key, want.Version, want.Epoch = "agent-b", "execution-b", 4, 3
	want.ExpiresAt, want.UpdatedAt, want.Clock.ObservedAt = "2026-09-13T10:10:00Z", now, now
	wantLease(t, got, err, want)
	d := got.(todo.Decision)
	moved := *s.todo
	moved.ClaimedBy, moved.LastActorAgentID, moved.UpdatedAt = "agent-b", "agent-a", now
	if diff := cmp.Diff([]todo.Todo{moved}, d.Todos); diff != "" {
		t.Error(diff)
	}
	note := d.Notes["todo_a"]
	if todo.JudgeNote(note, moved).State != todo.NoteCurrent {
		t.Errorf("the note is not current: %s", note)
	}
	same := bytes.Replace(s.note, []byte(todo.TodoFacts(*s.todo)), []byte(todo.TodoFacts(moved)), 1)
	if !bytes.Equal(note, same) {
		t.Errorf("more than todo_facts changed: %s", note)
	}
	if r := d.Result.(Result); !r.TransferClaim || r.ClaimedBy != "agent-b" || r.TodoChanged == nil || !*r.TodoChanged {
		t.Errorf("got %+v", r)
	}
}

func TestTransferLeavesOtherNotes(t *testing.T) {
	free, err := todo.EncodeFreeNote("read the log")
	if err != nil {
		t.Fatal(err)
	}
	stale := newScene()
	stale.todo.Text += "."
	for name, note := range map[string][]byte{
		"none": nil, "free text": free, "stale": continuation(t, *stale.todo), "of an unknown schema": []byte(`{"schema":"loopx.note/2"}` + "\n"), "damaged": []byte("?"),
	} {
		s := newScene()
		s.note = note
		got, err := transferOn(withTheClaim)(s)
		if err != nil || len(got.(todo.Decision).Notes) != 0 || len(got.(todo.Decision).Todos) != 1 {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestTransferToOneself(t *testing.T) {
	s := newScene()
	s.note = continuation(t, *s.todo)
	got, err := transferOn(func(r *TransferRequest) { r.TransferClaim, r.NewOwner, r.TTL = true, "agent-a", nil })(s)
	want := held()
	want.Key, want.Version, want.Epoch, want.UpdatedAt, want.Clock.ObservedAt = "execution-b", 4, 3, now, now
	wantLease(t, got, err, want)
	d := got.(todo.Decision)
	if r := d.Result.(Result); !r.TransferClaim || r.ClaimedBy != "agent-a" || *r.TodoChanged || len(d.Todos)+len(d.Notes) > 0 {
		t.Errorf("got %+v", d)
	}
}

// Without the flag an unclaimed Todo's lease moves alone.
func TestTransferOfTheLeaseAlone(t *testing.T) {
	s := newScene()
	s.todo.ClaimedBy, s.note = "", continuation(t, *s.todo)
	got, err := transferOn(nil)(s)
	want := held()
	want.Owner, want.Key, want.Version, want.Epoch = "agent-b", "execution-b", 4, 3
	want.ExpiresAt, want.UpdatedAt, want.Clock.ObservedAt = "2026-09-13T10:10:00Z", now, now
	wantLease(t, got, err, want)
	d := got.(todo.Decision)
	if r := d.Result.(Result); r.TransferClaim || r.ClaimedBy != "" || r.TodoChanged != nil || len(d.Todos)+len(d.Notes) > 0 {
		t.Errorf("got %+v", d)
	}
}
