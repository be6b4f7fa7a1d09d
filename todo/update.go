package todo

import (
	"reflect"
	"slices"
)

// UpdateSchema is the schema_version of the result of todo update, todo note and handoff prepare.
const UpdateSchema = "loopx_coordination_todo_update_result_v0"

// UpdateArgs are the arguments of todo update: nil members stay, Clear names members to remove ("title", "labels", …).
// A member that is given as empty is removed too, except the text, which a Todo always has.
type UpdateArgs struct {
	Text, Title, Priority, TaskClass *string
	Labels                           *[]string
	BoundAgent                       *AgentID
	ExcludedAgents                   *[]AgentID
	DependsOn                        *[]ID
	ResumeAt                         *Instant
	RequiredWriteScopes              *[]string
	Status                           *WorkStatus // open, blocked or deferred
	Evidence, Reason                 *string
	Note                             *string // free text that replaces the note
	Clear                            []string
}

// UpdateResult is the nested result of todo update and todo note.
type UpdateResult struct {
	Schema       string        `json:"schema_version"`
	TodoID       ID            `json:"todo_id"`
	Changed      bool          `json:"changed"`
	Fields       []string      `json:"changed_fields,omitempty"` // members of the Todo, sorted, and "note"
	NoteFacts    string        `json:"note_facts,omitzero"`      // of the note that was written
	ReplacedNote *ReplacedNote `json:"replaced_note,omitzero"`
	// LeaseReleased says that the lease ended with the work.
	LeaseReleased bool `json:"lease_released,omitzero"`
}

// patch is one member that update may set. apply puts the given value, or with clear the empty one, into a Todo.
type patch struct {
	name  string
	given bool
	value any // stored form, for the request digest
	apply func(t *Todo, clear bool)
}

func member[T any](name string, given *T, at func(*Todo) *T, stored func(T) T) patch {
	p := patch{name: name, given: given != nil}
	var value T
	if given != nil {
		value = stored(*given)
		p.value = value
	}
	p.apply = func(t *Todo, clear bool) {
		var empty T
		if clear {
			*at(t) = empty
		} else {
			*at(t) = value
		}
	}
	return p
}

func asGiven[T any](v T) T { return v }

// patches lists the members of the arguments, by name.
func (a UpdateArgs) patches() []patch {
	return []patch{
		member("bound_agent", a.BoundAgent, func(t *Todo) *AgentID { return &t.BoundAgent }, asGiven),
		member("depends_on", a.DependsOn, func(t *Todo) *[]ID { return &t.DependsOn }, SetOf),
		member("evidence", a.Evidence, func(t *Todo) *string { return &t.Evidence }, asGiven),
		member("excluded_agents", a.ExcludedAgents, func(t *Todo) *[]AgentID { return &t.ExcludedAgents }, SetOf),
		member("labels", a.Labels, func(t *Todo) *[]string { return &t.Labels }, SetOf),
		member("priority", a.Priority, func(t *Todo) *string { return &t.Priority }, asGiven),
		member("reason", a.Reason, func(t *Todo) *string { return &t.Reason }, asGiven),
		member("required_write_scopes", a.RequiredWriteScopes, func(t *Todo) *[]string { return &t.RequiredWriteScopes }, SetOf),
		member("resume_at", a.ResumeAt, func(t *Todo) *Instant { return &t.ResumeAt }, asGiven),
		member("status", a.Status, func(t *Todo) *WorkStatus { return &t.Status }, asGiven),
		member("task_class", a.TaskClass, func(t *Todo) *string { return &t.TaskClass }, asGiven),
		member("text", a.Text, func(t *Todo) *string { return &t.Text }, asGiven),
		member("title", a.Title, func(t *Todo) *string { return &t.Title }, asGiven),
	}
}

// patched returns the Todo with the arguments put in, and the names of the members that are different then.
func (a UpdateArgs) patched(t Todo) (Todo, []string) {
	next := t
	var changed []string
	for _, p := range a.patches() {
		before := next
		switch {
		case slices.Contains(a.Clear, p.name):
			p.apply(&next, true)
		case p.given:
			p.apply(&next, false)
		}
		if !reflect.DeepEqual(before, next) {
			changed = append(changed, p.name)
		}
	}
	return next, changed
}

