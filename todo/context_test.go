package todo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// Cases 4 to 10 of continuation.md, section 12, in the wording of section 7.2.
func TestContextIsRefused(t *testing.T) {
	const summary = `"work_summary":"s"`
	long := func(n int) string { return strings.Repeat("a", n) }
	list := func(n int, v string) string { return "[" + strings.TrimSuffix(strings.Repeat(v+",", n), ",") + "]" }
	with := func(member string) string { return "{" + summary + "," + member + "}" }
	for _, c := range []struct{ name, context, want string }{
		{"unknown field", with(`"unknown_field":1`), "unknown context field: unknown_field"},
		{"action", with(`"action":"x"`), "unknown context field: action"},
		{"agent_id", with(`"agent_id":"x"`), "unknown context field: agent_id"},
		{"lease_proof", with(`"lease_proof":{}`), "unknown context field: lease_proof"},
		{"kind", with(`"kind":"` + NoteKind + `"`), "unknown context field: kind"},
		{"todo_facts", with(`"todo_facts":"x"`), "unknown context field: todo_facts"},
		{"source_session", with(`"source_session":"x"`), "unknown context field: source_session"},
		{"letter case", `{"Work_Summary":"s"}`, "unknown context field: Work_Summary"},
		{"number", `42`, "must be a JSON object"},
		{"array", `[]`, "must be a JSON object"},
		{"null", `null`, "must be a JSON object"},
		{"empty", ``, "not one JSON object"},
		{"two values", `{"work_summary":"s"}{}`, "not one JSON object"},
		{"garbage after", `{"work_summary":"s"} x`, "not one JSON object"},
		{"member twice", `{"work_summary":"s","work_summary":"t"}`, "not one JSON object"},
		{"member twice inside", with(`"files_touched":[{"path":"a","path":"b","action":"read"}]`), "not one JSON object"},
		{"lone surrogate", `{"work_summary":"\ud800"}`, "not one JSON object"},
		{"invalid UTF-8", "{\"work_summary\":\"\xff\"}", "not one JSON object"},
		{"too large", `{"work_summary":"` + long(MaxContext) + `"}`, "at most 1048576 bytes"},
		{"summary too long", `{"work_summary":"` + long(2001) + `"}`, "work_summary must be non-empty text of at most 2000 characters"},
		{"summary of wide spaces", `{"work_summary":"\u00a0\u3000"}`, "work_summary must be non-empty text of at most 2000 characters"},
		{"summary is a number", `{"work_summary":1}`, "work_summary must be non-empty text of at most 2000 characters"},
		{"rationale too long", `{"rationale":"` + long(601) + `"}`, "rationale must be non-empty text of at most 600 characters"},
		{"steps are a text", with(`"next_steps":"a"`), "next_steps must be an array"},
		{"steps are null", with(`"next_steps":null`), "next_steps must be an array"},
		{"21 steps", with(`"next_steps":` + list(21, `"a"`)), "next_steps must be an array of at most 20 texts"},
		{"step too long", with(`"next_steps":["` + long(301) + `"]`), "next_steps[0] must be non-empty text of at most 300 characters"},
		{"reference too long", with(`"source_refs":["` + long(181) + `"]`), "source_refs[0] must be non-empty text of at most 180 characters"},
		{"51 files", with(`"files_touched":` + list(51, `{"path":"a","action":"read"}`)), "files_touched must be an array of at most 50 objects with path/action"},
		{"path too long", with(`"files_touched":[{"path":"` + long(241) + `","action":"read"}]`), "files_touched[0].path must be non-empty text of at most 240 characters"},
		{"file summary too long", with(`"files_touched":[{"path":"a","action":"read","summary":"` + long(201) + `"}]`), "files_touched[0].summary must be non-empty text of at most 200 characters"},
		{"extra member of a file", with(`"files_touched":[{"path":"a","action":"read","x":1}]`), "files_touched must be an array of at most 50 objects with path/action"},
		{"action of another word", with(`"files_touched":[{"path":"a","action":"moved"}]`), "files_touched[0].action must be one of: read, edited, created, deleted"},
		{"approach is a text", with(`"approaches_tried":["a"]`), "approaches_tried must be an array of at most 20 objects with approach/outcome/reason"},
		{"approaches are a text", with(`"approaches_tried":"a"`), "approaches_tried must be an array of at most 20 objects with approach/outcome/reason"},
		{"approach lacks a member", with(`"approaches_tried":[{"approach":"a","outcome":"failed"}]`), "approaches_tried must be an array of at most 20 objects with approach/outcome/reason"},
		{"outcome is a list", with(`"approaches_tried":[{"approach":"a","outcome":["failed"],"reason":"r"}]`), "approaches_tried[0].outcome must be one of: success, partial, failed"},
		{"decision lacks a member", with(`"key_decisions":[{"decision":"d"}]`), "key_decisions must be an array of at most 20 objects with decision/rationale"},
		{"nothing said", `{"next_steps":["a"]}`, "provide at least one of: work_summary, rationale"},
		{"empty object", `{}`, "provide at least one of: work_summary, rationale"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseContext([]byte(c.context))
			wantCode(t, Decision{}, err, CodeInvalidContinuation)
			if err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, want %q", err, c.want)
			}
		})
	}
}

func TestContextIsKeptAsGiven(t *testing.T) {
	given := `{"next_steps":[],"open_questions":["why?"], "work_summary":"` + strings.Repeat("😀", 2000) + `",
		"files_touched":[{"path":"a","action":"deleted","summary":"gone"}]}`
	c, err := ParseContext([]byte(given))
	if err != nil {
		t.Fatal(err)
	}
	got, err := canonical.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	value, err := oneValue([]byte(given))
	if err != nil {
		t.Fatal(err)
	}
	want, err := canonical.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestAllFindingsAreInTheDetail(t *testing.T) {
	_, err := ParseContext([]byte(`{"b":1,"a":1,"next_steps":"x"}`))
	want := []Finding{
		{"a", FindingUnknownField, 0}, {"b", FindingUnknownField, 0}, {"next_steps", FindingWrongType, 0}, {"work_summary", FindingMissingField, 0},
	}
	if diff := cmp.Diff(want, AsRefusal(err).Detail["findings"]); diff != "" {
		t.Error(diff)
	}
}

func TestRationaleContext(t *testing.T) {
	c, err := RationaleContext("why", nil)
	if err != nil || c.SourceRefs != nil || c.Rationale != "why" {
		t.Errorf("got %+v, %v", c, err)
	}
	for name, call := range map[string]func() (Context, error){
		"no rationale":    func() (Context, error) { return RationaleContext("", []string{"a"}) },
		"blank reference": func() (Context, error) { return RationaleContext("r", []string{" "}) },
		"not UTF-8":       func() (Context, error) { return RationaleContext("\xff", nil) },
	} {
		_, err := call()
		if CodeOf(err) != CodeInvalidContinuation {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
