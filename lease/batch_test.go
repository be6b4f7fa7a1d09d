package lease

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

func TestParseBatchRefuses(t *testing.T) {
	good := `{"op":"add","text":"work"}`
	for _, tt := range []struct {
		name, text string
		line       any
		op         any
		reason     string
	}{
		{"nothing", "", nil, nil, "a batch must have an operation, and this one is empty"},
		{"a line feed alone", "\n", nil, nil, "a batch must have an operation, and this one is empty"},
		{"too many lines", strings.Repeat(good+"\n", 501), nil, nil, "a batch must be at most 500 lines, not 501"},
		{"too many bytes", strings.Repeat(" ", 8<<20) + good, nil, nil, "a batch must be at most 8388608 bytes"},
		{"a blank line", good + "\n\n" + good, 2, nil, "line 2: is blank"},
		{"two line feeds at the end", good + "\n\n", 2, nil, "line 2: is blank"},
		{"a number", good + "\n42\n", 2, nil, "line 2: must be a JSON object"},
		{"an array", "[" + good + "]", 1, nil, "line 1: must be a JSON object"},
		{"null", "null", 1, nil, "line 1: must be a JSON object"},
		{"half an object", `{"op":"add"`, 1, nil, "line 1: is not one JSON object: it ends too early"},
		{"two objects", good + " " + good, 1, nil, "line 1: is not one JSON object: wrong at byte 27"},
		{"invalid UTF-8", "{\"op\":\"add\",\"text\":\"\xff\"}", 1, nil, "line 1: is not one JSON object: wrong at byte 20"},
		{"a lone surrogate", `{"op":"add","text":"\ud800"}`, 1, nil, "line 1: is not one JSON object: wrong at byte 20"},
		{"no op", `{"text":"work"}`, 1, nil, "line 1: op must be one of: add, update, note, claim, release, complete, reopen, supersede, archive"},
		{"an op that is none", `{"op":"ready"}`, 1, nil, "line 1: op must be one of: add, update, note, claim, release, complete, reopen, supersede, archive"},
		{"an op in other letters", `{"op":"Add","text":"work"}`, 1, nil, "line 1: op must be one of: add, update, note, claim, release, complete, reopen, supersede, archive"},
		{"op is no text", `{"op":["add"]}`, 1, nil, "line 1: op must be one of: add, update, note, claim, release, complete, reopen, supersede, archive"},
		{"an unknown member", good + "\n" + `{"op":"add","text":"work","grant":{}}`, 2, "add", `line 2: add: unknown member "grant"`},
		{"another letter case", `{"op":"add","Text":"work"}`, 1, "add", `line 1: add: unknown member "Text"`},
		{"a member of another op", `{"op":"archive","todo_id":"todo_a","reason":"x"}`, 1, "archive", `line 1: archive: unknown member "reason"`},
		{"a proof where none is used", `{"op":"claim","todo_id":"todo_a","lease_proof":{"idempotency_key":"k","expected_version":1}}`, 1, "claim", `line 1: claim: unknown member "lease_proof"`},
		{"the agent", `{"op":"claim","todo_id":"todo_a","agent_id":"agent-b"}`, 1, "claim", `line 1: claim: unknown member "agent_id"`},
		{"the record's spelling", `{"op":"add","text":"work","labels":["x"]}`, 1, "add", `line 1: add: unknown member "labels"`},
		{"a member twice", `{"op":"add","text":"work","text":"work"}`, 1, nil, `line 1: "text" is given twice`},
		{"a member twice, spelled otherwise", `{"op":"add","text":"work","\u0074ext":"work"}`, 1, nil, `line 1: "text" is given twice`},
		{"a member twice, below", `{"op":"release","todo_id":"todo_a","lease_proof":{"idempotency_key":"k","idempotency_key":"k"}}`, 1, nil, `line 1: "lease_proof/idempotency_key" is given twice`},
		{"a text as number", `{"op":"add","text":1}`, 1, "add", `line 1: add: "text" is of the wrong type`},
		{"a list as text", `{"op":"add","text":"work","label":"x"}`, 1, "add", `line 1: add: "label" is of the wrong type`},
		{"a fraction", `{"op":"claim","todo_id":"todo_a","ttl_seconds":1.5}`, 1, "claim", `line 1: claim: "ttl_seconds" is of the wrong type`},
		{"a number that is not exact everywhere", `{"op":"claim","todo_id":"todo_a","task_lease_expected_version":9007199254740992}`, 1, "claim", `line 1: claim: "task_lease_expected_version" is out of range`},
		{"a number that is too large", `{"op":"claim","todo_id":"todo_a","ttl_seconds":1e400}`, 1, "claim", `line 1: claim: "ttl_seconds" is of the wrong type`},
		{"a flag as text", `{"op":"note","todo_id":"todo_a","clear":"true"}`, 1, "note", `line 1: note: "clear" is of the wrong type`},
		{"a null", `{"op":"update","todo_id":"todo_a","title":null}`, 1, "update", `line 1: update: "title" is null`},
		{"a null in a list", `{"op":"add","text":"work","label":["x",null]}`, 1, "add", `line 1: add: "label/1" is null`},
		{"an empty member", `{"op":"add","text":"work","todo_id":""}`, 1, "add", `line 1: add: "todo_id" is empty`},
		{"an empty id of update", `{"op":"update","title":"","todo_id":""}`, 1, "update", `line 1: update: "todo_id" is empty`},
		{"an unknown member of the proof", `{"op":"release","todo_id":"todo_a","lease_proof":{"idempotency_key":"k","expected_version":1,"epoch":1}}`, 1, "release", `line 1: release: unknown member "lease_proof/epoch"`},
		{"half a proof", `{"op":"release","todo_id":"todo_a","lease_proof":{"idempotency_key":"k"}}`, 1, "release", "line 1: release: lease_proof needs idempotency_key and expected_version"},
		{"no half of a proof", `{"op":"complete","todo_id":"todo_a","lease_proof":{}}`, 1, "complete", "line 1: complete: lease_proof needs idempotency_key and expected_version"},
	} {
		ops, err := parseBatch("agent-a", []byte(tt.text))
		r := todo.AsRefusal(err)
		if r == nil || ops != nil {
			t.Errorf("%s: got %v, %v", tt.name, ops, err)
			continue
		}
		if r.Code != todo.CodeInvalidBatch || r.Status != todo.Failed || r.Detail["line"] != tt.line || r.Detail["op"] != tt.op || r.Reason != tt.reason {
			t.Errorf("%s: got %+v", tt.name, r)
		}
	}
}

