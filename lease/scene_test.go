package lease

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/todo"
)

const now todo.Instant = "2026-09-13T10:00:00Z"

// held is the lease of agent-a on todo_a, until 10:45.
func held() Lease {
	return Lease{
		SchemaVersion: Schema, Goal: "demo", Todo: "todo_a", Owner: "agent-a", Key: "execution-a", WriteScopes: []string{"src"},
		TTL: DefaultTTL, Version: 3, Epoch: 2, Status: Active, AcquiredAt: "2026-09-13T09:00:00Z", UpdatedAt: "2026-09-13T09:30:00Z",
		ExpiresAt: "2026-09-13T10:45:00Z", Clock: ClockNote{LocalClock, "2026-09-13T09:30:00Z"},
	}
}

// scene is what a rule is told.
type scene struct {
	goal   todo.Goal
	todo   *todo.Todo
	note   []byte
	record *Lease
	depend todo.Following
	others []Other
	skew   int64
	at     todo.Instant
}

// newScene is a hard_lease goal with the agents a, b and c, and todo_a, open, whose lease and claim are agent-a's.
func newScene() *scene {
	l := held()
	return &scene{
		goal: todo.Goal{
			Schema: todo.GoalSchema, ID: "demo", ScopeID: "00112233445566778899aabbccddeeff", HandoffMode: todo.HardLease, CreatedAt: now,
			Agents: []todo.Agent{{ID: "agent-a", AddedAt: now}, {ID: "agent-b", AddedAt: now}, {ID: "agent-c", AddedAt: now}},
		},
		todo: &todo.Todo{
			SchemaVersion: todo.TodoSchema, ID: "todo_a", Role: todo.RoleAgent, Status: todo.Open, ArchiveState: todo.Active,
			Text: "Bound the retry loop by time", ClaimedBy: "agent-a", RequiredWriteScopes: []string{"src"}, CreatedAt: now,
		},
		record: &l, at: now,
	}
}

func (s *scene) state() todo.State {
	state := todo.State{Revision: "r", Goal: s.goal, Todo: s.todo, Note: s.note, Others: s.depend}
	if s.record != nil {
		h, err := s.record.Holding(s.at, s.skew)
		if err != nil {
			panic(err)
		}
		state.Lease = h
	}
	return state
}

func (s *scene) remove(a todo.AgentID) {
	s.goal.Agents = slices.DeleteFunc(slices.Clone(s.goal.Agents), func(x todo.Agent) bool { return x.ID == a })
}

// fault is something that a rule refuses with a code.
type fault struct {
	name string
	code todo.Code
	make func(*scene)
}

// faultsInOrder is the law of a list of checks: of all faults from some place on, the first one's code is the answer, and
// nothing is decided.
func faultsInOrder(t *testing.T, faults []fault, decide func(*scene) (any, error)) {
	t.Helper()
	for i, first := range faults {
		t.Run(first.name, func(t *testing.T) {
			s := newScene()
			for _, f := range slices.Backward(faults[i:]) {
				f.make(s)
			}
			got, err := decide(s)
			r := todo.AsRefusal(err)
			if r == nil || r.Code != first.code {
				t.Fatalf("all faults from here: got %v, want %s", err, first.code)
			}
			want := todo.Rejected
			if first.code == todo.CodeTodoNotFound {
				want = todo.Failed
			}
			if r.Status != want || r.Reason == "" {
				t.Errorf("got status %s, reason %q", r.Status, r.Reason)
			}
			if diff := cmp.Diff(zero(got), got); diff != "" {
				t.Errorf("something is decided: %s", diff)
			}
			s = newScene()
			first.make(s)
			if _, err := decide(s); todo.CodeOf(err) != first.code {
				t.Errorf("alone: got %v, want %s", err, first.code)
			}
		})
	}
}

func zero(v any) any {
	switch v.(type) {
	case todo.Decision:
		return todo.Decision{}
	default:
		return Lease{}
	}
}

// notEligible are the faults of [todo.Eligible], of an owner, in order.
func notEligible(owner todo.AgentID) []fault {
	return []fault{
		{"absent", todo.CodeTodoNotFound, func(s *scene) { s.todo = nil }},
		{"archived", todo.CodeTodoNotFound, func(s *scene) { s.todo.ArchiveState = todo.Archived }},
		{"a user's", todo.CodeTodoNotAgent, func(s *scene) { s.todo.Role = todo.RoleUser }},
		{"done", todo.CodeTodoNotOpen, func(s *scene) { s.todo.Status = todo.Done }},
		{"owner not registered", todo.CodeOwnerNotRegistered, func(s *scene) { s.remove(owner) }},
		{"owner excluded", todo.CodeOwnerExcluded, func(s *scene) { s.todo.ExcludedAgents = []todo.AgentID{owner} }},
		{"bound away", todo.CodeBoundAgentMismatch, func(s *scene) { s.todo.BoundAgent = "agent-c" }},
	}
}

func softClaim(s *scene) { s.goal.HandoffMode = todo.SoftClaim }
func over(s *scene)      { s.record.ExpiresAt = s.at }

func unconfirmed(s *scene) {
	s.goal.Acceptance = &todo.Acceptance{Enabled: true, Scope: todo.HoldAll}
}

func dependent(s *scene) {
	s.todo.DependsOn = []todo.ID{"todo_b"}
	s.depend = todo.Following{"todo_b": {ID: "todo_b", Status: todo.Open, ArchiveState: todo.Active}}
}
