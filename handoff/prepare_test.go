package handoff

import (
	"bytes"
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

// Cases 12 to 14, 32, 41 and 47 of continuation.md, section 12, and the order of section 7.3.
func TestPrepareRefuses(t *testing.T) {
	request := func(change func(*PrepareRequest)) PrepareRequest {
		r := prepareRequest()
		change(&r)
		return r
	}
	asIs := prepareRequest()
	moved := request(func(r *PrepareRequest) { r.Expected = laterTip })
	with := func(change func(*todo.Todo)) todo.State { return with(demo(), change) }
	note := func(b string) todo.State {
		s := demo()
		s.Note = []byte(b + "\n")
		return s
	}
	for _, row := range []struct {
		name  string
		state todo.State
		r     PrepareRequest
		want  todo.Code
	}{
		{"no such Todo", func() todo.State { s := demo(); s.Todo = nil; return s }(), moved, todo.CodeTodoNotFound},
		{"note of another version, Todo done", func() todo.State {
			s := note(`{"schema":"loopx.note/2","text":"x"}`)
			s.Todo.Status = todo.Done
			return s
		}(), asIs, todo.CodeUnsupportedSchema},
		{"note not canonical", note(`{"text":"x", "schema":"loopx.note/1"}`), asIs, todo.CodeInvalidProjection},
		{"done", with(func(x *todo.Todo) { x.Status, x.ClaimedBy = todo.Done, "agent-b" }), asIs, todo.CodeTodoNotOpen},
		{"blocked", with(func(x *todo.Todo) { x.Status = todo.Blocked }), asIs, todo.CodeTodoNotOpen},
		{"deferred", with(func(x *todo.Todo) { x.Status = todo.Deferred }), moved, todo.CodeTodoNotOpen},
		{"archived", with(func(x *todo.Todo) { x.ArchiveState = todo.Archived }), asIs, todo.CodeTodoNotOpen},
		{"archived and a person's", with(func(x *todo.Todo) { x.ArchiveState, x.Role = todo.Archived, todo.RoleUser }), asIs, todo.CodeTodoNotOpen},
		{"a person's, unclaimed", with(func(x *todo.Todo) { x.Role, x.ClaimedBy = todo.RoleUser, "" }), asIs, todo.CodeTodoNotAgent},
		{"unclaimed", with(func(x *todo.Todo) { x.ClaimedBy = "" }), asIs, CodeOwnerRequired},
		{"claimed by b", with(func(x *todo.Todo) { x.ClaimedBy = "agent-b" }), moved, CodeOwnerRequired},
		{"claimed by b and excluded", with(func(x *todo.Todo) { x.ClaimedBy, x.ExcludedAgents = "agent-b", []todo.AgentID{"agent-a"} }), asIs, CodeOwnerRequired},
		{"excluded and bound away", with(func(x *todo.Todo) { x.BoundAgent, x.ExcludedAgents = "agent-b", []todo.AgentID{"agent-a"} }), asIs, todo.CodeActorExcluded},
		{"bound away, with proof", with(func(x *todo.Todo) { x.BoundAgent = "agent-b" }), request(func(r *PrepareRequest) { r.Proof = todo.ProofOf("k", 3) }), todo.CodeBoundAgentMismatch},
		{"proof without a lease", demo(), request(func(r *PrepareRequest) { r.Proof, r.Expected = todo.ProofOf("k", 3), laterTip }), todo.CodeModeRequiresLease},
		{"revision moved", demo(), moved, CodeRevisionMismatch},
		{"revision abbreviated", demo(), request(func(r *PrepareRequest) { r.Expected = tip[:12] }), CodeRevisionMismatch},
	} {
		t.Run(row.name, func(t *testing.T) {
			d, err := Prepare(row.state, row.r, at)
			wantCode(t, err, row.want)
			if d.Changes() || d.Result != nil {
				t.Errorf("a refusal decided %+v", d)
			}
		})
	}
}

// Case 2: the note and who touched the Todo change in one decision; facts and claim stay.
func TestPrepare(t *testing.T) {
	s := demo()
	d, err := Prepare(s, prepareRequest(), at)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Todos) != 1 || len(d.Notes) != 1 || d.Goal != nil || d.Subject != "handoff prepare todo_a" {
		t.Fatalf("decided %+v", d)
	}
	want := *s.Todo
	want.UpdatedAt, want.LastActorAgentID = at, "agent-a"
	if got := d.Todos[0]; todo.TodoFacts(got) != todo.TodoFacts(*s.Todo) || got.UpdatedAt != at || got.LastActorAgentID != "agent-a" {
		t.Errorf("Todo is %+v, want %+v", got, want)
	}
	const facts = "26e815e882c16f41199d686613bfc0be7f8f5ab359e9692b48b02b55ebf5bf75" // section 2
	if got := todo.NoteFacts(d.Notes["todo_a"]); got != facts {
		t.Errorf("note facts %s, want %s: %s", got, facts, d.Notes["todo_a"])
	}
	result := d.Result.(todo.UpdateResult)
	if result.Schema != "loopx_coordination_todo_update_result_v0" || result.TodoID != "todo_a" || !result.Changed ||
		result.NoteFacts != facts || result.ReplacedNote != nil {
		t.Errorf("result %+v", result)
	}
	state, refusal := ReadBack(after(s, d), prepareRequest(), result)
	if state != todo.NoteCurrent || refusal != nil {
		t.Errorf("read back %s, %v", state, refusal)
	}
}