func TestParseBatchNormalizes(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"the role, sets and an instant of add",
			`{"op":"add","text":"work","label":["b","a","b"],"depends_on":["todo_b","todo_a"],"resume_at":"2026-09-13T12:00:00.5+02:00"}`,
			`[{"depends_on":["todo_a","todo_b"],"label":["a","b"],"op":"add","resume_at":"2026-09-13T10:00:01Z","role":"agent","text":"work"}]`},
		{"the owner of a claim", `{"op":"claim","todo_id":"todo_a"}`, `[{"claimed_by":"agent-a","op":"claim","todo_id":"todo_a"}]`},
		{"the time of a lease", `{"op":"claim","todo_id":"todo_a","task_lease_idempotency_key":"k","write_scope":["b","a"]}`,
			`[{"claimed_by":"agent-a","op":"claim","task_lease_idempotency_key":"k","todo_id":"todo_a","ttl_seconds":2700,"write_scope":["a","b"]}]`},
		{"flags that are not set, lists that are empty", `{"op":"release","todo_id":"todo_a","override":false}` + "\n" + `{"op":"add","text":"work","label":[]}`,
			`[{"op":"release","todo_id":"todo_a"},{"op":"add","role":"agent","text":"work"}]`},
		{"an empty value of update removes", `{"op":"update","todo_id":"todo_a","title":"","label":[],"clear_reason":true}`,
			`[{"clear_reason":true,"label":[],"op":"update","title":"","todo_id":"todo_a"}]`},
		{"white space, a carriage return, no final line feed", " {\"op\" : \"archive\", \"todo_id\":\"todo_a\"}\r\n{\"op\":\"reopen\",\"todo_id\":\"todo_a\"}",
			`[{"op":"archive","todo_id":"todo_a"},{"op":"reopen","todo_id":"todo_a"}]`},
		{"what is no instant stays for the verb to refuse", `{"op":"add","text":"work","resume_at":"tomorrow"}`, `[{"op":"add","resume_at":"tomorrow","role":"agent","text":"work"}]`},
		{"a proof", `{"op":"complete","todo_id":"todo_a","lease_proof":{"expected_version":3,"idempotency_key":"k"},"successor":["todo_c","todo_b"]}`,
			`[{"lease_proof":{"expected_version":3,"idempotency_key":"k"},"op":"complete","successor":["todo_b","todo_c"],"todo_id":"todo_a"}]`},
	} {
		ops, err := parseBatch("agent-a", []byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got, err := canonical.Marshal(ops); err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v", tt.name, got, err)
		}
	}
}

