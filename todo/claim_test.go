package todo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testAt Instant = "2026-09-14T08:00:00Z"

// demo is goal demo with agents a, b and c, and todo_a of section 2, open and claimed by a, changed as told.
func demo(changes ...func(*State)) State {
	t := vectorTodo()
	s := State{
		Revision: vectorRevision,
		Goal: Goal{
			Schema: GoalSchema, ID: "demo", ScopeID: "00000000000000000000000000000001", HandoffMode: SoftClaim,
			CreatedAt: "2026-09-13T09:00:00Z",
			Agents: []Agent{
				{ID: "agent-a", AddedAt: "2026-09-13T09:00:00Z"},
				{ID: "agent-b", AddedAt: "2026-09-13T09:00:00Z"},
				{ID: "agent-c", AddedAt: "2026-09-13T09:00:00Z"},
			},
		},
		Todo: &t,
	}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func claimedBy(a AgentID) func(*State)   { return func(s *State) { s.Todo.ClaimedBy = a } }
func inStatus(w WorkStatus) func(*State) { return func(s *State) { s.Todo.Status = w } }
func archived(s *State)                  { s.Todo.ArchiveState = Archived }
func ofUser(s *State)                    { s.Todo.Role = RoleUser }
func excludes(a AgentID) func(*State)    { return func(s *State) { s.Todo.ExcludedAgents = []AgentID{a} } }
func boundTo(a AgentID) func(*State)     { return func(s *State) { s.Todo.BoundAgent = a } }
func absent(s *State)                    { s.Todo = nil }
func hardLease(s *State)                 { s.Goal.HandoffMode = HardLease }
func noted(b []byte) func(*State)        { return func(s *State) { s.Note = b } }
func supersededBy(id ID) func(*State)    { return func(s *State) { s.Todo.SupersededBy = id } }
func unregistered(a AgentID) func(*State) {
	return func(s *State) {
		var left []Agent
		for _, known := range s.Goal.Agents {
			if known.ID != a {
				left = append(left, known)
			}
		}
		s.Goal.Agents = left
	}
}

// wantCode checks the code of a refusal, "" for none, and that a refusal decides nothing.
func wantCode(t *testing.T, d Decision, err error, want Code) {
	t.Helper()
	if got := CodeOf(err); got != want {
		t.Errorf("got code %q (%v), want %q", got, err, want)
	}
	if err != nil && (d.Changes() || d.Result != nil) {
		t.Errorf("a refusal decides %+v", d)
	}
	if err != nil && AsRefusal(err) == nil {
		t.Errorf("%v is not a refusal", err)
	}
}

func TestClaimChecks(t *testing.T) {
	plain := ClaimRequest{Command: "todo claim", Todo: "todo_a", Actor: "agent-b", Claimant: "agent-b", At: testAt}
	other := plain
	other.Actor = "agent-a"
	for _, c := range []struct {
		name  string
		state State
		req   ClaimRequest
		want  Code
	}{
		{"free", demo(claimedBy("")), plain, ""},
		{"mine already", demo(claimedBy("agent-b")), plain, ""},
		{"bound to me", demo(claimedBy(""), boundTo("agent-b")), plain, ""},
		{"not there", demo(absent), plain, CodeTodoNotFound},
		{"for somebody else", demo(ofUser), other, CodeClaimActorMismatch},
		{"a user's", demo(ofUser, inStatus(Done)), plain, CodeTodoNotAgent},
		{"done", demo(inStatus(Done), archived), plain, CodeTodoNotOpen},
		{"blocked", demo(claimedBy(""), inStatus(Blocked)), plain, CodeTodoNotOpen},
		{"deferred", demo(claimedBy(""), inStatus(Deferred)), plain, CodeTodoNotOpen},
		{"archived", demo(archived, excludes("agent-b")), plain, CodeTodoArchived},
		{"excluded", demo(excludes("agent-b"), boundTo("agent-a")), plain, CodeActorExcluded},
		{"bound away", demo(boundTo("agent-a")), plain, CodeBoundAgentMismatch},
		{"another's", demo(hardLease), plain, CodeClaimOwnerMismatch},
		{"another's with a free-text note", demo(noted(freeNote(t, "go on"))), plain, CodeClaimOwnerMismatch},
		{"another's with a current note but no grant", demo(noted(vectorNote(t))), plain, CodeClaimOwnerMismatch},
		{"free, but leases are needed", demo(claimedBy(""), hardLease), plain, CodeModeRequiresLease},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := DecideClaim(c.state, c.req)
			wantCode(t, d, err, c.want)
		})
	}
}

