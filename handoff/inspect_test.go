package handoff

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

// Case 13 and 41: inspect refuses only a Todo that is not there, not open or not an agent's.
func TestInspectRefuses(t *testing.T) {
	for _, row := range []struct {
		name   string
		change func(*todo.Todo)
		want   todo.Code
	}{
		{"open", func(x *todo.Todo) {}, ""},
		{"done", func(x *todo.Todo) { x.Status = todo.Done }, todo.CodeTodoNotOpen},
		{"blocked", func(x *todo.Todo) { x.Status = todo.Blocked }, todo.CodeTodoNotOpen},
		{"deferred", func(x *todo.Todo) { x.Status = todo.Deferred }, todo.CodeTodoNotOpen},
		{"archived", func(x *todo.Todo) { x.ArchiveState = todo.Archived }, todo.CodeTodoNotOpen},
		{"a person's", func(x *todo.Todo) { x.Role = todo.RoleUser }, todo.CodeTodoNotAgent},
		{"excluded", func(x *todo.Todo) { x.ExcludedAgents = []todo.AgentID{"agent-b"} }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := Inspect(with(demo(), row.change), inspectRequest("agent-b"), ready, at)
			wantCode(t, err, row.want)
		})
	}
	s := demo()
	s.Todo = nil
	_, err := Inspect(s, inspectRequest("agent-b"), ready, at)
	wantCode(t, err, todo.CodeTodoNotFound)
}

// Cases 1, 3, 20, 26, 32, 33, 40, 41 and 46: what stands in the packet and what is in the way.
func TestInspect(t *testing.T) {
	note := func(s todo.State, b string) todo.State {
		s.Note = []byte(b + "\n")
		return s
	}
	current := prepared(t, demo())
	stale := with(current, func(x *todo.Todo) { x.Text = "Bound the retry loop by count" })
	noWorkspace := unseen([]string{"decision.md"}, NotFound)
	oneMissing := Availability{WorkspaceAvailable: true, Artifacts: []Artifact{{"a", true, ""}, {"b", false, NotFound}}}
	session := func(s string) func(*InspectRequest) { return func(r *InspectRequest) { r.Session = s } }
	proof := func(r *InspectRequest) { r.Proof = todo.ProofOf("k", 3) }
	without := func(s todo.State, agent todo.AgentID) todo.State {
		s.Goal.Agents = slices.DeleteFunc(slices.Clone(s.Goal.Agents), func(a todo.Agent) bool { return a.ID == agent })
		return s
	}
	for _, row := range []struct {
		name     string
		state    todo.State
		agent    todo.AgentID
		change   func(*InspectRequest)
		v        Availability
		note     todo.NoteState
		blockers string
	}{
		{"no note, its owner", demo(), "agent-a", nil, ready, todo.NoteMissing, "[note_missing]"},
		{"no note, another", demo(), "agent-b", nil, ready, todo.NoteMissing, "[note_missing]"},
		{"no note, nobody's", with(demo(), func(x *todo.Todo) { x.ClaimedBy = "" }), "agent-b", nil, ready, todo.NoteMissing, "[note_missing]"},
		{"free text that is a note in JSON", note(demo(), `{"schema":"loopx.note/1","text":"{\"kind\":\"loopx-explicit-continuation\"}"}`), "agent-a", nil, ready, todo.NoteMissing, "[note_missing]"},
		{"prepared", current, "agent-b", nil, ready, todo.NoteCurrent, "[]"},
		{"prepared, its owner elsewhere", current, "agent-a", nil, ready, todo.NoteCurrent, "[]"},
		{"prepared, its very session", current, "agent-a", session("source-session"), ready, todo.NoteCurrent, "[continuation_same_session]"},
		{"prepared, another from its session", current, "agent-b", session("source-session"), ready, todo.NoteCurrent, "[continuation_same_session]"},
		{"text changed", stale, "agent-b", nil, ready, todo.NoteStale, "[note_stale]"},
		{"text changed, its owner's session", stale, "agent-a", session("source-session"), ready, todo.NoteStale, "[note_stale continuation_same_session]"},
		{"priority changed", with(current, func(x *todo.Todo) { x.Priority = "P1" }), "agent-a", nil, ready, todo.NoteStale, "[note_stale]"},
		{"changed back", with(stale, func(x *todo.Todo) { x.Text = demo().Todo.Text }), "agent-b", nil, ready, todo.NoteCurrent, "[]"},
		{"workspace missing", current, "agent-b", nil, unseen(nil, NotFound), todo.NoteCurrent, "[workspace_unavailable]"},
		{"workspace missing with an artifact", current, "agent-b", nil, noWorkspace, todo.NoteCurrent, "[workspace_unavailable artifact_unavailable]"},
		{"artifact missing", current, "agent-b", nil, oneMissing, todo.NoteCurrent, "[artifact_unavailable]"},
		{"excluded before", prepared(t, with(demo(), func(x *todo.Todo) { x.ExcludedAgents = []todo.AgentID{"agent-b"} })), "agent-b", nil, ready, todo.NoteCurrent, "[actor_excluded]"},
		{"bound before", prepared(t, with(demo(), func(x *todo.Todo) { x.BoundAgent = "agent-a" })), "agent-b", nil, ready, todo.NoteCurrent, "[bound_agent_mismatch]"},
		{"its owner is not registered", without(current, "agent-a"), "agent-b", nil, ready, todo.NoteCurrent, "[claim_owner_mismatch]"},
		{"note of another version", note(demo(), `{"schema":"loopx.note/2","text":"x"}`), "agent-a", nil, ready, todo.NoteUnsupported, "[unsupported_schema_version]"},
		{"note of another kind", note(demo(), `{"kind":"x","schema":"loopx.note/1"}`), "agent-a", nil, ready, todo.NoteUnsupported, "[invalid_coordination_projection]"},
		{"lease proof", current, "agent-b", proof, ready, todo.NoteCurrent, "[continuation_transfer_required handoff_mode_requires_lease]"},
		{"hard_lease", func() todo.State { s := current; s.Goal.HandoffMode = todo.HardLease; return s }(), "agent-b", nil, ready, todo.NoteCurrent, "[continuation_transfer_required handoff_mode_requires_lease]"},
		{"everything", with(stale, func(x *todo.Todo) { x.ExcludedAgents = []todo.AgentID{"agent-b"} }), "agent-b",
			func(r *InspectRequest) { proof(r); r.Session = "source-session" }, noWorkspace, todo.NoteStale,
			"[continuation_transfer_required handoff_mode_requires_lease note_stale continuation_same_session workspace_unavailable artifact_unavailable actor_excluded]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := inspectRequest(row.agent)
			if row.change != nil {
				row.change(&r)
			}
			p, err := Inspect(row.state, r, row.v, at)
			if err != nil {
				t.Fatal(err)
			}
			if p.NoteState != row.note || fmt.Sprint(p.Blockers) != row.blockers || p.CanAdopt != (row.blockers == "[]") {
				t.Errorf("got %s %v %v, want %s %s", p.NoteState, p.CanAdopt, p.Blockers, row.note, row.blockers)
			}
			if (p.Digest != nil) != (row.note == todo.NoteCurrent) || (p.OutdatedDigest != nil) != (row.note == todo.NoteStale) {
				t.Errorf("digest %v, outdated %v beside a note that is %s", p.Digest, p.OutdatedDigest, row.note)
			}
			if (p.DecisionRationale != nil) != (row.note == todo.NoteCurrent) {
				t.Errorf("rationale %v", p.DecisionRationale)
			}
			if p.Revision != row.state.Revision || p.ClaimedBy != row.state.Todo.ClaimedBy || p.TodoStatus != todo.Open || p.DependencyState != "ready" {
				t.Errorf("packet %+v", p)
			}
			denied := r.Proof.Given() || row.state.Goal.HandoffMode == todo.HardLease
			if (p.Authority != nil) != denied || denied && (p.Authority.Allowed || p.Authority.Code != todo.CodeModeRequiresLease) {
				t.Errorf("execution authority %+v", p.Authority)
			}
			workable := row.note == todo.NoteCurrent && row.v.Ready && !denied
			if (p.NextStep == row.state.Todo.Text) != workable || p.NextStep == "" {
				t.Errorf("next step %q", p.NextStep)
			}
			if p.Blockers == nil || p.EvidenceRefs == nil || p.NoteFindings == nil {
				t.Error("a list is null")
			}
		})
	}
}

