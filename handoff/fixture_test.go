package handoff

import (
	"bytes"
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

// leasedTo returns the state with a live lease of an agent's, execution-a at version 3, in a goal that is hard_lease.
func leasedTo(s todo.State, owner todo.AgentID) todo.State {
	s.Goal.HandoffMode = todo.HardLease
	s.Lease = todo.Holding{
		Owner: owner, Key: "execution-a", Version: 3, Epoch: 1, Expires: "2026-09-13T10:45:00Z",
		Active: true, Live: true, LiveToOthers: true, Released: []byte("{}\n"),
	}
	return s
}

// over returns the state with its lease over in the eyes of all, justOver in those of its owner.
func over(s todo.State) todo.State {
	s.Lease.Live, s.Lease.LiveToOthers, s.Lease.Expires = false, false, at
	return s
}

func justOver(s todo.State) todo.State {
	s.Lease.Live, s.Lease.Expires = false, at
	return s
}

func soft(s todo.State) todo.State {
	s.Goal.HandoffMode = todo.SoftClaim
	return s
}

// unconfirmed returns the state with its Todo held by the goal.
func unconfirmed(s todo.State) todo.State {
	s.Goal.Acceptance = &todo.Acceptance{Enabled: true, Scope: todo.HoldAll}
	return s
}

// waiting returns the state with a Todo whose time comes tomorrow.
func waiting(s todo.State) todo.State {
	return with(s, func(x *todo.Todo) { x.ResumeAt = "2026-09-14T00:00:00Z" })
}

// transferred is a prepared state after L8: claim, lease and note are agent-b's, all in one commit.
func transferred(s todo.State) todo.State {
	before := todo.TodoFacts(*s.Todo)
	s = with(s, func(x *todo.Todo) { x.ClaimedBy = "agent-b" })
	s.Note = bytes.Replace(s.Note, []byte(before), []byte(todo.TodoFacts(*s.Todo)), 1)
	s.Lease.Owner, s.Lease.Key, s.Lease.Version, s.Lease.Epoch = "agent-b", "execution-b", 4, 2
	return s
}

// takeoverOf is what the receipt of a decision says that stands at laterTip.
func takeoverOf(d todo.Decision) Takeover {
	a := answerOf(d)
	return a.takeover()
}

func answerOf(d todo.Decision) (a AdoptAnswer) {
	a.Receipt.Revision = laterTip
	switch result := d.Result.(type) {
	case Claim:
		a.Claim = &NestedClaim{Claim: result}
	case Adoption:
		a.Adoption = &NestedAdoption{Adoption: result}
	}
	return a
}

// nestedIn names the nested answer of a refusal that has its code and says no; "" where there is none.
func nestedIn(r *todo.Refusal) string {
	for _, name := range []string{"claim", "adoption"} {
		if answer, ok := r.Detail[name].(map[string]any); ok && answer["reason_code"] == r.Code && answer["ok"] == false {
			return name
		}
	}
	return ""
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

// prepared is the state with agent-a's note, at the same tip again.
func prepared(t *testing.T, s todo.State) todo.State {
	t.Helper()
	r := prepareRequest()
	r.Expected = s.Revision
	if leased(s, r.Agent, r.Proof) {
		r.Proof = todo.ProofOf(s.Lease.Key, s.Lease.Version)
	}
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