func TestClaimResult(t *testing.T) {
	req := ClaimRequest{Command: "todo claim", Todo: "todo_a", Actor: "agent-b", Claimant: "agent-b", At: testAt}
	want := ClaimResult{
		Schema: ClaimSchema, TodoID: "todo_a", ClaimedBy: "agent-b", Changed: true, HandoffMode: SoftClaim,
		Authority: MutationAuthority{
			Schema: "todo_mutation_authority_v0", Command: "todo claim", Mode: "registered_peer_actor",
			ActorAgentID: "agent-b", TodoID: "todo_a", RegisteredAgents: 3,
		},
	}
	d, err := DecideClaim(demo(claimedBy("")), req)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, d.Result); diff != "" {
		t.Error(diff)
	}
	next := vectorTodo()
	next.ClaimedBy, next.LastActorAgentID, next.UpdatedAt = "agent-b", "agent-b", testAt
	if diff := cmp.Diff([]Todo{next}, d.Todos); diff != "" {
		t.Error(diff)
	}

	d, err = DecideClaim(demo(claimedBy("agent-b")), req)
	if err != nil {
		t.Fatal(err)
	}
	want.Changed, want.Authority.ClaimOwner = false, "agent-b"
	if diff := cmp.Diff(want, d.Result); diff != "" || d.Changes() {
		t.Errorf("mine already: %v %s", d, diff)
	}
}

