package handoff

import (
	"errors"
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

const (
	tip      gitstore.ObjectID = "0123456789abcdef0123456789abcdef01234567"
	laterTip gitstore.ObjectID = "89abcdef0123456789abcdef0123456789abcdef"
	at       todo.Instant      = "2026-09-13T10:05:00Z"
)

// ready is a workspace where everything is in place.
var ready = Availability{WorkspaceAvailable: true, Artifacts: []Artifact{}, Ready: true}

func pointer[T any](v T) *T { return &v }

// demo is goal demo with three agents and an open Todo claimed by agent-a.
func demo() todo.State {
	return todo.State{
		Revision: tip,
		Goal: todo.Goal{
			Schema: todo.GoalSchema, ID: "demo", ScopeID: strings.Repeat("a", 32), HandoffMode: todo.SoftClaim,
			Agents: []todo.Agent{
				{ID: "agent-a", AddedAt: "2026-09-13T09:00:00Z"},
				{ID: "agent-b", AddedAt: "2026-09-13T09:00:00Z"},
				{ID: "agent-c", AddedAt: "2026-09-13T09:00:00Z"},
			},
			CreatedAt: "2026-09-13T09:00:00Z",
		},
		Todo: &todo.Todo{
			SchemaVersion: todo.TodoSchema, ID: "todo_a", Role: todo.RoleAgent, Status: todo.Open, ArchiveState: todo.Active,
			Text: "Bound the retry loop by time", ClaimedBy: "agent-a", CreatedAt: "2026-09-13T10:00:00Z",
		},
	}
}

// with returns the state with its Todo changed.
func with(s todo.State, change func(*todo.Todo)) todo.State {
	t := *s.Todo
	change(&t)
	s.Todo = &t
	return s
}

// after returns the state that a decision leaves at another tip.
func after(s todo.State, d todo.Decision) todo.State {
	for _, t := range d.Todos {
		s.Todo = &t
	}
	if b, ok := d.Notes["todo_a"]; ok {
		s.Note = b
	}
	s.Revision = laterTip
	return s
}

func call(agent todo.AgentID, session, operation string) todo.Call {
	return todo.Call{Goal: "demo", Todo: "todo_a", Agent: agent, Session: session, Operation: operation, Expected: tip}
}

func prepareRequest() PrepareRequest {
	return PrepareRequest{
		Call:      call("agent-a", "source-session", "handoff-1"),
		Rationale: pointer("A count would starve slow disks"), SourceRefs: []string{"artifact:decision.md"},
	}
}

func adoptRequest(agent todo.AgentID) AdoptRequest {
	return AdoptRequest{Call: call(agent, "target-session", "resume-1")}
}

func inspectRequest(agent todo.AgentID) InspectRequest {
	return InspectRequest{Goal: "demo", Todo: "todo_a", Agent: agent, Session: "target-session"}
}

func leaseProof(key string, version int64) Proof {
	return Proof{IdempotencyKey: &key, ExpectedVersion: &version}
}

// prepared is the state with agent-a's note, at the same tip again.
func prepared(t *testing.T, s todo.State) todo.State {
	t.Helper()
	r := prepareRequest()
	r.Expected = s.Revision
	d, err := Prepare(s, r, at)
	if err != nil {
		t.Fatalf("prepare: %v", err)
	}
	s = after(s, d)
	s.Revision = tip
	return s
}

// codeOf names a refusal or a conflict; "" is success.
func codeOf(err error) todo.Code {
	var moved *gitstore.MismatchError
	if errors.As(err, &moved) {
		return CodeRevisionMismatch
	}
	return todo.CodeOf(err)
}

func wantCode(t *testing.T, err error, want todo.Code) *todo.Refusal {
	t.Helper()
	if got := codeOf(err); got != want || err != nil && got == "" {
		t.Errorf("got code %q (%v), want %q", got, err, want)
	}
	if r := todo.AsRefusal(err); r != nil {
		checkSentence(t, r.Reason)
		return r
	}
	return &todo.Refusal{}
}

// checkSentence holds every sentence to the speech of cli.md: lower case, no full stop, on one line, nothing hidden.
func checkSentence(t *testing.T, s string) {
	t.Helper()
	if s == "" || strings.HasSuffix(s, ".") || s != Visible(s) || 'A' <= s[0] && s[0] <= 'Z' {
		t.Errorf("not a sentence: %q", s)
	}
}
