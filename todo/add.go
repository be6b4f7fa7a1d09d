package todo

import (
	"slices"
	"unicode/utf8"
)

// CreateSchema is the schema_version of the result of todo add.
const CreateSchema = "loopx_coordination_todo_create_result_v0"

// AddArgs are the arguments of todo add, as given; what is empty is not given.
type AddArgs struct {
	Role                  Role // "" is agent
	Text, Title, Priority string
	TaskClass             string
	Labels                []string
	BoundAgent            AgentID
	ExcludedAgents        []AgentID
	DependsOn             []ID
	ResumeAt              Instant
	RequiredWriteScopes   []string
	ClaimedBy             AgentID
}

// AddResult is the nested result of todo add.
type AddResult struct {
	Schema        string       `json:"schema_version"`
	TodoID        ID           `json:"todo_id"`
	Changed       bool         `json:"changed"`
	AlreadyExists bool         `json:"already_exists,omitzero"`
	Claim         *ClaimResult `json:"claim,omitzero"`
}

// check is step 1 for todo add: invalid_coordination_todo_create. It returns the arguments in stored form.
func (a AddArgs) check() (AddArgs, error) {
	if a.Role == "" {
		a.Role = RoleAgent
	}
	a.Labels, a.ExcludedAgents, a.RequiredWriteScopes = SetOf(a.Labels), SetOf(a.ExcludedAgents), SetOf(a.RequiredWriteScopes)
	a.DependsOn = SetOf(a.DependsOn)
	if a.Role != RoleAgent && a.Role != RoleUser {
		return a, Fail(CodeInvalidAdd, "role %q: not one of %s, %s", Clean(string(a.Role)), RoleAgent, RoleUser)
	}
	if !utf8.ValidString(string(a.ClaimedBy)) {
		return a, Fail(CodeInvalidAdd, "the agent that claims must be given in UTF-8")
	}
	return a, checkMembers(CodeInvalidAdd, a.todo(""))
}

// request returns the arguments as members of the request digest.
func (a AddArgs) request() map[string]any {
	m := map[string]any{"role": a.Role, "text": a.Text}
	given(m, "title", a.Title)
	given(m, "priority", a.Priority)
	given(m, "task_class", a.TaskClass)
	givenList(m, "labels", a.Labels)
	given(m, "bound_agent", a.BoundAgent)
	givenList(m, "excluded_agents", a.ExcludedAgents)
	givenList(m, "depends_on", a.DependsOn)
	given(m, "resume_at", a.ResumeAt)
	givenList(m, "required_write_scopes", a.RequiredWriteScopes)
	given(m, "claimed_by", a.ClaimedBy)
	return m
}

// todo is the record that the arguments describe, open and unclaimed.
func (a AddArgs) todo(id ID) Todo {
	return Todo{
		SchemaVersion: TodoSchema, ID: id, Role: a.Role, Status: Open, Text: a.Text, ArchiveState: Active,
		Title: a.Title, Priority: a.Priority, TaskClass: a.TaskClass, Labels: a.Labels,
		BoundAgent: a.BoundAgent, ExcludedAgents: a.ExcludedAgents, RequiredWriteScopes: a.RequiredWriteScopes,
		DependsOn: a.DependsOn, ResumeAt: a.ResumeAt,
	}
}

// describes says whether a Todo equals the arguments in all members that were given.
func (a AddArgs) describes(t Todo) bool {
	same := func(given, have string) bool { return given == "" || given == have }
	return same(a.Title, t.Title) && same(a.Priority, t.Priority) && same(a.TaskClass, t.TaskClass) &&
		(a.Labels == nil || slices.Equal(a.Labels, t.Labels)) &&
		same(string(a.BoundAgent), string(t.BoundAgent)) &&
		(a.ExcludedAgents == nil || slices.Equal(a.ExcludedAgents, t.ExcludedAgents)) &&
		(a.DependsOn == nil || slices.Equal(a.DependsOn, t.DependsOn)) && same(string(a.ResumeAt), string(t.ResumeAt)) &&
		(a.RequiredWriteScopes == nil || slices.Equal(a.RequiredWriteScopes, t.RequiredWriteScopes)) &&
		same(string(a.ClaimedBy), string(t.ClaimedBy))
}

