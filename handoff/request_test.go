package handoff

import (
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

// The vectors of continuation.md, section 2.
func TestRequestDigest(t *testing.T) {
	var l Ledger
	digest := func(t *testing.T, c todo.Call, kind string, args map[string]any) string {
		t.Helper()
		op, err := l.Operation(c, kind, args)
		if err != nil {
			t.Fatal(err)
		}
		return op.Request
	}
	prepare := prepareRequest()
	c, err := contextOf(prepare)
	if err != nil {
		t.Fatal(err)
	}
	plain := adoptRequest("agent-b")
	proved := plain
	proved.Proof = todo.ProofOf("execution-b", 4)
	elsewhere := plain
	elsewhere.Session, elsewhere.Workspace, elsewhere.Artifacts = "other", "/elsewhere", []string{"x"}
	named := plain
	named.Target = "agent-b"
	for _, row := range []struct{ name, got, want string }{
		{"prepare", digest(t, prepare.Call, "handoff prepare", prepare.args(c)), "b7faa2f7b8a54921e2e6c977fd4088a9b3b147997e02e3f6b9a64cf326fb5dc3"},
		{"adopt", digest(t, plain.Call, "handoff adopt", plain.args()), "3f62c380f8862fc1f3a9f6be8fc2ff585978a0eb522f1e24e2a9bb9e65af6533"},
		{"adopt, target named", digest(t, named.Call, "handoff adopt", named.args()), "3f62c380f8862fc1f3a9f6be8fc2ff585978a0eb522f1e24e2a9bb9e65af6533"},
		{"adopt, from elsewhere", digest(t, elsewhere.Call, "handoff adopt", elsewhere.args()), "3f62c380f8862fc1f3a9f6be8fc2ff585978a0eb522f1e24e2a9bb9e65af6533"},
		{"adopt with proof", digest(t, proved.Call, "handoff adopt", proved.args()), "012033d2adc64b57a48e4ba8851b6e94225acdae1aba978c7e956f406ff967a0"},
	} {
		if row.got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, row.got, row.want)
		}
	}
}