// Every flag of a verb has a member, and reaches the arguments of its rule.
func TestOperationsHaveAllFlags(t *testing.T) {
	ops, err := parseBatch("agent-a", []byte(strings.Join([]string{
		`{"op":"add","todo_id":"todo_a","role":"user","text":"a","title":"b","priority":"P1","task_class":"c","label":["d"],"depends_on":["todo_b"],"resume_at":"2026-09-13T10:00:00Z","required_write_scope":["e"],"bound_agent":"f","excluded_agent":["g"],"claimed_by":"h"}`,
		`{"op":"update","todo_id":"todo_a","text":"a","title":"b","status":"blocked","priority":"P1","task_class":"c","label":["d"],"depends_on":["todo_b"],"resume_at":"2026-09-13T10:00:00Z","required_write_scope":["e"],"bound_agent":"f","excluded_agent":["g"],"evidence":"h","reason":"i","note":"j"}`,
		`{"op":"update","todo_id":"todo_a","clear_title":true,"clear_priority":true,"clear_task_class":true,"clear_labels":true,"clear_depends_on":true,"clear_resume_at":true,"clear_required_write_scopes":true,"clear_bound_agent":true,"clear_excluded_agents":true,"clear_evidence":true,"clear_reason":true}`,
		`{"op":"claim","todo_id":"todo_a","task_lease_idempotency_key":"k","task_lease_expected_version":0,"ttl_seconds":60,"write_scope":["e"]}`,
	}, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	at := todo.Instant("2026-09-13T10:00:00Z")
	if diff := cmp.Diff(todo.AddArgs{
		Role: "user", Text: "a", Title: "b", Priority: "P1", TaskClass: "c", Labels: []string{"d"}, DependsOn: []todo.ID{"todo_b"},
		ResumeAt: at, RequiredWriteScopes: []string{"e"}, BoundAgent: "f", ExcludedAgents: []todo.AgentID{"g"}, ClaimedBy: "h",
	}, ops[0].(addLine).args()); diff != "" {
		t.Errorf("add: %s", diff)
	}
	if diff := cmp.Diff(todo.UpdateArgs{
		Text: ptr("a"), Title: ptr("b"), Status: ptr(todo.Blocked), Priority: ptr("P1"), TaskClass: ptr("c"),
		Labels: &[]string{"d"}, DependsOn: &[]todo.ID{"todo_b"}, ResumeAt: &at, RequiredWriteScopes: &[]string{"e"},
		BoundAgent: ptr(todo.AgentID("f")), ExcludedAgents: &[]todo.AgentID{"g"}, Evidence: ptr("h"), Reason: ptr("i"), Note: ptr("j"),
	}, ops[1].(updateLine).args()); diff != "" {
		t.Errorf("update: %s", diff)
	}
	if diff := cmp.Diff(todo.UpdateArgs{Clear: []string{
		"title", "priority", "task_class", "labels", "depends_on", "resume_at", "required_write_scopes", "bound_agent", "excluded_agents", "evidence", "reason",
	}}, ops[2].(updateLine).args()); diff != "" {
		t.Errorf("clear: %s", diff)
	}
	if diff := cmp.Diff(&Request{Key: "k", ExpectedVersion: ptr[int64](0), TTL: ptr[int64](60), WriteScopes: []string{"e"}}, ops[3].(claimLine).request()); diff != "" {
		t.Errorf("claim: %s", diff)
	}
	for i, word := range opWords {
		if decoder(word) == nil {
			t.Errorf("op %d, %s, has no decoder", i, word)
		}
	}
}

// FuzzParseBatch: whatever a batch says, reading it does not panic; what is refused says why, and what is read is written
// as JSON that is read as the same operations.
func FuzzParseBatch(f *testing.F) {
	f.Add([]byte(`{"op":"add","text":"work","label":["b","a"],"resume_at":"2026-09-13T12:00:00+02:00"}` + "\n"))
	f.Add([]byte(`{"op":"update","todo_id":"todo_a","title":"","label":[],"lease_proof":{"idempotency_key":"k","expected_version":1}}`))
	f.Add([]byte(`{"op":"claim","todo_id":"todo_a","ttl_seconds":9}` + "\n" + `{"op":"note","todo_id":"todo_a","text":"\ud83d\ude00"}`))
	f.Add([]byte(`{"op":"complete","todo_id":"todo_a","successor":["todo_c"]}` + "\n\n"))
	f.Add([]byte(`{"op":"supersede","todo_id":"todo_a","by":null,"by":1}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		ops, err := parseBatch("agent-a", b)
		if err != nil {
			r := todo.AsRefusal(err)
			if r == nil || r.Code != todo.CodeInvalidBatch || r.Status != todo.Failed || r.Reason == "" {
				t.Fatalf("%v is no refusal of a batch", err)
			}
			return
		}
		var again []byte
		for _, o := range ops {
			line, err := canonical.Encode(o)
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, line...)
		}
		same, err := parseBatch("agent-a", again)
		if err != nil {
			t.Fatalf("%q became %q: %v", b, again, err)
		}
		if diff := cmp.Diff(ops, same, cmp.Exporter(func(reflect.Type) bool { return true })); diff != "" {
			t.Fatalf("%q became %q: %s", b, again, diff)
		}
	})
}
