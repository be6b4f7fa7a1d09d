package handoff

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Cases 13, 25 to 27, 30 to 33 and 37 to 41 of continuation.md, section 12, and the lease-free order of section 7.5.
func TestAdoptRefuses(t *testing.T) {
	current := prepared(t, demo())
	stale := with(current, func(x *todo.Todo) { x.Text = "Another text" })
	note := func(old, new string) todo.State {
		s := current
		s.Note = bytes.Replace(s.Note, []byte(old), []byte(new), 1)
		if bytes.Equal(s.Note, current.Note) {
			t.Fatalf("the note has no %s", old)
		}
		return s
	}
	with := func(change func(*todo.Todo)) todo.State { return with(current, change) }
	request := func(agent todo.AgentID, change func(*AdoptRequest)) AdoptRequest {
		r := adoptRequest(agent)
		if change != nil {
			change(&r)
		}
		return r
	}
	b := adoptRequest("agent-b")
	moved := request("agent-b", func(r *AdoptRequest) { r.Expected = laterTip })
	gone := Availability{WorkspaceAvailable: true, Artifacts: []Artifact{{"decision.md", false, NotFound}}}
	for _, row := range []struct {
		name     string
		state    todo.State
		r        AdoptRequest
		v        Availability
		want     todo.Code
		blockers string // of continuation_not_ready
	}{
		{"prepared", current, b, ready, "", ""},
		{"no such Todo", func() todo.State { s := current; s.Todo = nil; return s }(), b, ready, todo.CodeTodoNotFound, ""},
		{"note not understood", func() todo.State { s := current; s.Note = []byte(`{"schema":"loopx.note/2"}` + "\n"); return s }(), moved, ready, todo.CodeUnsupportedSchema, ""},
		{"done, revision moved, artifact gone", with(func(x *todo.Todo) { x.Status = todo.Done }), moved, gone, todo.CodeTodoNotOpen, ""},
		{"archived", with(func(x *todo.Todo) { x.ArchiveState = todo.Archived }), b, ready, todo.CodeTodoNotOpen, ""},
		{"a person's", with(func(x *todo.Todo) { x.Role = todo.RoleUser }), b, ready, todo.CodeTodoNotAgent, ""},
		{"no note", demo(), b, ready, CodeNotReady, "[note_missing]"},
		{"text changed", stale, b, ready, CodeNotReady, "[note_stale]"},
		{"its own session", current, request("agent-a", func(r *AdoptRequest) { r.Session = "source-session" }), ready, CodeNotReady, "[continuation_same_session]"},
		{"artifact gone, revision moved", current, moved, gone, CodeNotReady, "[artifact_unavailable provider_revision_mismatch]"},
		{"no workspace", current, b, unseen(nil, NotFound), CodeNotReady, "[workspace_unavailable]"},
		{"for another", current, request("agent-b", func(r *AdoptRequest) { r.Target = "agent-c" }), ready, todo.CodeClaimActorMismatch, ""},
		{"excluded", prepared(t, func() todo.State { s := demo(); s.Todo.ExcludedAgents = []todo.AgentID{"agent-b"}; return s }()), moved, ready, todo.CodeActorExcluded, ""},
		{"bound", prepared(t, func() todo.State { s := demo(); s.Todo.BoundAgent = "agent-a"; return s }()), b, ready, todo.CodeBoundAgentMismatch, ""},
		{"its owner is not registered", func() todo.State { s := current; s.Goal.Agents = s.Goal.Agents[1:]; return s }(), b, ready, todo.CodeClaimOwnerMismatch, ""},
		{"held", unconfirmed(current), moved, ready, todo.CodeAcceptanceUnbound, ""},
		{"held, its owner", unconfirmed(current), request("agent-a", nil), ready, todo.CodeAcceptanceUnbound, ""},
		{"held and no note", unconfirmed(demo()), b, ready, CodeNotReady, "[note_missing goal_acceptance_unbound]"},
		{"waits for its time", prepared(t, waiting(demo())), b, ready, "", ""},
		{"a lease that is over", soft(over(leasedTo(current, "agent-a"))), b, ready, "", ""},
		{"revision moved", current, moved, ready, CodeRevisionMismatch, ""},
		{"revision moved, its owner", current, request("agent-a", func(r *AdoptRequest) { r.Expected = laterTip }), ready, CodeRevisionMismatch, ""},
		{"note by another than the owner", note(`"source_agent":"agent-a"`, `"source_agent":"agent-c"`), b, ready, todo.CodeClaimOwnerMismatch, ""},
		{"note without its kind", note(`"kind":"loopx-explicit-continuation",`, ``), b, ready, todo.CodeInvalidProjection, ""},
		{"blank session in the note", note(`"source_session":"source-session"`, `"source_session":" "`), b, ready, CodeNotReady, "[note_stale]"},
		{"extra member in the note", note(`"source_session"`, `"source_ref":"x","source_session"`), b, ready, todo.CodeInvalidProjection, ""},
		{"extra member, sorted", note(`"source_session"`, `"source_s":"x","source_session"`), b, ready, CodeNotReady, "[note_stale]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d, err := Adopt(row.state, row.r, row.v, at)
			refusal := wantCode(t, err, row.want)
			if row.want != "" && (d.Changes() || d.Result != nil) {
				t.Errorf("a refusal decided %+v", d)
			}
			if row.blockers != "" && fmt.Sprint(refusal.Detail["blockers"]) != row.blockers {
				t.Errorf("blockers %v, want %s", refusal.Detail["blockers"], row.blockers)
			}
			if nestedIn(refusal) == "adoption" {
				t.Error("nested in an adoption, without leases")
			}
		})
	}
}