// The same id with another intent is another request: every argument that shapes the outcome is in the digest.
func TestRequestDigestCovers(t *testing.T) {
	digest := func(r PrepareRequest) string {
		c, err := contextOf(r)
		if err != nil {
			t.Fatal(err)
		}
		var l Ledger
		op, err := l.Operation(r.Call, "handoff prepare", r.args(c))
		if err != nil {
			t.Fatal(err)
		}
		return op.Request
	}
	seen := map[string]string{}
	for name, change := range map[string]func(*PrepareRequest){
		"as it is": func(*PrepareRequest) {},
		"text":     func(r *PrepareRequest) { r.Rationale = pointer("Another reason") },
		"refs":     func(r *PrepareRequest) { r.SourceRefs = nil },
		"session":  func(r *PrepareRequest) { r.Session = "other" },
		"revision": func(r *PrepareRequest) { r.Expected = laterTip },
		"agent":    func(r *PrepareRequest) { r.Agent = "agent-b" },
		"proof":    func(r *PrepareRequest) { r.Proof = todo.ProofOf("k", 1) },
		"key":      func(r *PrepareRequest) { r.Proof = todo.ProofOf("l", 1) },
		"version":  func(r *PrepareRequest) { r.Proof = todo.ProofOf("k", 2) },
	} {
		r := prepareRequest()
		change(&r)
		d := digest(r)
		if other, ok := seen[d]; ok {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
}

// Cases 4 to 11 and 47 of section 12, as far as they are of arguments; the rules of notes have their tests in todo.
func TestMalformedRequest(t *testing.T) {
	prepare := func(change func(*PrepareRequest)) error {
		r := prepareRequest()
		change(&r)
		return CheckPrepare(r)
	}
	file := func(context string) error {
		return prepare(func(r *PrepareRequest) { r.Context, r.Rationale, r.SourceRefs = []byte(context), nil, nil })
	}
	inspect := func(change func(*InspectRequest)) error {
		r := inspectRequest("agent-b")
		change(&r)
		return CheckInspect(r)
	}
	adopt := func(change func(*AdoptRequest)) error {
		r := adoptRequest("agent-b")
		change(&r)
		return CheckAdopt(r)
	}
	key, version := "execution-a", int64(3)
	for _, row := range []struct {
		name  string
		err   error
		words string // "": well formed
	}{
		{"rationale and refs", prepare(func(r *PrepareRequest) {}), ""},
		{"rationale alone", prepare(func(r *PrepareRequest) { r.SourceRefs = nil }), ""},
		{"context file", file(`{"work_summary":"Half done"}`), ""},
		{"context file and rationale", prepare(func(r *PrepareRequest) { r.Context = []byte(`{"work_summary":"x"}`) }), "one form is needed"},
		{"context file and refs", prepare(func(r *PrepareRequest) { r.Context, r.Rationale = []byte(`{"work_summary":"x"}`), nil }), "one form is needed"},
		{"no context", prepare(func(r *PrepareRequest) { r.Rationale, r.SourceRefs = nil, nil }), "one form is needed"},
		{"refs without rationale", prepare(func(r *PrepareRequest) { r.Rationale = nil }), "without rationale"},
		{"blank rationale", prepare(func(r *PrepareRequest) { r.Rationale = pointer("\u00a0\u3000") }), "rationale must be non-empty text of at most 600 characters"},
		{"rationale that is not UTF-8", prepare(func(r *PrepareRequest) { r.Rationale = pointer("\xff") }), "UTF-8"},
		{"empty file", file(""), "context"},
		{"no object", file("42"), "must be a JSON object"},
		{"two values", file(`{"work_summary":"x"} {}`), "context"},
		{"member of the note", file(`{"work_summary":"x","todo_facts":"y"}`), "unknown context field: todo_facts"},
		{"another letter case", file(`{"Work_Summary":"x"}`), "unknown context field: Work_Summary"},
		{"neither summary nor rationale", file(`{"next_steps":[]}`), "provide at least one of: work_summary"},

		{"no operation id", prepare(func(r *PrepareRequest) { r.Operation = "" }), "operation_id is needed"},
		{"a lease's operation id", prepare(func(r *PrepareRequest) { r.Operation = "lease-renew:x" }), "operation_id"},
		{"no revision", adopt(func(r *AdoptRequest) { r.Expected = "" }), "expected_revision is needed"},
		{"no agent", adopt(func(r *AdoptRequest) { r.Agent = "" }), "agent_id is needed"},
		{"no goal", adopt(func(r *AdoptRequest) { r.Goal = "" }), "goal_id is needed"},
		{"goal out of bounds", inspect(func(r *InspectRequest) { r.Goal = "../x" }), "goal_id"},
		{"no Todo", inspect(func(r *InspectRequest) { r.Todo = "" }), "todo_id is needed"},
		{"a prefix is no Todo", inspect(func(r *InspectRequest) { r.Todo = "todo_" }), "todo_id"},
		{"no session", inspect(func(r *InspectRequest) { r.Session = "" }), "session_id"},
		{"blank session", inspect(func(r *InspectRequest) { r.Session = "\u2003" }), "session_id"},
		{"long session", inspect(func(r *InspectRequest) { r.Session = strings.Repeat("é", 161) }), "160"},
		{"session of 160", inspect(func(r *InspectRequest) { r.Session = strings.Repeat("é", 160) }), ""},
		{"dry run", adopt(func(r *AdoptRequest) { r.DryRun = true }), "dry_run"},

		{"key alone", prepare(func(r *PrepareRequest) { r.Proof = todo.Proof{IdempotencyKey: &key} }), "lease_proof"},
		{"version alone", inspect(func(r *InspectRequest) { r.Proof = todo.Proof{ExpectedVersion: &version} }), "lease_proof"},
		{"whole proof", adopt(func(r *AdoptRequest) { r.Proof = todo.ProofOf(key, version) }), ""},
		{"negative version", adopt(func(r *AdoptRequest) { r.Proof = todo.ProofOf("k", -1) }), "lease_proof"},

		{"eight artifacts", inspect(func(r *InspectRequest) { r.Artifacts = strings.Fields("a b c d e f g h") }), ""},
		{"nine artifacts", inspect(func(r *InspectRequest) { r.Artifacts = strings.Fields("a b c d e f g h i") }), "at most 8"},
		{"artifact out of the workspace", adopt(func(r *AdoptRequest) { r.Artifacts = []string{"a/../../x"} }), "leaves the workspace"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.words == "" {
				if row.err != nil {
					t.Fatal(row.err)
				}
				return
			}
			r := wantCode(t, row.err, todo.CodeInvalidContinuation)
			if !strings.Contains(r.Reason, row.words) || r.Status != todo.Failed {
				t.Errorf("got %s %q, want failed with %q", r.Status, r.Reason, row.words)
			}
		})
	}
}
