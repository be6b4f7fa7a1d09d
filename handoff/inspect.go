package handoff

import "github.com/git-loopx/git-loopx/todo"

// CheckInspect refuses a malformed request, before anything is read.
func CheckInspect(r InspectRequest) error {
	c := todo.Call{Goal: r.Goal, Todo: r.Todo, Agent: r.Agent, Session: r.Session, Proof: r.Proof}
	if err := checkWho(c); err != nil {
		return err
	}
	return checkArtifacts(r.Artifacts)
}

// Inspect says what a receiver would find (continuation.md, section 7.4), from one state and one look at the workspace,
// at the instant that the state's lease was judged at. It refuses only a Todo that is not there, not open or not an
// agent's; everything else that is in the way of adopt is a blocker, found by the very decision that adopt makes.
func Inspect(s todo.State, r InspectRequest, v Availability, at todo.Instant) (Packet, error) {
	if err := inspectable(s, r.Todo); err != nil {
		return Packet{}, err
	}
	return packetOf(s, r, v, at), nil
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
func packetOf(s todo.State, r InspectRequest, v Availability, at todo.Instant) Packet {
	j := s.JudgeNote()
	p := Packet{
		GoalID: r.Goal, TodoID: r.Todo, AgentID: r.Agent, SessionID: r.Session, Revision: s.Revision,
		TodoStatus: s.Todo.Status, ClaimedBy: s.Todo.ClaimedBy, DependencyState: s.Dependencies(at),
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
	if leased(s, r.Agent, r.Proof) {
		p.Authority = authorityOf(s, r.Agent, r.Proof, at)
	}
	if blockers := assess(s, r.adoption(s), v, at).blockers; len(blockers) > 0 {
		p.Blockers = codesOf(blockers)
	}
	p.CanAdopt = len(p.Blockers) == 0
	if p.NextStep = s.Todo.Text; !p.ready() {
		p.NextStep = repair(s, p)
	}
	return p
}

// adoption is the adopt that inspect speaks of: by the same agent in the same session, at the revision it sees.
func (r InspectRequest) adoption(s todo.State) AdoptRequest {
	return AdoptRequest{
		Call:   todo.Call{Goal: r.Goal, Todo: r.Todo, Agent: r.Agent, Session: r.Session, Expected: s.Revision, Proof: r.Proof},
		Target: r.Agent, Artifacts: r.Artifacts,
	}
}

// inspection is the inspect that the answer of adopt carries.
func (r AdoptRequest) inspection() InspectRequest {
	return InspectRequest{
		Goal: r.Goal, Todo: r.Todo, Agent: r.Agent, Session: r.Session,
		Workspace: r.Workspace, Artifacts: r.Artifacts, Proof: r.Proof,
	}
}
