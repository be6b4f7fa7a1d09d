package handoff

import (
	"fmt"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Prepare decides handoff prepare (continuation.md, section 7.3): the first refusal in its order, or the note on the
// Todo's current facts and the Todo's updated_at and last_actor_agent_id, to be written in one commit. Facts, claim
// and lease stay. Leased work needs the lease proof; acceptance and dependencies do not hold a note. The result is a [todo.UpdateResult] that tells which note went. A pinned revision that is not the tip is a
// [*gitstore.MismatchError], after all this.
//
// The request is well formed ([CheckPrepare]) and the actor registered.
func Prepare(s todo.State, r PrepareRequest, at todo.Instant) (todo.Decision, error) {
	if err := workable(s, r.Todo); err != nil {
		return todo.Decision{}, err
	}
	t := *s.Todo
	if t.ClaimedBy != r.Agent {
		return todo.Decision{}, ownerRequired(t, r.Agent)
	}
	if err := todo.Admit(t, r.Agent); err != nil {
		return todo.Decision{}, err
	}
	if leased(s, r.Agent, r.Proof) {
		if err := todo.CheckProof(s, t, r.Agent, r.Proof); err != nil {
			return todo.Decision{}, err
		}
	}
	c, err := contextOf(r)
	if err != nil {
		return todo.Decision{}, err
	}
	note, findings := todo.BuildNote(c, todo.Source{Agent: r.Agent, Session: r.Session}, at, todo.TodoFacts(t))
	if len(findings) > 0 {
		return todo.Decision{}, notNote(findings)
	}
	if r.Expected != s.Revision {
		return todo.Decision{}, &gitstore.MismatchError{Expected: r.Expected, Current: s.Revision}
	}
	t.UpdatedAt, t.LastActorAgentID = at, r.Agent
	return todo.Decision{
		Subject: "handoff prepare " + string(t.ID),
		Todos:   []todo.Todo{t},
		Notes:   map[todo.ID][]byte{t.ID: note},
		Result: todo.UpdateResult{
			Schema: todo.UpdateSchema, TodoID: t.ID, Changed: true, Fields: []string{"note"},
			NoteFacts: todo.NoteFacts(note), ReplacedNote: todo.ReplacedNoteOf(s.JudgeNote()),
		},
	}, nil
}

// CheckPrepare refuses a malformed request before anything is read (invalid_continuation_request): the first finding in
// the context makes the sentence, all are in the detail findings.
func CheckPrepare(r PrepareRequest) error {
	if err := checkCall(r.Call); err != nil {
		return err
	}
	_, err := contextOf(r)
	return err
}

// args are the members of request_sha256 besides those of every call, the proof among them.
func (r PrepareRequest) args(c todo.Context) map[string]any {
	return map[string]any{"session_id": r.Session, "context": c}
}

// contextOf returns the context of a request: the file, or the rationale with its source references.
func contextOf(r PrepareRequest) (todo.Context, error) {
	flags := r.Rationale != nil || r.SourceRefs != nil
	switch {
	case r.Context != nil && flags:
		return todo.Context{}, invalid("context: a context file and rationale or source_ref were given, one form is needed")
	case r.Context != nil:
		return todo.ParseContext(r.Context)
	case !flags:
		return todo.Context{}, invalid("context: neither a context file nor a rationale was given, one form is needed")
	case r.Rationale == nil:
		return todo.Context{}, invalid("context: source_ref was given without rationale")
	}
	return todo.RationaleContext(*r.Rationale, r.SourceRefs)
}

// notNote is the refusal of a note that its own validator does not take.
func notNote(findings []todo.Finding) *todo.Refusal {
	r := invalid(fmt.Sprintf("the note would break a rule: %s %s", findings[0].Field, findings[0].Code))
	r.Detail = map[string]any{"findings": findings}
	return r
}

// ReadBack judges a prepare by the tip that was read back, on replay too: the Todo is open and still the agent's, its
// note byte for byte the one of the receipt and current. It returns the state of the note, and nil or the first code
// that fails: todo_not_open, continuation_owner_required, continuation_note_replaced, continuation_note_stale.
func ReadBack(s todo.State, r PrepareRequest, result todo.UpdateResult) (todo.NoteState, *todo.Refusal) {
	if s.Todo == nil {
		return todo.NoteMissing, todo.Reject(todo.CodeTodoNotOpen, "todo %s: is gone", r.Todo)
	}
	n := s.JudgeNote()
	if refusal := notOpen(*s.Todo); refusal != nil {
		return n.State, refusal
	}
	switch {
	case s.Todo.ClaimedBy != r.Agent:
		return n.State, ownerRequired(*s.Todo, r.Agent)
	case s.Note == nil || todo.NoteFacts(s.Note) != result.NoteFacts:
		return n.State, noteReplaced(r.Todo)
	case n.State != todo.NoteCurrent:
		return n.State, todo.Reject(CodeNoteStale, "todo %s: the note is this operation's and the todo has changed since", r.Todo)
	}
	return n.State, nil
}