func freeNote(t testing.TB, text string) []byte {
	t.Helper()
	b, err := EncodeFreeNote(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rawNote encodes any object as a stored note.
func rawNote(t testing.TB, members map[string]any) []byte {
	t.Helper()
	return encoded(t, members)
}

// Cases 36 to 39 of continuation.md, section 12: a grant is believed only as far as the state agrees.
func TestGrant(t *testing.T) {
	good := map[string]any{
		"schema": NoteSchema, "kind": NoteKind, "source_agent": "agent-a", "source_session": "source-session",
		"prepared_at": vectorAt, "todo_facts": TodoFacts(vectorTodo()), "rationale": "why",
	}
	note := func(change func(map[string]any)) []byte {
		m := map[string]any{}
		for k, v := range good {
			m[k] = v
		}
		change(m)
		return rawNote(t, m)
	}
	asIs := func(map[string]any) {}
	set := func(name string, value any) func(map[string]any) { return func(m map[string]any) { m[name] = value } }
	for _, c := range []struct {
		name  string
		note  []byte
		grant func(*Grant)
		state func(*State)
		want  Code
	}{
		{"note is current and all agrees", note(asIs), nil, nil, ""},
		{"owner is only the receiver of an earlier note", note(set("source_agent", "agent-c")), nil, nil, ""},
		{"note without the kind", note(func(m map[string]any) { delete(m, "kind") }), nil, nil, CodeClaimOwnerMismatch},
		{"foreign facts", note(set("todo_facts", NoteFacts(nil))), nil, nil, CodeClaimOwnerMismatch},
		{"blank source session", note(set("source_session", "\u00a0")), nil, nil, CodeClaimOwnerMismatch},
		{"a step of 301 characters", note(set("next_steps", []string{string(make([]byte, 301))})), nil, nil, CodeClaimOwnerMismatch},
		{"extra member at the root", note(set("extra", "x")), nil, nil, CodeClaimOwnerMismatch},
		{"extra member inside", note(set("files_touched", []any{map[string]any{"path": "a", "action": "read", "x": "y"}})), nil, nil, CodeClaimOwnerMismatch},
		{"list as outcome", note(set("approaches_tried", []any{map[string]any{"approach": "a", "outcome": []string{"failed"}, "reason": "r"}})), nil, nil, CodeClaimOwnerMismatch},
		{"free text", freeNote(t, "text"), nil, nil, CodeClaimOwnerMismatch},
		{"no note", nil, nil, nil, CodeClaimOwnerMismatch},
		{"other schema of grant", note(asIs), func(g *Grant) { g.Schema = "todo_transfer_grant_v1" }, nil, CodeClaimOwnerMismatch},
		{"other source", note(asIs), func(g *Grant) { g.Source = "agent-c" }, nil, CodeClaimOwnerMismatch},
		{"other target", note(asIs), func(g *Grant) { g.Target = "agent-c" }, nil, CodeClaimOwnerMismatch},
		{"other todo", note(asIs), func(g *Grant) { g.Todo = "todo_b" }, nil, CodeClaimOwnerMismatch},
		{"other revision", note(asIs), func(g *Grant) { g.ExpectedRevision = "1123456789abcdef0123456789abcdef01234567" }, nil, CodeClaimOwnerMismatch},
		{"no revision", note(asIs), func(g *Grant) { g.ExpectedRevision = "" }, nil, CodeClaimOwnerMismatch},
		{"other note", note(asIs), func(g *Grant) { g.NoteFacts = NoteFacts([]byte("x")) }, nil, CodeClaimOwnerMismatch},
		{"owner left the goal", note(asIs), nil, unregistered("agent-a"), CodeClaimOwnerMismatch},
		{"receiver is excluded", note(asIs), nil, excludes("agent-b"), CodeActorExcluded},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := Grant{
				Schema: GrantSchema, Source: "agent-a", Target: "agent-b", Todo: "todo_a",
				ExpectedRevision: vectorRevision, NoteFacts: NoteFacts(c.note),
			}
			if c.grant != nil {
				c.grant(&g)
			}
			s := demo(noted(c.note))
			if c.state != nil {
				c.state(&s)
			}
			d, err := DecideClaim(s, ClaimRequest{
				Command: "handoff adopt", Todo: "todo_a", Actor: "agent-b", Claimant: "agent-b",
				Expected: vectorRevision, Grant: &g, At: testAt,
			})
			wantCode(t, d, err, c.want)
			if c.want == "" && (d.Todos[0].ClaimedBy != "agent-b" || d.Result.(ClaimResult).Authority.ClaimOwner != "agent-a" || d.Notes != nil) {
				t.Errorf("got %+v", d)
			}
		})
	}
}

func TestVerifyClaim(t *testing.T) {
	for _, c := range []struct {
		name  string
		state State
		want  Code
	}{
		{"still mine", demo(), ""},
		{"gone", demo(absent), CodeTodoNotFound},
		{"done since", demo(inStatus(Done)), CodeTodoNotOpen},
		{"archived since", demo(archived), CodeTodoArchived},
		{"another's since", demo(claimedBy("agent-b")), CodeClaimOwnerMismatch},
		{"nobody's since", demo(claimedBy("")), CodeClaimOwnerMismatch},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantCode(t, Decision{}, VerifyClaim(c.state, "todo_a", "agent-a"), c.want)
		})
	}
}

func TestCheckActor(t *testing.T) {
	g := demo().Goal
	for a, want := range map[AgentID]Code{
		"agent-a": "", "": CodeActorRequired, "Agent-A": CodeActorNotRegistered, "agent-d": CodeActorNotRegistered, "agent": CodeActorNotRegistered,
	} {
		if got := CodeOf(CheckActor(g, a)); got != want {
			t.Errorf("%q: got %q, want %q", a, got, want)
		}
	}
}
