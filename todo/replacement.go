package todo

import "bytes"

// NoteArgs replace the note by free text, or remove it.
type NoteArgs struct {
	Text  string
	Clear bool
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

// check is step 1 for todo note: invalid_coordination_todo_update.
func (a NoteArgs) check() error {
	switch {
	case a.Clear && a.Text != "":
		return Fail(CodeInvalidUpdate, "the note is both given and cleared")
	case !a.Clear && !proseOK(a.Text, MaxFreeText):
		return Fail(CodeInvalidUpdate, "note must be non-empty text of at most %d characters", MaxFreeText)
	}
	return nil
}

func (a NoteArgs) request() map[string]any {
	m := map[string]any{}
	given(m, "text", a.Text)
	givenFlag(m, "clear", a.Clear)
	return m
}

// decideNote replaces or removes the note on a Todo, under the rules of update.
func decideNote(s State, c Call, a NoteArgs, at Instant) (Decision, error) {
	t, err := s.Found(c.Todo)
	if err != nil {
		return Decision{}, err
	}
	if err := checkUpdate(s, t, c); err != nil {
		return Decision{}, err
	}
	var note []byte
	if !a.Clear {
		if note, err = EncodeFreeNote(a.Text); err != nil {
			return Decision{}, err
		}
	}
	return withNote(updated("todo note", t, nil, c.Agent, at), s, t, note, c.Agent, at), nil
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