// Case 3: what a current note says stands in the packet.
func TestInspectShowsNote(t *testing.T) {
	p, err := Inspect(prepared(t, demo()), inspectRequest("agent-b"), ready, at)
	if err != nil {
		t.Fatal(err)
	}
	if p.SourceAgent != "agent-a" || p.SourceSession != "source-session" || p.PreparedAt != at {
		t.Errorf("author %s, %s, %s", p.SourceAgent, p.SourceSession, p.PreparedAt)
	}
	if p.DecisionRationale == nil || *p.DecisionRationale != "A count would starve slow disks" {
		t.Errorf("rationale %v", p.DecisionRationale)
	}
	if got, want := fmt.Sprint(p.EvidenceRefs), "[todo:todo_a revision:"+string(tip)+" artifact:decision.md]"; got != want {
		t.Errorf("evidence %s, want %s", got, want)
	}
}

// What of a stale note passes its own rules is shown, as outdated; what does not is a finding.
func TestInspectShowsOutdatedNote(t *testing.T) {
	s := prepared(t, demo())
	s.Note = bytes.Replace(s.Note, []byte(`"source_refs":["artifact:decision.md"]`), []byte(`"source_refs":[" "]`), 1)
	p, err := Inspect(s, inspectRequest("agent-b"), ready, at)
	if err != nil {
		t.Fatal(err)
	}
	if p.NoteState != todo.NoteStale || p.OutdatedDigest == nil || p.OutdatedDigest.Rationale == "" || p.OutdatedDigest.SourceRefs != nil {
		t.Errorf("%s, %+v", p.NoteState, p.OutdatedDigest)
	}
	if p.DecisionRationale != nil || len(p.EvidenceRefs) != 2 {
		t.Errorf("an outdated note is shown as current: %v %v", p.DecisionRationale, p.EvidenceRefs)
	}
	if len(p.NoteFindings) != 1 || p.NoteFindings[0].Field != "source_refs[0]" || p.NoteFindings[0].Code != todo.FindingBlank {
		t.Errorf("findings %+v", p.NoteFindings)
	}
}
