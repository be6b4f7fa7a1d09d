package todo

import (
	"errors"
	"fmt"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// DecodeGoal reads goal.json of the goal id. Whatever it accepts, [EncodeGoal] writes back byte for byte. The error is
// a *Refusal that names the record: unsupported_schema_version or invalid_coordination_projection.
func DecodeGoal(id GoalID, b []byte) (Goal, error) {
	noun := "goal " + string(id)
	var g Goal
	if r := open(b, GoalSchema, &g); r != nil {
		return Goal{}, unreadable(GoalPath, noun, r)
	}
	if err := g.check(); err != nil {
		return Goal{}, unreadable(GoalPath, noun, Fail(CodeInvalidProjection, "%v", err))
	}
	if g.ID != id {
		return Goal{}, unreadable(GoalPath, noun, Fail(CodeInvalidProjection, "the record says it is %q", g.ID))
	}
	return g, nil
}

// DecodeTodo reads the record of the Todo id. Whatever it accepts, [EncodeTodo] writes back byte for byte. The error is
// a *Refusal that names the record: unsupported_schema_version or invalid_coordination_projection.
func DecodeTodo(id ID, b []byte) (Todo, error) {
	path, noun := TodoPath(id), "todo "+string(id)
	var t Todo
	if r := open(b, TodoSchema, &t); r != nil {
		return Todo{}, unreadable(path, noun, r)
	}
	if err := t.check(); err != nil {
		return Todo{}, unreadable(path, noun, Fail(CodeInvalidProjection, "%v", err))
	}
	if t.ID != id {
		return Todo{}, unreadable(path, noun, Fail(CodeInvalidProjection, "the record says it is %q", t.ID))
	}
	return t, nil
}

// EncodeGoal returns the stored bytes of a goal, and an error where [DecodeGoal] would refuse them.
func EncodeGoal(g Goal) ([]byte, error) {
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("goal %s: not written: %w", g.ID, err)
	}
	return canonical.Encode(g)
}

// EncodeTodo returns the stored bytes of a Todo, and an error where [DecodeTodo] would refuse them.
func EncodeTodo(t Todo) ([]byte, error) {
	if err := t.check(); err != nil {
		return nil, fmt.Errorf("todo %s: not written: %w", t.ID, err)
	}
	return canonical.Encode(t)
}

// open reads a record of one schema. Its refusal does not name the record yet.
func open(b []byte, schema string, v any) *Refusal {
	if s := canonical.Schema(b); s != "" && s != schema {
		return Fail(CodeUnsupportedSchema, "schema %q is not known to this version", Clean(s))
	}
	if err := canonical.Decode(b, v); err != nil {
		return Fail(CodeInvalidProjection, "%v", err)
	}
	return nil
}

// unreadable names the record in a refusal of stored bytes.
func unreadable(path, noun string, r *Refusal) *Refusal {
	return Fail(r.Code, "%s: %s", noun, r.Reason).With("record", path)
}

// check returns what is wrong with the members of a goal (continuation.md, section 1.1).
func (g Goal) check() error {
	c := checks{}
	c.must(g.Schema == GoalSchema, "schema")
	c.must(g.ID.Valid(), "id")
	c.must(validScopeID(g.ScopeID), "scope_id")
	c.must(g.Title == "" || lineOK(g.Title, MaxTitle), "title")
	c.must(g.HandoffMode == SoftClaim || g.HandoffMode == HardLease, "handoff_mode")
	c.must(g.CreatedAt.Valid(), "created_at")
	for i, a := range g.Agents {
		c.must(a.ID.Valid() && (i == 0 || g.Agents[i-1].ID < a.ID) && a.AddedAt.Valid() &&
			(a.Label == "" || lineOK(a.Label, MaxTitle)), fmt.Sprintf("agents[%d]", i))
	}
	if a := g.Acceptance; a != nil {
		c.must(a.Scope == HoldAll && a.TodoIDs == nil || a.Scope == HoldSelected && len(a.TodoIDs) > 0, "acceptance.scope")
		c.must(setOK(a.TodoIDs, len(a.TodoIDs), ID.Valid), "acceptance.todo_ids")
		for id, digest := range a.Bindings {
			c.must(id.Valid() && validDigest(digest), "acceptance.bindings")
		}
	}
	return c.err
}

// check returns what is wrong with the members of a Todo (continuation.md, section 1.2).
func (t Todo) check() error {
	c := checks{}
	c.must(t.SchemaVersion == TodoSchema, "schema_version")
	c.must(t.ID.Valid(), "todo_id")
	c.must(t.Role == RoleAgent || t.Role == RoleUser, "role")
	c.must(t.Status.valid(), "status")
	c.must(proseOK(t.Text, MaxText), "text")
	c.must(t.ArchiveState == Active || t.ArchiveState == Archived, "archive_state")
	c.must(t.Title == "" || lineOK(t.Title, MaxTitle), "title")
	c.must(t.Priority == "" || priorityOK(t.Priority), "priority")
	c.must(t.TaskClass == "" || taskClassOK(t.TaskClass), "task_class")
	c.must(setOK(t.Labels, MaxLabels, labelOK), "labels")
	c.must(t.ClaimedBy == "" || t.ClaimedBy.Valid(), "claimed_by")
	c.must(t.CreatedBy == "" || t.CreatedBy.Valid(), "created_by")
	c.must(t.LastActorAgentID == "" || t.LastActorAgentID.Valid(), "last_actor_agent_id")
	c.must(t.BoundAgent == "" || t.BoundAgent.Valid(), "bound_agent")
	c.must(setOK(t.ExcludedAgents, MaxReferences, AgentID.Valid), "excluded_agents")
	c.must(setOK(t.DependsOn, MaxReferences, ID.Valid), "depends_on")
	c.must(t.ResumeAt == "" || t.ResumeAt.Valid(), "resume_at")
	c.must(setOK(t.RequiredWriteScopes, MaxReferences, scopeOK), "required_write_scopes")
	c.must(t.Evidence == "" || proseOK(t.Evidence, MaxRemark), "evidence")
	c.must(t.Reason == "" || proseOK(t.Reason, MaxRemark), "reason")
	c.must(t.SupersededBy == "" || t.SupersededBy.Valid(), "superseded_by")
	c.must(setOK(t.SuccessorTodoIDs, MaxReferences, ID.Valid), "successor_todo_ids")
	c.must(t.CreatedAt == "" || t.CreatedAt.Valid(), "created_at")
	c.must(t.UpdatedAt == "" || t.UpdatedAt.Valid(), "updated_at")
	c.must(t.CompletedAt == "" || t.CompletedAt.Valid(), "completed_at")
	return c.err
}

func (s WorkStatus) valid() bool { return s == Open || s == Done || s == Blocked || s == Deferred }

// checks keeps the first member that is wrong.
type checks struct{ err error }

func (c *checks) must(ok bool, member string) {
	if !ok && c.err == nil {
		c.err = errors.New(member + " is not within its bounds")
	}
}
