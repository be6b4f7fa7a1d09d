package handoff

import (
	"fmt"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/todo"
)

// checkWho refuses a request that does not say well where, by whom and with what.
func checkWho(c todo.Call) error {
	switch {
	case !c.Goal.Valid():
		return invalid(argument("goal_id", string(c.Goal)))
	case !c.Todo.Valid():
		return invalid(argument("todo_id", string(c.Todo)))
	case c.Agent == "":
		return invalid(argument("agent_id", ""))
	case !utf8.ValidString(string(c.Agent)):
		return invalid(argument("agent_id", string(c.Agent)))
	case !todo.ValidSession(c.Session):
		return invalid(fmt.Sprintf("session_id must be non-blank text of at most %d characters", todo.MaxSession))
	}
	return c.Proof.Check(todo.CodeInvalidContinuation)
}

// checkCall adds what a mutation needs.
func checkCall(c todo.Call) error {
	if err := checkWho(c); err != nil {
		return err
	}
	switch {
	case c.Operation == "":
		return invalid(argument("operation_id", ""))
	case !todo.ValidOperation(c.Operation):
		return invalid(argument("operation_id", c.Operation))
	case c.Expected == "" || !utf8.ValidString(string(c.Expected)):
		return invalid(argument("expected_revision", string(c.Expected)))
	case c.DryRun:
		return invalid("dry_run is not for handoff verbs")
	}
	return nil
}

func argument(name, value string) string {
	if value == "" {
		return name + " is needed"
	}
	return fmt.Sprintf("%s is malformed: %q", name, cutText(value, 200))
}

// workable refuses a Todo that is not there, a note that is not understood, and a Todo that is not open or not an
// agent's, in this order.
func workable(s todo.State, id todo.ID) error {
	t, err := s.Found(id)
	if err != nil {
		return err
	}
	if j := s.JudgeNote(); j.Refusal != nil {
		return j.Refusal
	}
	return asError(openAgentTodo(t))
}

// asError keeps a nil refusal a nil error.
func asError(r *todo.Refusal) error {
	if r == nil {
		return nil
	}
	return r
}

// openAgentTodo refuses a Todo that is archived, not open or not an agent's.
func openAgentTodo(t todo.Todo) *todo.Refusal {
	if refusal := notOpen(t); refusal != nil {
		return refusal
	}
	if t.Role != todo.RoleAgent {
		return todo.Reject(todo.CodeTodoNotAgent, "todo %s: has the role %s", t.ID, t.Role)
	}
	return nil
}

// notOpen refuses a Todo that is archived or not open: both have one code here.
func notOpen(t todo.Todo) *todo.Refusal {
	switch {
	case t.ArchiveState != todo.Active:
		return todo.Reject(todo.CodeTodoNotOpen, "todo %s: is archived", t.ID)
	case t.Status != todo.Open:
		return todo.Reject(todo.CodeTodoNotOpen, "todo %s: is %s", t.ID, t.Status)
	}
	return nil
}

func ownerRequired(t todo.Todo, agent todo.AgentID) *todo.Refusal {
	if t.ClaimedBy == "" {
		return todo.Reject(CodeOwnerRequired, "todo %s: claimed by nobody, its owner prepares the note", t.ID)
	}
	return todo.Reject(CodeOwnerRequired, "todo %s: claimed by %q, not by %q", t.ID, t.ClaimedBy, agent)
}

func noteReplaced(id todo.ID) *todo.Refusal {
	return todo.Reject(CodeNoteReplaced, "todo %s: the note was replaced since", id)
}
