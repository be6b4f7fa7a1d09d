package todo

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// encoded is the stored form of any value.
func encoded(t testing.TB, v any) []byte {
	t.Helper()
	b, err := canonical.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// currentNote is a note on T of section 2 with every member.
func currentNote() map[string]any {
	return map[string]any{
		"schema": NoteSchema, "kind": NoteKind, "source_agent": "agent-a", "source_session": "source-session",
		"prepared_at": "2026-09-13T10:05:00Z", "todo_facts": TodoFacts(vectorTodo()),
		"work_summary": "bounded", "rationale": "A count would starve slow disks", "source_refs": []any{"artifact:decision.md"},
		"approaches_tried": []any{map[string]any{"approach": "count", "outcome": "failed", "reason": "slow disks"}},
		"next_steps":       []any{"measure", "write"},
		"files_touched":    []any{map[string]any{"path": "retry.go", "action": "edited"}, map[string]any{"path": "b.go", "action": "read", "summary": "the caller"}},
		"key_decisions":    []any{map[string]any{"decision": "time", "rationale": "fair"}},
		"open_questions":   []any{},
	}
}

func TestJudgeNote(t *testing.T) {
	type finding = Finding
	list := func(n int, v any) []any {
		l := make([]any, n)
		for i := range l {
			l[i] = v
		}
		return l
	}
	file := func(more ...string) map[string]any {
		m := map[string]any{"path": "a", "action": "read"}
		for i := 0; i < len(more); i += 2 {
			m[more[i]] = more[i+1]
		}
		return m
	}
	approach := func(outcome any) []any {
		return []any{map[string]any{"approach": "a", "outcome": outcome, "reason": "r"}}
	}
	emoji := func(n int) string { return strings.Repeat("😀", n) }
	for _, c := range []struct {
		name   string
		member string
		value  any // nil deletes the member
		want   []Finding
	}{
		{"every member", "open_questions", []any{}, nil},
		{"summary of 2000 emoji", "work_summary", emoji(2000), nil},
		{"summary of 2001 characters", "work_summary", emoji(2001), []finding{{"work_summary", FindingTooLong, 2000}}},
		{"summary of wide spaces", "work_summary", "\u00a0\u3000", []finding{{"work_summary", FindingBlank, 0}}},
		{"summary is null", "work_summary", canonicalNull{}, []finding{{"work_summary", FindingWrongType, 0}}},
		{"rationale of 601 characters", "rationale", emoji(601), []finding{{"rationale", FindingTooLong, 600}}},
		{"no rationale beside a summary", "rationale", nil, nil},
		{"21 references", "source_refs", list(21, "r"), []finding{{"source_refs", FindingTooMany, 20}}},
		{"reference of 181", "source_refs", []any{"r", emoji(181)}, []finding{{"source_refs[1]", FindingTooLong, 180}}},
		{"steps are a text", "next_steps", "measure", []finding{{"next_steps", FindingWrongType, 0}}},
		{"steps are null", "next_steps", canonicalNull{}, []finding{{"next_steps", FindingWrongType, 0}}},
		{"21 steps", "next_steps", list(21, "s"), []finding{{"next_steps", FindingTooMany, 20}}},
		{"a step of 301, a blank one, a number", "next_steps", []any{emoji(301), " ", 1}, []finding{
			{"next_steps[0]", FindingTooLong, 300}, {"next_steps[1]", FindingBlank, 0}, {"next_steps[2]", FindingWrongType, 0},
		}},
		{"51 files", "files_touched", list(51, file()), []finding{{"files_touched", FindingTooMany, 50}}},
		{"50 files", "files_touched", list(50, file()), nil},
		{"path of 241", "files_touched", []any{file(), file("path", emoji(241))}, []finding{{"files_touched[1].path", FindingTooLong, 240}}},
		{"file summary of 201", "files_touched", []any{file("summary", emoji(201))}, []finding{{"files_touched[0].summary", FindingTooLong, 200}}},
		{"file with an extra member", "files_touched", []any{file("size", "1")}, []finding{{"files_touched[0].size", FindingUnknownField, 0}}},
		{"file without action", "files_touched", []any{map[string]any{"path": "a"}}, []finding{{"files_touched[0].action", FindingMissingField, 0}}},
		{"file is a text", "files_touched", []any{"a"}, []finding{{"files_touched[0]", FindingWrongType, 0}}},
		{"action of another word", "files_touched", []any{file("action", "moved")}, []finding{{"files_touched[0].action", FindingNotAllowed, 0}}},
		{"outcome of another word", "approaches_tried", approach("invalid"), []finding{{"approaches_tried[0].outcome", FindingNotAllowed, 0}}},
		{"outcome is a list", "approaches_tried", approach([]any{"failed"}), []finding{{"approaches_tried[0].outcome", FindingWrongType, 0}}},
		{"outcome is null", "approaches_tried", approach(canonicalNull{}), []finding{{"approaches_tried[0].outcome", FindingWrongType, 0}}},
		{"outcome is a number", "approaches_tried", approach(1), []finding{{"approaches_tried[0].outcome", FindingWrongType, 0}}},
		{"decision without rationale", "key_decisions", []any{map[string]any{"decision": "d"}}, []finding{{"key_decisions[0].rationale", FindingMissingField, 0}}},
		{"extra member", "extra", "x", []finding{{"extra", FindingUnknownField, 0}}},
		{"no source agent", "source_agent", nil, []finding{{"source_agent", FindingMissingField, 0}}},
		{"source agent is no agent id", "source_agent", "Agent A", []finding{{"source_agent", FindingNotAllowed, 0}}},
		{"source session of 161", "source_session", emoji(161), []finding{{"source_session", FindingTooLong, 160}}},
		{"prepared at a zone", "prepared_at", "2026-09-13T10:05:00+00:00", []finding{{"prepared_at", FindingNotAllowed, 0}}},
		{"facts of another Todo", "todo_facts", strings.Repeat("0", 64), []finding{{"todo_facts", FindingFactsChanged, 0}}},
		{"facts are no digest", "todo_facts", "x", []finding{{"todo_facts", FindingNotAllowed, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			note := currentNote()
			if note[c.member] = c.value; c.value == nil {
				delete(note, c.member)
			}
			j := JudgeNote(encoded(t, note), vectorTodo())
			if diff := cmp.Diff(c.want, j.Findings); diff != "" {
				t.Error(diff)
			}
			want := NoteCurrent
			if c.want != nil {
				want = NoteStale
			}
			if j.State != want || j.Refusal != nil || j.Note == nil || j.Facts == "" {
				t.Errorf("got %+v, want %s", j, want)
			}
		})
	}
}

// canonicalNull is a JSON null in a test table, where nil means "delete".
type canonicalNull struct{}

func (canonicalNull) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

func TestNeitherSummaryNorRationale(t *testing.T) {
	note := currentNote()
	delete(note, "work_summary")
	delete(note, "rationale")
	j := JudgeNote(encoded(t, note), vectorTodo())
	if diff := cmp.Diff([]Finding{{"work_summary", FindingMissingField, 0}}, j.Findings); diff != "" {
		t.Error(diff)
	}
}

func TestStaleNoteKeepsWhatPasses(t *testing.T) {
	note := currentNote()
	note["next_steps"] = []any{"good", ""}
	note["rationale"] = 5
	note["extra"] = "x"
	todo := vectorTodo()
	todo.Text = "other work"
	j := JudgeNote(encoded(t, note), todo)
	want := Note{
		Schema: NoteSchema, Kind: NoteKind, SourceAgent: "agent-a", SourceSession: "source-session", PreparedAt: vectorAt,
		TodoFacts: TodoFacts(vectorTodo()),
		Context: Context{
			WorkSummary: "bounded", SourceRefs: []string{"artifact:decision.md"},
			ApproachesTried: []Approach{{"count", "failed", "slow disks"}},
			FilesTouched:    []FileTouched{{"retry.go", "edited", ""}, {"b.go", "read", "the caller"}},
			KeyDecisions:    []KeyDecision{{"time", "fair"}}, OpenQuestions: []string{},
		},
	}
	if diff := cmp.Diff(&want, j.Note); diff != "" {
		t.Error(diff)
	}
	codes := []Finding{{"extra", FindingUnknownField, 0}, {"rationale", FindingWrongType, 0}, {"next_steps[1]", FindingBlank, 0}, {"todo_facts", FindingFactsChanged, 0}}
	if diff := cmp.Diff(codes, j.Findings); diff != "" {
		t.Error(diff)
	}
}

func TestNoteStates(t *testing.T) {
	perfect := encoded(t, currentNote())
	without := func(name string) []byte {
		m := currentNote()
		delete(m, name)
		return encoded(t, m)
	}
	with := func(name string, v any) []byte {
		m := maps.Clone(currentNote())
		m[name] = v
		return encoded(t, m)
	}
	for _, c := range []struct {
		name string
		blob []byte
		want NoteState
		code Code
	}{
		{"no note", nil, NoteMissing, ""},
		{"current", perfect, NoteCurrent, ""},
		{"free text", freeNote(t, "read the log"), NoteMissing, ""},
		{"free text that is a perfect note", freeNote(t, string(perfect)), NoteMissing, ""},
		{"blank free text", freeNote(t, "\u3000"), NoteUnsupported, CodeInvalidProjection},
		{"free text of 8001", freeNote(t, strings.Repeat("a", 8001)), NoteUnsupported, CodeInvalidProjection},
		{"free text with one more member", encoded(t, map[string]any{"schema": NoteSchema, "text": "a", "x": "y"}), NoteUnsupported, CodeInvalidProjection},
		{"next schema", with("schema", "loopx.note/2"), NoteUnsupported, CodeUnsupportedSchema},
		{"no schema", without("schema"), NoteUnsupported, CodeInvalidProjection},
		{"schema is a number", with("schema", 1), NoteUnsupported, CodeInvalidProjection},
		{"no kind", without("kind"), NoteUnsupported, CodeInvalidProjection},
		{"other kind", with("kind", "loopx-note"), NoteUnsupported, CodeInvalidProjection},
		{"kind is a list", with("kind", []any{NoteKind}), NoteUnsupported, CodeInvalidProjection},
		{"one space too many", bytes.Replace(perfect, []byte(`{"`), []byte(`{ "`), 1), NoteUnsupported, CodeInvalidProjection},
		{"no final newline", bytes.TrimSuffix(perfect, []byte("\n")), NoteUnsupported, CodeInvalidProjection},
		{"a member twice", bytes.Replace(perfect, []byte(`{"`), []byte(`{"kind":"loopx-explicit-continuation","`), 1), NoteUnsupported, CodeInvalidProjection},
		{"a list", []byte("[]\n"), NoteUnsupported, CodeInvalidProjection},
		{"empty", []byte{}, NoteUnsupported, CodeInvalidProjection},
		{"not UTF-8", bytes.Replace(perfect, []byte("bounded"), []byte("b\xffunded"), 1), NoteUnsupported, CodeInvalidProjection},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := JudgeNote(c.blob, vectorTodo())
			if j.State != c.want || (j.Refusal != nil) != (c.code != "") || j.Refusal != nil && j.Refusal.Code != c.code {
				t.Errorf("got %+v (%v)", j, j.Refusal)
			}
			if j.Refusal != nil && j.Refusal.Detail["record"] != NotePath("todo_a") {
				t.Errorf("the record is not named: %v", j.Refusal.Detail)
			}
		})
	}
}

func TestBuildNoteRefusesLoudly(t *testing.T) {
	facts := TodoFacts(vectorTodo())
	for _, c := range []struct {
		name string
		ctx  Context
		by   Source
		want Finding
	}{
		{"nothing said", Context{NextSteps: []string{"a"}}, vectorSource, Finding{"work_summary", FindingMissingField, 0}},
		{"blank session", vectorContext, Source{"agent-a", " "}, Finding{"source_session", FindingBlank, 0}},
		{"blank step", Context{Rationale: "r", NextSteps: []string{""}}, vectorSource, Finding{"next_steps[0]", FindingBlank, 0}},
		{"not UTF-8", Context{Rationale: "\xff"}, vectorSource, Finding{"", FindingNotAllowed, 0}},
	} {
		b, findings := BuildNote(c.ctx, c.by, vectorAt, facts)
		if b != nil || len(findings) != 1 || findings[0] != c.want {
			t.Errorf("%s: got %s, %v", c.name, b, findings)
		}
	}
}