// Case 30: both agents are registered; the nested claim says so too.
func TestAdmitAdopt(t *testing.T) {
	for _, row := range []struct {
		agent, target todo.AgentID
		want          todo.Code
		nested        string
		proof         todo.Proof
	}{
		{"agent-b", "", "", "", todo.Proof{}},
		{"agent-b", "agent-c", "", "", todo.Proof{}},
		{"Agent-B", "agent-b", todo.CodeActorNotRegistered, "", todo.Proof{}},
		{"agent-b", "agent-x", CodeTargetNotRegistered, "claim", todo.Proof{}},
		{"agent-b", "agent-x", CodeTargetNotRegistered, "adoption", todo.ProofOf("k", 3)},
		{"agent-x", "agent-x", todo.CodeActorNotRegistered, "", todo.Proof{}},
	} {
		r := adoptRequest(row.agent)
		r.Target, r.Proof = row.target, row.proof
		refusal := wantCode(t, AdmitAdopt(demo().Goal, r), row.want)
		if got := nestedIn(refusal); got != row.nested {
			t.Errorf("%s for %s: nested in %q, want %q", row.agent, row.target, got, row.nested)
		}
	}
}

// Case 21: a change of owner moves the claim and nothing else; the note stays as it is and is stale.
func TestAdopt(t *testing.T) {
	s := prepared(t, demo())
	d, err := Adopt(s, adoptRequest("agent-b"), ready, "2026-09-13T11:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Todos) != 1 || d.Notes != nil || d.Goal != nil || d.Subject != "handoff adopt todo_a" {
		t.Fatalf("decided %+v", d)
	}
	got := d.Todos[0]
	if got.ClaimedBy != "agent-b" || got.LastActorAgentID != "agent-b" || got.UpdatedAt != "2026-09-13T11:00:00Z" || todo.StableFacts(got) != todo.StableFacts(*s.Todo) {
		t.Errorf("Todo is %+v", got)
	}
	claim := d.Result.(Claim)
	if claim.TodoID != "todo_a" || claim.ClaimedBy != "agent-b" || !claim.Changed || claim.SourceAgentID != "agent-a" ||
		claim.NoteFacts != todo.NoteFacts(s.Note) || claim.StableFacts != todo.StableFacts(*s.Todo) ||
		claim.Authority.Command != "handoff adopt" || claim.Authority.ClaimOwner != "agent-a" {
		t.Errorf("claim %+v", claim)
	}
	s = after(s, d)
	if failures := VerifyAdopt(s, adoptRequest("agent-b"), takeoverOf(d), at); len(failures) > 0 {
		t.Errorf("not verified: %v", codesOf(failures))
	}
	if s.JudgeNote().State != todo.NoteStale {
		t.Error("the note is not stale after a change of owner")
	}
}

// Case 25: the owner from another session takes nothing over: receipt only.
func TestAdoptOwn(t *testing.T) {
	s := prepared(t, demo())
	d, err := Adopt(s, adoptRequest("agent-a"), ready, at)
	if err != nil || d.Changes() {
		t.Fatalf("decided %+v, %v", d, err)
	}
	if claim := d.Result.(Claim); claim.Changed || claim.ClaimedBy != "agent-a" || claim.NoteFacts == "" {
		t.Errorf("claim %+v", claim)
	}
	s = after(s, d)
	if failures := VerifyAdopt(s, adoptRequest("agent-a"), takeoverOf(d), at); len(failures) > 0 || s.JudgeNote().State != todo.NoteCurrent {
		t.Errorf("not verified: %v, note %s", codesOf(failures), s.JudgeNote().State)
	}
}