// addRequest asks for a new Todo. The arguments were checked.
type addRequest struct {
	Args     AddArgs
	ID       ID   // of the new Todo; free unless Given
	Given    bool // the caller chose the id
	Actor    AgentID
	At       Instant
	Siblings []Todo // open, active Todos of the same role and text, by id
	// Dependencies judges what the new Todo depends on.
	Dependencies Dependencies
}

// decideAdd makes a new Todo (continuation.md, section 4). The state holds the Todo that has the id, if any: that is
// todo_already_exists. A sibling that is equal in all given members, an id of the caller's choice among them, is no
// change; another is todo_semantic_duplicate_conflict. Then the dependencies are judged: todo_dependency_invalid. A claim
// goes into the same commit, by the claim decision.
func decideAdd(s State, r addRequest) (Decision, error) {
	if s.Todo != nil {
		return Decision{}, Reject(CodeTodoExists, "todo %s: is there already", r.ID)
	}
	for _, t := range r.Siblings {
		if !r.Given && r.Args.describes(t) {
			return Decision{
				Subject: "todo add " + string(t.ID), Todo: t.ID,
				Result: AddResult{Schema: CreateSchema, TodoID: t.ID, AlreadyExists: true},
			}, nil
		}
	}
	if len(r.Siblings) > 0 {
		t := r.Siblings[0]
		return Decision{}, Reject(CodeTodoDuplicate, "todo %s: has the same role and text", t.ID).With("existing_todo_id", t.ID)
	}
	if err := r.Dependencies.check(); err != nil {
		return Decision{}, err
	}
	t := r.Args.todo(r.ID).touched(r.Actor, r.At)
	t.CreatedBy, t.CreatedAt = r.Actor, r.At
	result := AddResult{Schema: CreateSchema, TodoID: r.ID, Changed: true}
	if r.Args.ClaimedBy != "" {
		s.Todo = &t
		claim, err := DecideClaim(s, ClaimRequest{Command: "todo add", Todo: r.ID, Actor: r.Actor, Claimant: r.Args.ClaimedBy, At: r.At})
		if err != nil {
			return Decision{}, err
		}
		t = claim.Todos[0]
		claimed := claim.Result.(ClaimResult)
		result.Claim = &claimed
	}
	return Decision{Subject: "todo add " + string(r.ID), Todo: r.ID, Todos: []Todo{t}, Result: result}, nil
}

// checkMembers is step 1 for the members of a Todo that a caller may give, in the words of the bound that does not hold.
func checkMembers(family Code, t Todo) error {
	for _, c := range []struct {
		ok   bool
		must string
	}{
		{proseOK(t.Text, MaxText), "text must be non-empty text of at most 4000 characters"},
		{t.Title == "" || lineOK(t.Title, MaxTitle), "title must be one line of at most 200 characters"},
		{t.Priority == "" || priorityOK(t.Priority), "priority must be one of: P0, P1, P2, P3, P4"},
		{t.TaskClass == "" || taskClassOK(t.TaskClass), "task class must be a lower-case word of at most 64 characters"},
		{setOK(t.Labels, MaxLabels, labelOK), "labels must be at most 20 of at most 40 characters without white space"},
		{t.BoundAgent == "" || t.BoundAgent.Valid(), "bound agent must be an agent id"},
		{setOK(t.ExcludedAgents, MaxReferences, AgentID.Valid), "excluded agents must be at most 50 agent ids"},
		{setOK(t.DependsOn, MaxReferences, ID.Valid), "dependencies must be at most 50 complete todo ids"},
		{t.ResumeAt == "" || t.ResumeAt.Valid(), "the time to resume must be RFC 3339 with a zone, in the years 2000 to 9999"},
		{setOK(t.RequiredWriteScopes, MaxReferences, scopeOK), "required write scopes must be at most 50 relative paths of at most 160 characters"},
		{t.Evidence == "" || proseOK(t.Evidence, MaxRemark), "evidence must be non-empty text of at most 2000 characters"},
		{t.Reason == "" || proseOK(t.Reason, MaxRemark), "reason must be non-empty text of at most 2000 characters"},
	} {
		if !c.ok {
			return Fail(family, "%s", c.must)
		}
	}
	return nil
}