// check is step 1 for todo update: invalid_coordination_todo_update.
func (a UpdateArgs) check() error {
	something := a.Note != nil || len(a.Clear) > 0
	var clearable []string
	for _, p := range a.patches() {
		something = something || p.given
		if p.given && slices.Contains(a.Clear, p.name) {
			return Fail(CodeInvalidUpdate, "%s is both given and cleared", p.name)
		}
		if p.name != "text" && p.name != "status" {
			clearable = append(clearable, p.name)
		}
	}
	for _, name := range a.Clear {
		if !slices.Contains(clearable, name) {
			return Fail(CodeInvalidUpdate, "%q cannot be cleared", Clean(name))
		}
	}
	if !something {
		return Fail(CodeInvalidUpdate, "nothing to update was given")
	}
	if s := a.Status; s != nil && *s != Open && *s != Blocked && *s != Deferred {
		return Fail(CodeInvalidUpdate, "status %q: not one of %s, %s, %s", Clean(string(*s)), Open, Blocked, Deferred)
	}
	if a.Note != nil && !proseOK(*a.Note, MaxFreeText) {
		return Fail(CodeInvalidUpdate, "note must be non-empty text of at most %d characters", MaxFreeText)
	}
	probe, _ := a.patched(Todo{Text: "text"})
	return checkMembers(CodeInvalidUpdate, probe)
}

// request returns the arguments as members of the request digest.
func (a UpdateArgs) request() map[string]any {
	patch := map[string]any{}
	for _, p := range a.patches() {
		if p.given {
			patch[p.name] = p.value
		}
	}
	if a.Note != nil {
		patch["note"] = *a.Note
	}
	m := map[string]any{}
	if len(patch) > 0 {
		m["patch"] = patch
	}
	givenList(m, "clear_fields", SetOf(a.Clear))
	return m
}

// checkUpdate says whether the agent of a call may change a Todo by update or note (continuation.md, section 4):
// todo_archived, unsupported_todo_update_target, the codes of [Admit], update_owner_mismatch for another's claim or
// lease, then the fence.
func checkUpdate(s State, t Todo, c Call) error {
	switch {
	case t.ArchiveState == Archived:
		return Reject(CodeTodoArchived, "todo %s: is archived", t.ID)
	case t.Status == Done:
		return Reject(CodeUpdateTarget, "todo %s: is %s", t.ID, t.Status)
	}
	if err := Admit(t, c.Agent); err != nil {
		return err
	}
	switch {
	case t.ClaimedBy != "" && t.ClaimedBy != c.Agent:
		return ownedBy(CodeUpdateOwnerMismatch, t)
	case s.Lease.ForeignTo(c.Agent):
		return leasedBy(CodeUpdateOwnerMismatch, t, s.Lease)
	case t.Status == Open && t.ClaimedBy != "":
		return fence(s, t, c.Agent, c.Proof)
	}
	return nil
}

// leaseRests are the members that a lease rests on: they stay as they are while one is live.
var leaseRests = []string{"required_write_scopes", "depends_on", "resume_at", "bound_agent", "excluded_agents"}

// decideUpdate changes members of a Todo, and its note if one is given. What is equal already is no change. Work that is
// becomes blocked or deferred lets its lease go in the same commit. next judges the dependencies, where the arguments have
// some.
func decideUpdate(s State, c Call, a UpdateArgs, next Dependencies, at Instant) (Decision, error) {
	t, err := s.Found(c.Todo)
	if err != nil {
		return Decision{}, err
	}
	if err := checkUpdate(s, t, c); err != nil {
		return Decision{}, err
	}
	patched, fields := a.patched(t)
	for _, name := range fields {
		if s.Lease.LiveFor(c.Agent) && slices.Contains(leaseRests, name) {
			return Decision{}, Reject(CodeLeaseRequirements, "todo %s: %s stays as it is while a lease is live", t.ID, name).With("field", name)
		}
	}
	if err := next.check(); err != nil {
		return Decision{}, err
	}
	d := updated("todo update", patched, fields, c.Agent, at)
	if a.Note != nil {
		note, err := EncodeFreeNote(*a.Note)
		if err != nil {
			return Decision{}, err
		}
		d = withNote(d, s, patched, note, c.Agent, at)
	}
	if patched.Status != Open && slices.Contains(fields, "status") {
		result := d.Result.(UpdateResult)
		result.LeaseReleased = d.letGo(s, t.ID, c.Agent)
		d.Result = result
	}
	return d, nil
}

// updated is the decision of an update that touched these members.
func updated(command string, t Todo, fields []string, actor AgentID, at Instant) Decision {
	d := Decision{
		Subject: command + " " + string(t.ID),
		Result:  UpdateResult{Schema: UpdateSchema, TodoID: t.ID, Changed: len(fields) > 0, Fields: fields},
	}
	if len(fields) > 0 {
		d.Todos = []Todo{t.touched(actor, at)}
	}
	return d
}
