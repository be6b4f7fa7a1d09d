package todo

import (
	"bytes"
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
	RequiredWriteScopes              *[]string
	Status                           *WorkStatus // open, blocked or deferred
	Evidence, Reason                 *string
	Note                             *string // free text that replaces the note
	Clear                            []string
}

// NoteArgs replace the note by free text, or remove it.
type NoteArgs struct {
	Text  string
	Clear bool
}

// UpdateResult is the nested result of todo update and todo note.
type UpdateResult struct {
	Schema       string        `json:"schema_version"`
	TodoID       ID            `json:"todo_id"`
	Changed      bool          `json:"changed"`
	Fields       []string      `json:"changed_fields,omitempty"` // members of the Todo, sorted, and "note"
	NoteFacts    string        `json:"note_facts,omitzero"`      // of the note that was written
	ReplacedNote *ReplacedNote `json:"replaced_note,omitzero"`
}

// ReplacedNote says what note went.
type ReplacedNote struct {
	State         NoteState `json:"note_state"`
	Facts         string    `json:"note_facts"`
	SourceAgent   AgentID   `json:"source_agent,omitzero"`
	SourceSession string    `json:"source_session,omitzero"`
	PreparedAt    Instant   `json:"prepared_at,omitzero"`
}

// ReplacedNoteOf says what goes when the note of a judgement is replaced; nil where there is none.
func ReplacedNoteOf(j Judgement) *ReplacedNote {
	if j.Facts == "" {
		return nil
	}
	r := &ReplacedNote{State: j.State, Facts: j.Facts}
	if j.Note != nil {
		r.SourceAgent, r.SourceSession, r.PreparedAt = j.Note.SourceAgent, j.Note.SourceSession, j.Note.PreparedAt
	}
	return r
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
		member("evidence", a.Evidence, func(t *Todo) *string { return &t.Evidence }, asGiven),
		member("excluded_agents", a.ExcludedAgents, func(t *Todo) *[]AgentID { return &t.ExcludedAgents }, setOf),
		member("labels", a.Labels, func(t *Todo) *[]string { return &t.Labels }, setOf),
		member("priority", a.Priority, func(t *Todo) *string { return &t.Priority }, asGiven),
		member("reason", a.Reason, func(t *Todo) *string { return &t.Reason }, asGiven),
		member("required_write_scopes", a.RequiredWriteScopes, func(t *Todo) *[]string { return &t.RequiredWriteScopes }, setOf),
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
			return failed(CodeInvalidUpdate, "%s is both given and cleared", p.name)
		}
		if p.name != "text" && p.name != "status" {
			clearable = append(clearable, p.name)
		}
	}
	for _, name := range a.Clear {
		if !slices.Contains(clearable, name) {
			return failed(CodeInvalidUpdate, "%q cannot be cleared", clean(name))
		}
	}
	if !something {
		return failed(CodeInvalidUpdate, "nothing to update was given")
	}
	if s := a.Status; s != nil && *s != Open && *s != Blocked && *s != Deferred {
		return failed(CodeInvalidUpdate, "status %q: not one of %s, %s, %s", clean(string(*s)), Open, Blocked, Deferred)
	}
	if a.Note != nil && !proseOK(*a.Note, MaxFreeText) {
		return failed(CodeInvalidUpdate, "note must be non-empty text of at most %d characters", MaxFreeText)
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
	givenList(m, "clear_fields", setOf(a.Clear))
	return m
}

// check is step 1 for todo note: invalid_coordination_todo_update.
func (a NoteArgs) check() error {
	switch {
	case a.Clear && a.Text != "":
		return failed(CodeInvalidUpdate, "the note is both given and cleared")
	case !a.Clear && !proseOK(a.Text, MaxFreeText):
		return failed(CodeInvalidUpdate, "note must be non-empty text of at most %d characters", MaxFreeText)
	}
	return nil
}

func (a NoteArgs) request() map[string]any {
	m := map[string]any{}
	given(m, "text", a.Text)
	givenFlag(m, "clear", a.Clear)
	return m
}

// CheckUpdate says whether an agent may change a Todo by update or note (continuation.md, section 4): todo_archived,
// unsupported_todo_update_target, the codes of [Admit], update_owner_mismatch, then the fence.
func CheckUpdate(s State, t Todo, actor AgentID) error {
	switch {
	case t.ArchiveState == Archived:
		return rejected(CodeTodoArchived, "todo %s: is archived", t.ID)
	case t.Status == Done:
		return rejected(CodeUpdateTarget, "todo %s: is %s", t.ID, t.Status)
	}
	if err := Admit(t, actor); err != nil {
		return err
	}
	if t.ClaimedBy != "" && t.ClaimedBy != actor {
		return ownedBy(CodeUpdateOwnerMismatch, t)
	}
	if t.Status == Open && t.ClaimedBy != "" {
		return fence(s, t)
	}
	return nil
}

// decideUpdate changes members of a Todo, and its note if one is given. What is equal already is no change.
func decideUpdate(s State, id ID, a UpdateArgs, actor AgentID, at Instant) (Decision, error) {
	t, err := s.Found(id)
	if err != nil {
		return Decision{}, err
	}
	if err := CheckUpdate(s, t, actor); err != nil {
		return Decision{}, err
	}
	next, fields := a.patched(t)
	if a.Note == nil {
		return updated("todo update", next, fields, actor, at), nil
	}
	note, err := EncodeFreeNote(*a.Note)
	if err != nil {
		return Decision{}, err
	}
	return withNote(updated("todo update", next, fields, actor, at), s, next, note, actor, at), nil
}

// decideNote replaces or removes the note on a Todo, under the rules of update.
func decideNote(s State, id ID, a NoteArgs, actor AgentID, at Instant) (Decision, error) {
	t, err := s.Found(id)
	if err != nil {
		return Decision{}, err
	}
	if err := CheckUpdate(s, t, actor); err != nil {
		return Decision{}, err
	}
	var note []byte
	if !a.Clear {
		if note, err = EncodeFreeNote(a.Text); err != nil {
			return Decision{}, err
		}
	}
	return withNote(updated("todo note", t, nil, actor, at), s, t, note, actor, at), nil
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

// withNote adds the note as it is afterwards, nil for none, to an update.
func withNote(d Decision, s State, t Todo, note []byte, actor AgentID, at Instant) Decision {
	if bytes.Equal(note, s.Note) {
		return d
	}
	result := d.Result.(UpdateResult)
	result.Changed = true
	result.Fields = append(result.Fields, "note")
	result.ReplacedNote = ReplacedNoteOf(s.JudgeNote())
	if note != nil {
		result.NoteFacts = NoteFacts(note)
	}
	d.Result = result
	d.Todos = []Todo{t.touched(actor, at)}
	d.Notes = map[ID][]byte{t.ID: note}
	return d
}
