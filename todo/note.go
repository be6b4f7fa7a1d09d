package todo

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// NoteKind is the kind of a continuation note; a note without it is none.
const NoteKind = "loopx-explicit-continuation"

// NoteState says what a stored note is worth now (continuation.md, section 1.3).
type NoteState string

// The states of a note.
const (
	NoteCurrent     NoteState = "current"     // every rule holds and todo_facts is the Todo's fingerprint now
	NoteStale       NoteState = "stale"       // the kind is right, anything else is not
	NoteMissing     NoteState = "missing"     // no note, or free text
	NoteUnsupported NoteState = "unsupported" // not understood; never overwritten
)

// Context is what a source agent says about its work: the eight context members of a continuation note. A text that is
// "" and a list that is nil are absent; a list that is empty and not nil is kept. Marshalled, it is the context as given.
type Context struct {
	WorkSummary     string        `json:"work_summary,omitzero"`
	Rationale       string        `json:"rationale,omitzero"`
	SourceRefs      []string      `json:"source_refs,omitzero"`
	ApproachesTried []Approach    `json:"approaches_tried,omitzero"`
	NextSteps       []string      `json:"next_steps,omitzero"`
	FilesTouched    []FileTouched `json:"files_touched,omitzero"`
	KeyDecisions    []KeyDecision `json:"key_decisions,omitzero"`
	OpenQuestions   []string      `json:"open_questions,omitzero"`
}

// Approach is one thing that was tried; Outcome is success, partial or failed.
type Approach struct {
	Approach string `json:"approach"`
	Outcome  string `json:"outcome"`
	Reason   string `json:"reason"`
}

// FileTouched is one file that was worked on; Action is read, edited, created or deleted.
type FileTouched struct {
	Path    string `json:"path"`
	Action  string `json:"action"`
	Summary string `json:"summary,omitzero"`
}

// KeyDecision is one decision with its reason.
type KeyDecision struct {
	Decision  string `json:"decision"`
	Rationale string `json:"rationale"`
}

// Note is a continuation note.
type Note struct {
	Schema        string  `json:"schema,omitzero"`
	Kind          string  `json:"kind,omitzero"`
	SourceAgent   AgentID `json:"source_agent,omitzero"`
	SourceSession string  `json:"source_session,omitzero"`
	PreparedAt    Instant `json:"prepared_at,omitzero"`
	TodoFacts     string  `json:"todo_facts,omitzero"`
	Context
}

// FreeNote is a note of free text, which can never pass for a continuation note.
type FreeNote struct {
	Schema string `json:"schema"`
	Text   string `json:"text"` // not blank, at most [MaxFreeText] characters
}

// MaxFreeText is the longest free-text note, in characters.
const MaxFreeText = 8000

// Source says who prepares a note.
type Source struct {
	Agent   AgentID
	Session string
}

// BuildNote returns the stored bytes of a continuation note on a Todo with the given todo_facts, or what is wrong with
// it. Bytes come only with no findings; [JudgeNote] then finds the note current on that Todo.
func BuildNote(c Context, by Source, at Instant, todoFacts string) ([]byte, []Finding) {
	b, err := canonical.Encode(Note{
		Schema: NoteSchema, Kind: NoteKind,
		SourceAgent: by.Agent, SourceSession: by.Session, PreparedAt: at, TodoFacts: todoFacts, Context: c,
	})
	if err != nil { // only a text that is not UTF-8 cannot be written
		return nil, []Finding{{Code: FindingNotAllowed}}
	}
	if j := judge(b, todoFacts); j.State != NoteCurrent {
		return nil, j.Findings
	}
	return b, nil
}

// RebindNote returns the stored bytes of a note for its Todo after a change: one that was current gets the new todo_facts
// and no other change, so that it is current again. Any other note, or none, is nil: it stays byte for byte.
func RebindNote(blob []byte, was, now Todo) ([]byte, error) {
	j := JudgeNote(blob, was)
	if j.State != NoteCurrent {
		return nil, nil
	}
	j.Note.TodoFacts = TodoFacts(now)
	return canonical.Encode(j.Note)
}

// EncodeFreeNote returns the stored bytes of a free-text note.
func EncodeFreeNote(text string) ([]byte, error) {
	return canonical.Encode(FreeNote{Schema: NoteSchema, Text: text})
}

// NoteFacts is the digest of a stored note: of the whole object, without the final newline (continuation.md, section 2).
func NoteFacts(blob []byte) string {
	if n := len(blob); n > 0 && blob[n-1] == '\n' {
		blob = blob[:n-1]
	}
	sum := sha256.Sum256(blob)
	return hex.EncodeToString(sum[:])
}
