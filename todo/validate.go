package todo

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// Finding is one thing that is wrong with a note. Field is like files_touched[3].action; Limit is the bound that was
// passed, in characters or elements, and 0 where no bound was.
type Finding struct {
	Field string      `json:"field"`
	Code  FindingCode `json:"code"`
	Limit int         `json:"limit,omitzero"`
}

// FindingCode says in what way a field is wrong.
type FindingCode string

// The ways in which a field of a note can be wrong (continuation.md, section 1.3).
const (
	FindingUnknownField FindingCode = "unknown_field" // a member that no rule names
	FindingMissingField FindingCode = "missing_field" // a required member is not there
	FindingWrongType    FindingCode = "wrong_type"    // null too
	FindingBlank        FindingCode = "blank"         // nothing but Unicode white space
	FindingTooLong      FindingCode = "too_long"
	FindingTooMany      FindingCode = "too_many"
	FindingNotAllowed   FindingCode = "not_allowed"   // none of the allowed words, or not of the required form
	FindingFactsChanged FindingCode = "facts_changed" // todo_facts is not the Todo's fingerprint
)

// Judgement is what a stored note is worth on a Todo as it is now.
type Judgement struct {
	State    NoteState
	Findings []Finding // not empty exactly if State is stale
	Refusal  *Refusal  // set exactly if State is unsupported: the code of continuation.md, section 1.2
	// Note is set for a current note in full, and for a stale one with those members that pass their own rules; a
	// member of a list passes only with the whole list. Its todo_facts may be outdated.
	Note *Note
	Text string // of a free-text note
	// Facts is the digest of the note; "" where there is none or it is unsupported.
	Facts string
}

// JudgeNote is the one validator of notes: stored bytes (nil: no note) and the Todo as it is now in, a judgement out.
func JudgeNote(blob []byte, t Todo) Judgement {
	if blob == nil {
		return Judgement{State: NoteMissing}
	}
	j := judge(blob, TodoFacts(t))
	if j.Refusal != nil {
		j.Refusal = unreadable(NotePath(t.ID), "note on "+string(t.ID), j.Refusal)
	}
	return j
}

// judge judges a note against a fingerprint. Its refusal does not name the record yet.
func judge(blob []byte, facts string) Judgement {
	members, refusal := openNote(blob)
	if refusal != nil {
		return Judgement{State: NoteUnsupported, Refusal: refusal}
	}
	if !isContinuation(members) {
		text, ok := freeText(members)
		if !ok {
			return Judgement{State: NoteUnsupported, Refusal: Fail(CodeInvalidProjection, "neither free text nor a continuation note")}
		}
		return Judgement{State: NoteMissing, Text: text, Facts: NoteFacts(blob)}
	}
	findings, good := checkObject("", members, noteShape)
	if !saysSomething(members) {
		findings = append(findings, Finding{Field: "work_summary", Code: FindingMissingField})
	}
	note := new(Note)
	if err := gather(good, note); err != nil {
		return Judgement{State: NoteUnsupported, Refusal: Fail(CodeInvalidProjection, "%v", err)}
	}
	if _, ok := good["todo_facts"]; ok && note.TodoFacts != facts {
		findings = append(findings, Finding{Field: "todo_facts", Code: FindingFactsChanged})
	}
	j := Judgement{State: NoteCurrent, Findings: findings, Note: note, Facts: NoteFacts(blob)}
	if len(findings) > 0 {
		j.State = NoteStale
	}
	return j
}

// openNote returns the members of a note in canonical form and of the known schema.
func openNote(blob []byte) (map[string]jsontext.Value, *Refusal) {
	if s := canonical.Schema(blob); s != "" && s != NoteSchema {
		return nil, Fail(CodeUnsupportedSchema, "schema %q is not known to this version", Clean(s))
	} else if s == "" {
		return nil, Fail(CodeInvalidProjection, "no schema")
	}
	var members map[string]jsontext.Value
	if err := canonical.Decode(blob, &members); err != nil {
		return nil, Fail(CodeInvalidProjection, "%v", err)
	}
	if _, ok := textOf(members["schema"]); !ok {
		return nil, Fail(CodeInvalidProjection, "no schema")
	}
	return members, nil
}

func isContinuation(members map[string]jsontext.Value) bool {
	kind, ok := textOf(members["kind"])
	return ok && kind == NoteKind
}

func freeText(members map[string]jsontext.Value) (string, bool) {
	text, ok := textOf(members["text"])
	return text, ok && len(members) == 2 && proseOK(text, MaxFreeText)
}

