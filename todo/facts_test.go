package todo

import (
	"maps"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// vectorTodo is T of continuation.md, section 2.
func vectorTodo() Todo {
	return Todo{
		SchemaVersion: TodoSchema, ID: "todo_a", Role: RoleAgent, Status: Open, ArchiveState: Active,
		Text: "Bound the retry loop by time", ClaimedBy: "agent-a", CreatedAt: "2026-09-13T10:00:00Z",
	}
}

var (
	vectorContext = Context{Rationale: "A count would starve slow disks", SourceRefs: []string{"artifact:decision.md"}}
	vectorSource  = Source{Agent: "agent-a", Session: "source-session"}
)

const (
	vectorAt       Instant           = "2026-09-13T10:05:00Z"
	vectorRevision gitstore.ObjectID = "0123456789abcdef0123456789abcdef01234567"
)

func vectorNote(t testing.TB) []byte {
	t.Helper()
	b, findings := BuildNote(vectorContext, vectorSource, vectorAt, TodoFacts(vectorTodo()))
	if len(findings) > 0 {
		t.Fatalf("BuildNote: %v", findings)
	}
	return b
}

func TestVectors(t *testing.T) {
	todo := vectorTodo()
	claimedByB := todo
	claimedByB.ClaimedBy = "agent-b"
	touched := todo.touched("agent-z", "2030-01-01T00:00:00Z")
	request := func(kind string, args map[string]any) string {
		args["expected_revision"] = vectorRevision
		d, err := RequestDigest(kind, "demo", "todo_a", args)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	adopt := map[string]any{"agent_id": "agent-b", "target_agent_id": "agent-b"}
	withProof := maps.Clone(adopt)
	withProof["session_id"] = "target-session"
	withProof["lease_proof"] = map[string]any{"idempotency_key": "execution-b", "expected_version": 4}
	leaseID := func(v any) string {
		d, err := canonical.Digest(v)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, v := range []struct{ name, got, want string }{
		{"todo_facts", TodoFacts(todo), "db805c2cff1866a0cbeed4b16fa401b8df0c7c4034acf5b115f54725d666861d"},
		{"todo_facts, touched since", TodoFacts(touched), "db805c2cff1866a0cbeed4b16fa401b8df0c7c4034acf5b115f54725d666861d"},
		{"todo_facts, claimed by agent-b", TodoFacts(claimedByB), "a874464f6109e0a1c285a4ef762ec90abd885ec17a520a65cd9b5ba6685643d3"},
		{"stable facts", StableFacts(todo), "5bf07856ec8809ca8fd86deff3c2eef1e3c2955320f7eec770dbbbd54a347097"},
		{"stable facts, claimed by agent-b", StableFacts(claimedByB), "5bf07856ec8809ca8fd86deff3c2eef1e3c2955320f7eec770dbbbd54a347097"},
		{"work digest", WorkDigest(todo), "f003e4c90502341146feb67d245ccb1e8809891e5c0138499b3c1b02fefe6334"},
		{"note_facts", NoteFacts(vectorNote(t)), "26e815e882c16f41199d686613bfc0be7f8f5ab359e9692b48b02b55ebf5bf75"},
		{
			"request of prepare",
			request("handoff prepare", map[string]any{"agent_id": "agent-a", "session_id": "source-session", "context": vectorContext}),
			"b7faa2f7b8a54921e2e6c977fd4088a9b3b147997e02e3f6b9a64cf326fb5dc3",
		},
		{"request of adopt", request("handoff adopt", adopt), "3f62c380f8862fc1f3a9f6be8fc2ff585978a0eb522f1e24e2a9bb9e65af6533"},
		{"request of adopt with proof", request("handoff adopt", withProof), "012033d2adc64b57a48e4ba8851b6e94225acdae1aba978c7e956f406ff967a0"},
		{
			"id of lease acquire",
			leaseID(map[string]any{"goal_id": "demo", "todo_id": "todo_a", "owner": "agent-a", "idempotency_key": "execution-a"}),
			"912a85a4b46e32f3984492515a6432fe5f8f2da7a14e43b75fb97f94cb7a873b",
		},
		{
			"id of lease transfer",
			leaseID(map[string]any{
				"schema_version": "loopx_task_lease_lifecycle_native_v0", "operation": "transfer", "goal_id": "demo",
				"todo_id": "todo_a", "owner": "agent-a", "idempotency_key": "execution-a", "expected_version": 3,
			}),
			"436583349e4dad1f57318902d50829f43fbf72499950a8f2d88d18f5998d2a29",
		},
	} {
		if v.got != v.want {
			t.Errorf("%s: got %s, want %s", v.name, v.got, v.want)
		}
	}
}

func TestFactsSeeEveryOtherMember(t *testing.T) {
	base := vectorTodo()
	for name, change := range map[string]func(*Todo){
		"label":    func(t *Todo) { t.Labels = []string{"x"} },
		"priority": func(t *Todo) { t.Priority = "P1" },
		"evidence": func(t *Todo) { t.Evidence = "log" },
		"text":     func(t *Todo) { t.Text += "." },
		"status":   func(t *Todo) { t.Status = Blocked },
	} {
		changed := base
		change(&changed)
		if TodoFacts(changed) == TodoFacts(base) {
			t.Errorf("%s: does not count in todo_facts", name)
		}
		if name == "text" == (WorkDigest(changed) == WorkDigest(base)) {
			t.Errorf("%s: the work digest should change with the text alone", name)
		}
	}
}

func TestRequestDigestLeavesArgumentsAlone(t *testing.T) {
	args := map[string]any{"claimed_by": "agent-a"}
	if _, err := RequestDigest("todo claim", "demo", "todo_a", args); err != nil || len(args) != 1 {
		t.Errorf("got %v, args %v", err, args)
	}
	if _, err := RequestDigest("todo claim", "demo", "", map[string]any{"claimed_by": "\xff"}); err == nil {
		t.Error("text that is not UTF-8 has a digest")
	}
}