// Cases 22 to 24 and the order of the verification.
func TestVerifyAdopt(t *testing.T) {
	s := prepared(t, demo())
	d, err := Adopt(s, adoptRequest("agent-b"), ready, at)
	if err != nil {
		t.Fatal(err)
	}
	s = after(s, d)
	moved := func(s todo.State) todo.State { s.Revision = tip; return s }
	note := func(s todo.State, b []byte) todo.State { s.Note = b; return s }
	free, err := todo.EncodeFreeNote("Back at noon")
	if err != nil {
		t.Fatal(err)
	}
	done := func(x *todo.Todo) { x.Status, x.CompletedAt = todo.Done, at }
	for _, row := range []struct {
		name  string
		state todo.State
		want  string
	}{
		{"as written", s, "[]"},
		{"unrelated commit", moved(s), "[provider_revision_mismatch]"},
		{"done", moved(with(s, done)), "[todo_not_open continuation_facts_changed provider_revision_mismatch]"},
		{"archived", moved(with(s, func(x *todo.Todo) { x.ArchiveState = todo.Archived })), "[todo_not_open continuation_facts_changed provider_revision_mismatch]"},
		{"taken over", moved(with(s, func(x *todo.Todo) { x.ClaimedBy = "agent-c" })), "[claim_owner_mismatch provider_revision_mismatch]"},
		{"released", moved(with(s, func(x *todo.Todo) { x.ClaimedBy = "" })), "[claim_owner_mismatch provider_revision_mismatch]"},
		{"note replaced", moved(note(s, free)), "[continuation_note_replaced provider_revision_mismatch]"},
		{"note gone", moved(note(s, nil)), "[continuation_note_replaced provider_revision_mismatch]"},
		{"text changed", moved(with(s, func(x *todo.Todo) { x.Text = "Another" })), "[continuation_facts_changed provider_revision_mismatch]"},
		{"touched only", with(s, func(x *todo.Todo) { x.UpdatedAt = "2026-10-01T00:00:00Z" }), "[]"},
		{"held", moved(unconfirmed(s)), "[goal_acceptance_unbound provider_revision_mismatch]"},
		{"leased since", moved(soft(leasedTo(s, "agent-c"))), "[provider_revision_mismatch]"},
		{"all at once", moved(note(with(s, func(x *todo.Todo) { done(x); x.ClaimedBy = "agent-c" }), free)),
			"[todo_not_open claim_owner_mismatch continuation_note_replaced continuation_facts_changed provider_revision_mismatch]"},
		{"gone", moved(func() todo.State { s := s; s.Todo, s.Note = nil, nil; return s }()), "[todo_not_open provider_revision_mismatch]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := answerOf(d)
			r := adoptRequest("agent-b")
			r.Session = "source-session" // no condition of having taken over
			a.verify(row.state, r, unseen([]string{"gone"}, NotFound), at, nil)
			if fmt.Sprint(a.Failures) != row.want || a.Verified != (row.want == "[]") || a.Verified != (a.Refused == nil) {
				t.Errorf("got %v, verified %v, refused %v, want %s", a.Failures, a.Verified, a.Refused, row.want)
			}
			if a.Refused != nil {
				checkSentence(t, a.Refused.Reason)
				if a.Claim.Code != a.Refused.Code || a.Refused.Code != a.Failures[0] || a.Claim.OK {
					t.Errorf("nested %s, top %s, first %s", a.Claim.Code, a.Refused.Code, a.Failures[0])
				}
			}
		})
	}
}

// A replay of a goal whose records cannot be read any more keeps its receipt and says which record it is.
func TestVerifyAdoptUnreadable(t *testing.T) {
	a := AdoptAnswer{Claim: &NestedClaim{}}
	unreadable := &todo.Refusal{Code: todo.CodeUnsupportedSchema, Status: todo.Failed, Reason: "todo todo_a: unknown"}
	a.verify(todo.State{}, adoptRequest("agent-b"), ready, at, unreadable)
	if fmt.Sprint(a.Packet.Blockers) != "[unsupported_schema_version]" || a.Packet.CanAdopt || a.Packet.TodoID != "todo_a" {
		t.Errorf("packet %+v", a.Packet)
	}
	if a.Verified || a.Refused != unreadable || !slices.Equal(a.Failures, []todo.Code{todo.CodeUnsupportedSchema}) {
		t.Errorf("%+v", a)
	}
}

// A pinned revision that is not the tip is the engine's own error, with both revisions.
func TestAdoptNamesRevisions(t *testing.T) {
	r := adoptRequest("agent-b")
	r.Expected = laterTip
	_, err := Adopt(prepared(t, demo()), r, ready, at)
	if m, ok := err.(*gitstore.MismatchError); !ok || m.Expected != laterTip || m.Current != tip {
		t.Errorf("got %#v", err)
	}
}

// The nested claim is one object: what the answer says of it beside the members of the claim result.
func TestNestedClaimMembers(t *testing.T) {
	d, err := Adopt(prepared(t, demo()), adoptRequest("agent-b"), ready, at)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(NestedClaim{Standing{OK: true}, d.Result.(Claim)}, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(b, &members); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(slices.Sorted(maps.Keys(members)))
	if want := "[changed claimed_by handoff_mode mutation_authority note_facts ok schema_version source_agent_id stable_facts todo_id]"; got != want {
		t.Errorf("members %s, want %s", got, want)
	}
}