// gather reads members that were checked into v.
func gather(members map[string]jsontext.Value, v any) error {
	b, err := json.Marshal(members)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// shape is the rule of one value. The zero value of limit and count means that there is no such bound.
type shape struct {
	kind  jsontext.Kind     // '"' text, '[' list
	limit int               // characters of a text, or of each text of a list
	count int               // elements of a list
	words []string          // a text must be one of these
	form  func(string) bool // a text must be of this form
	parts []part            // a list holds objects with exactly these members, else texts
}

// part is the rule of one member of a closed object.
type part struct {
	name     string
	optional bool
	shape
}

func text(limit int) shape              { return shape{kind: '"', limit: limit} }
func word(words ...string) shape        { return shape{kind: '"', words: words} }
func formed(ok func(string) bool) shape { return shape{kind: '"', form: ok} }
func texts(count, limit int) shape      { return shape{kind: '[', count: count, limit: limit} }
func objects(count int, parts ...part) shape {
	return shape{kind: '[', count: count, parts: parts}
}

// contextShape holds the context members, in the order in which findings come.
var contextShape = []part{
	{"work_summary", true, text(2000)},
	{"rationale", true, text(600)},
	{"source_refs", true, texts(20, 180)},
	{"approaches_tried", true, objects(20,
		part{"approach", false, text(300)}, part{"outcome", false, word("success", "partial", "failed")}, part{"reason", false, text(300)})},
	{"next_steps", true, texts(20, 300)},
	{"files_touched", true, objects(50,
		part{"path", false, text(240)}, part{"action", false, word("read", "edited", "created", "deleted")}, part{"summary", true, text(200)})},
	{"key_decisions", true, objects(20,
		part{"decision", false, text(300)}, part{"rationale", false, text(300)})},
	{"open_questions", true, texts(20, 300)},
}

// noteShape holds all members of a continuation note.
var noteShape = slices.Concat([]part{
	{"schema", false, word(NoteSchema)},
	{"kind", false, word(NoteKind)},
	{"source_agent", false, formed(func(s string) bool { return AgentID(s).Valid() })},
	{"source_session", false, text(MaxSession)},
	{"prepared_at", false, formed(func(s string) bool { return Instant(s).Valid() })},
	{"todo_facts", false, formed(validDigest)},
}, contextShape)

// checkObject returns what is wrong with an object, and the members with which nothing is. Unknown members come first.
func checkObject(path string, members map[string]jsontext.Value, parts []part) ([]Finding, map[string]jsontext.Value) {
	var findings []Finding
	if path != "" {
		path += "."
	}
	known := func(name string) bool {
		return slices.ContainsFunc(parts, func(p part) bool { return p.name == name })
	}
	for name := range members {
		if !known(name) {
			findings = append(findings, Finding{Field: path + name, Code: FindingUnknownField})
		}
	}
	slices.SortFunc(findings, func(a, b Finding) int { return strings.Compare(a.Field, b.Field) })
	good := make(map[string]jsontext.Value, len(members))
	for _, p := range parts {
		value, ok := members[p.name]
		if !ok {
			if !p.optional {
				findings = append(findings, Finding{Field: path + p.name, Code: FindingMissingField})
			}
			continue
		}
		if found := p.check(path+p.name, value); len(found) > 0 {
			findings = append(findings, found...)
		} else {
			good[p.name] = value
		}
	}
	return findings, good
}

// check returns what is wrong with one value.
func (s shape) check(path string, value jsontext.Value) []Finding {
	if value.Kind() != s.kind {
		return []Finding{{Field: path, Code: FindingWrongType}}
	}
	if s.kind == '"' {
		t, _ := textOf(value)
		return s.checkText(path, t)
	}
	var elements []jsontext.Value
	if json.Unmarshal(value, &elements) != nil {
		return []Finding{{Field: path, Code: FindingWrongType}}
	}
	if len(elements) > s.count {
		return []Finding{{Field: path, Code: FindingTooMany, Limit: s.count}}
	}
	var findings []Finding
	for i, e := range elements {
		at := path + "[" + strconv.Itoa(i) + "]"
		if s.parts == nil {
			findings = append(findings, text(s.limit).check(at, e)...)
			continue
		}
		members, ok := membersOf(e)
		if !ok {
			findings = append(findings, Finding{Field: at, Code: FindingWrongType})
			continue
		}
		found, _ := checkObject(at, members, s.parts)
		findings = append(findings, found...)
	}
	return findings
}

func (s shape) checkText(path, t string) []Finding {
	switch {
	case s.words != nil && !slices.Contains(s.words, t), s.form != nil && !s.form(t):
		return []Finding{{Field: path, Code: FindingNotAllowed}}
	case Blank(t):
		return []Finding{{Field: path, Code: FindingBlank}}
	case s.limit > 0 && utf8.RuneCountInString(t) > s.limit:
		return []Finding{{Field: path, Code: FindingTooLong, Limit: s.limit}}
	}
	return nil
}

func textOf(v jsontext.Value) (string, bool) {
	var s string
	ok := len(v) > 0 && v.Kind() == '"' && json.Unmarshal(v, &s) == nil
	return s, ok
}

func membersOf(v jsontext.Value) (map[string]jsontext.Value, bool) {
	var m map[string]jsontext.Value
	ok := v.Kind() == '{' && json.Unmarshal(v, &m) == nil
	return m, ok
}

func validDigest(s string) bool {
	return len(s) == 64 && all(s, func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' })
}