// A note that is replaced, free text too, is named in the result.
func TestPrepareNamesReplacedNote(t *testing.T) {
	s := demo()
	s.Note, _ = todo.EncodeFreeNote("Back at noon")
	d, err := Prepare(s, prepareRequest(), at)
	if err != nil {
		t.Fatal(err)
	}
	if gone := d.Result.(todo.UpdateResult).ReplacedNote; gone == nil || gone.State != todo.NoteMissing || gone.Facts != todo.NoteFacts(s.Note) {
		t.Errorf("replaced %+v", gone)
	}
}

// Case 9: an empty list in the context is legal and kept.
func TestPrepareKeepsEmptyLists(t *testing.T) {
	r := prepareRequest()
	r.Context, r.Rationale, r.SourceRefs = []byte(`{"work_summary":"Half done","next_steps":[]}`), nil, nil
	d, err := Prepare(demo(), r, at)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(d.Notes["todo_a"], []byte(`"next_steps":[]`)) {
		t.Errorf("note is %s", d.Notes["todo_a"])
	}
}

// Case 19 and the order of section 7.3, step 3.
func TestReadBack(t *testing.T) {
	s := demo()
	d, err := Prepare(s, prepareRequest(), at)
	if err != nil {
		t.Fatal(err)
	}
	result := d.Result.(todo.UpdateResult)
	s = after(s, d)
	other := s
	other.Note = bytes.Replace(s.Note, []byte("A count"), []byte("A bound"), 1)
	relabelled := with(s, func(x *todo.Todo) { x.Labels = []string{"late"} })
	for _, row := range []struct {
		name  string
		state todo.State
		note  todo.NoteState
		want  todo.Code
	}{
		{"as written", s, todo.NoteCurrent, ""},
		{"touched by another verb", with(s, func(x *todo.Todo) { x.UpdatedAt, x.LastActorAgentID = "2026-09-14T10:00:00Z", "agent-b" }), todo.NoteCurrent, ""},
		{"label changed", relabelled, todo.NoteStale, CodeNoteStale},
		{"another note", other, todo.NoteCurrent, CodeNoteReplaced},
		{"note gone", func() todo.State { s := s; s.Note = nil; return s }(), todo.NoteMissing, CodeNoteReplaced},
		{"note not understood", func() todo.State { s := s; s.Note = []byte("{}\n"); return s }(), todo.NoteUnsupported, CodeNoteReplaced},
		{"another note, label changed", func() todo.State { s := relabelled; s.Note = other.Note; return s }(), todo.NoteStale, CodeNoteReplaced},
		{"taken over", with(other, func(x *todo.Todo) { x.ClaimedBy = "agent-b" }), todo.NoteStale, CodeOwnerRequired},
		{"released", with(s, func(x *todo.Todo) { x.ClaimedBy = "" }), todo.NoteStale, CodeOwnerRequired},
		{"done by another", with(other, func(x *todo.Todo) { x.ClaimedBy, x.Status = "agent-b", todo.Done }), todo.NoteStale, todo.CodeTodoNotOpen},
		{"archived", with(s, func(x *todo.Todo) { x.ArchiveState = todo.Archived }), todo.NoteStale, todo.CodeTodoNotOpen},
		{"gone", func() todo.State { s := s; s.Todo, s.Note = nil, nil; return s }(), todo.NoteMissing, todo.CodeTodoNotOpen},
	} {
		t.Run(row.name, func(t *testing.T) {
			note, refusal := ReadBack(row.state, prepareRequest(), result)
			if note != row.note {
				t.Errorf("note is %s, want %s", note, row.note)
			}
			wantCode(t, asError(refusal), row.want)
		})
	}
}

// Case 6: the bound of a text is in characters, not in bytes or UTF-16 units.
func TestPrepareCountsCharacters(t *testing.T) {
	for n, want := range map[int]todo.Code{2000: "", 2001: todo.CodeInvalidContinuation} {
		r := prepareRequest()
		r.Context, r.Rationale, r.SourceRefs = []byte(`{"work_summary":"`+strings.Repeat("😀", n)+`"}`), nil, nil
		wantCode(t, CheckPrepare(r), want)
	}
}
