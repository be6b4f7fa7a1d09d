package handoff

import (
	"fmt"

	"github.com/git-loopx/git-loopx/todo"
)

// CheckInspect refuses a malformed request, before anything is read.
func CheckInspect(r InspectRequest) error {
	c := todo.Call{Goal: r.Goal, Todo: r.Todo, Agent: r.Agent, Session: r.Session}
	if err := checkWho(c, r.Proof); err != nil {
		return err
	}
	return checkArtifacts(r.Artifacts)
}

// Inspect says what a receiver would find (continuation.md, section 7.4), from one state and one look at the workspace.
// It refuses only a Todo that is not there, not open or not an agent's; everything else that is in the way of adopt is a
// blocker, found by the very decision that adopt makes.
func Inspect(s todo.State, r InspectRequest, v Availability) (Packet, error) {
	if err := inspectable(s, r.Todo); err != nil {
		return Packet{}, err
	}
	return packetOf(s, r, v), nil
}

// inspectable refuses a Todo that is not there, not open or not an agent's.
func inspectable(s todo.State, id todo.ID) error {
	t, err := s.Found(id)
	if err != nil {
		return err
	}
	return asError(openAgentTodo(t))
}

// packetOf makes the packet of any state that has the Todo, open or not.
func packetOf(s todo.State, r InspectRequest, v Availability) Packet {
	j := s.JudgeNote()
	p := Packet{
		GoalID: r.Goal, TodoID: r.Todo, AgentID: r.Agent, SessionID: r.Session, Revision: s.Revision,
		TodoStatus: s.Todo.Status, ClaimedBy: s.Todo.ClaimedBy, DependencyState: dependencyState(*s.Todo),
		NoteState: j.State, NoteFindings: append([]todo.Finding{}, j.Findings...), NoteText: j.Text,
		EvidenceRefs: []string{"todo:" + string(r.Todo), "revision:" + string(s.Revision)},
		Availability: v,
		Blockers:     []todo.Code{},
	}
	if j.Refusal != nil {
		p.NoteCode = j.Refusal.Code
	}
	if n := j.Note; n != nil {
		p.SourceAgent, p.SourceSession, p.PreparedAt = n.SourceAgent, n.SourceSession, n.PreparedAt
		if j.State == todo.NoteCurrent {
			p.Digest = &n.Context
			p.EvidenceRefs = append(p.EvidenceRefs, n.SourceRefs...)
			if n.Rationale != "" {
				p.DecisionRationale = &n.Rationale
			}
		} else {
			p.OutdatedDigest = &n.Context
		}
	}
	if leased(s, r.Proof) {
		p.Authority = &Authority{Code: todo.CodeModeRequiresLease}
	}
	if blockers := assess(s, r.adoption(s), v, "").blockers; len(blockers) > 0 {
		p.Blockers = codesOf(blockers)
	}
	p.CanAdopt = len(p.Blockers) == 0
	if p.NextStep = s.Todo.Text; !p.ready() {
		p.NextStep = repair(p)
	}
	return p
}

// adoption is the adopt that inspect speaks of: by the same agent in the same session, at the revision it sees.
func (r InspectRequest) adoption(s todo.State) AdoptRequest {
	return AdoptRequest{
		Call:   todo.Call{Goal: r.Goal, Todo: r.Todo, Agent: r.Agent, Session: r.Session, Expected: s.Revision},
		Target: r.Agent, Artifacts: r.Artifacts, Proof: r.Proof,
	}
}

// inspection is the inspect that the answer of adopt carries.
func (r AdoptRequest) inspection() InspectRequest {
	return InspectRequest{
		Goal: r.Goal, Todo: r.Todo, Agent: r.Agent, Session: r.Session,
		Workspace: r.Workspace, Artifacts: r.Artifacts, Proof: r.Proof,
	}
}

// dependencyState tells whether the Todo waits for something. A plain takeover is not held by it.
func dependencyState(t todo.Todo) string {
	if len(t.DependsOn) > 0 || t.ResumeAt != "" {
		return "pending"
	}
	return "ready"
}

// repair says what to mend first before the work can go on.
func repair(p Packet) string {
	switch {
	case p.NoteState == todo.NoteUnsupported:
		return fmt.Sprintf("The note cannot be read here (%s): use a version of git loopx that knows it.", p.NoteCode)
	case p.NoteState == todo.NoteMissing && p.ClaimedBy == "":
		return "Nobody owns this Todo and it has no continuation note: take it with git loopx todo claim."
	case p.NoteState == todo.NoteMissing:
		return "There is no continuation note: " + string(p.ClaimedBy) + " leaves one with git loopx handoff prepare."
	case p.NoteState == todo.NoteStale && p.ClaimedBy == "":
		return "Nobody owns this Todo and its note is outdated: take it with git loopx todo claim."
	case p.NoteState == todo.NoteStale:
		return "The note is outdated: " + string(p.ClaimedBy) + " prepares it again with git loopx handoff prepare."
	case !p.Availability.WorkspaceAvailable:
		return "The workspace is missing: name an existing directory with --workspace."
	case !p.Availability.Ready:
		return "An artifact is not available: provide it in the workspace, then inspect again."
	}
	return "There is no effective lease: work goes on without a lease proof, in a goal that is soft_claim."
}
