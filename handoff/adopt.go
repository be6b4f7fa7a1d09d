package handoff

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Claim is the nested result of adopt, as kept in the receipt: that of the claim decision, and what was taken over.
type Claim struct {
	todo.ClaimResult
	NoteFacts     string       `json:"note_facts"`      // digest of the note, which adopt does not touch
	StableFacts   string       `json:"stable_facts"`    // of the Todo, the same before and after a change of owner
	SourceAgentID todo.AgentID `json:"source_agent_id"` // the author of the note
}

// CheckAdopt refuses a malformed request before anything is read (invalid_continuation_request).
func CheckAdopt(r AdoptRequest) error {
	if err := checkCall(r.Call, r.Proof); err != nil {
		return err
	}
	if !utf8.ValidString(string(r.Target)) {
		return invalid(argument("target_agent_id", string(r.Target)))
	}
	return checkArtifacts(r.Artifacts)
}

// args are the members of request_sha256 besides those of every call. The session is among them only beside a lease
// proof: without leases the same takeover may be asked for again from another session.
func (r AdoptRequest) args() map[string]any {
	args := r.Proof.args(map[string]any{"target_agent_id": r.target()})
	if r.Proof.given() {
		args["session_id"] = r.Session
	}
	return args
}

// target is the agent that shall own the Todo.
func (r AdoptRequest) target() todo.AgentID {
	if r.Target == "" {
		return r.Agent
	}
	return r.Target
}

// AdmitAdopt is step 3 of continuation.md, section 3: both agents are registered with the goal.
func AdmitAdopt(g todo.Goal, r AdoptRequest) error {
	if err := todo.CheckActor(g, r.Agent); err != nil {
		return err
	}
	if !g.Registered(r.target()) {
		return nested(refuse(CodeTargetNotRegistered, "agent %q is not registered with goal %s", cutText(string(r.target()), 80), g.ID))
	}
	return nil
}

// Adopt decides a lease-free handoff adopt (continuation.md, section 7.5) from one state and one look at the workspace:
// the first refusal in its order, or the new owner. The note is not touched, so it is stale after a change of owner. A
// Todo that is the target's already is no change. A pinned revision that is not the tip is a
// [*gitstore.MismatchError], after all else.
//
// The request is well formed ([CheckAdopt]) and its agents are registered ([AdmitAdopt]).
func Adopt(s todo.State, r AdoptRequest, v Availability, at todo.Instant) (todo.Decision, error) {
	a := assess(s, r, v, at)
	if len(a.blockers) == 0 {
		return a.decision, nil
	}
	switch first := a.blockers[0]; {
	case first.Code == CodeRevisionMismatch:
		return todo.Decision{}, &gitstore.MismatchError{Expected: r.Expected, Current: s.Revision}
	case isReadiness(first.Code):
		refusal := refuse(CodeNotReady, "%s", first.Reason)
		refusal.Detail = map[string]any{"blockers": wordsOf(codesOf(a.blockers))}
		return todo.Decision{}, refusal
	default:
		return todo.Decision{}, first
	}
}

// assessment is what the decision of adopt found: everything in the way, in the order of section 7.5, or what to write.
type assessment struct {
	blockers []*todo.Refusal
	decision todo.Decision
}

// assess is the one decision of adopt; inspect asks it too. It goes on after a blocker as far as it can.
func assess(s todo.State, r AdoptRequest, v Availability, at todo.Instant) (a assessment) {
	block := func(refusal *todo.Refusal) { a.blockers = append(a.blockers, refusal) }
	t, err := s.Found(r.Todo)
	if err != nil {
		block(todo.AsRefusal(err))
		return a
	}
	note := s.JudgeNote()
	if note.Refusal != nil {
		block(note.Refusal)
	}
	if refusal := openAgentTodo(t); refusal != nil {
		block(refusal)
	}
	if leased(s, r.Proof) {
		block(leaseRequired(s, t.ID))
	}
	for _, refusal := range readiness(t.ID, note, r.Session, v) {
		block(refusal)
	}
	claim := todo.ClaimRequest{
		Command: "handoff adopt", Todo: t.ID, Actor: r.Agent, Claimant: r.target(), Expected: r.Expected, At: at,
	}
	if t.ClaimedBy != r.target() && note.State == todo.NoteCurrent {
		claim.Grant = &todo.Grant{
			Schema: todo.GrantSchema, Source: note.Note.SourceAgent, Target: r.target(), Todo: t.ID,
			ExpectedRevision: r.Expected, NoteFacts: note.Facts,
		}
	}
	decision, err := todo.DecideClaim(s, claim)
	if err != nil { // always a refusal
		refusal := todo.AsRefusal(err)
		// That another's Todo needs a grant, and a grant a current note, the blocker of the note says already.
		said := refusal.Code == todo.CodeClaimOwnerMismatch && note.State != todo.NoteCurrent
		if !said && !slices.Contains(codesOf(a.blockers), refusal.Code) {
			block(nested(refusal))
		}
	}
	if r.Expected != s.Revision {
		block(refuse(CodeRevisionMismatch, "revision moved: expected %s, current is %s", r.Expected, s.Revision))
	}
	if len(a.blockers) > 0 {
		return a
	}
	decision.Subject = "handoff adopt " + string(t.ID)
	decision.Result = Claim{
		ClaimResult: decision.Result.(todo.ClaimResult),
		NoteFacts:   note.Facts, StableFacts: todo.StableFacts(t), SourceAgentID: note.Note.SourceAgent,
	}
	a.decision = decision
	return a
}

// readiness are the conditions of taking over, in their order. A replay asks for none of them.
func readiness(id todo.ID, note todo.Judgement, session string, v Availability) []*todo.Refusal {
	var all []*todo.Refusal
	add := func(code todo.Code, reason string) { all = append(all, refuse(code, "todo %s: %s", id, reason)) }
	switch note.State {
	case todo.NoteMissing:
		add(NoteMissing, "there is no continuation note")
	case todo.NoteStale:
		add(NoteStale, "the note does not fit the todo any more")
	}
	if note.Note != nil && note.Note.SourceSession == session {
		add(SameSession, "the note was left by this very session")
	}
	if !v.WorkspaceAvailable {
		add(WorkspaceUnavailable, "the workspace is not there")
	}
	for _, artifact := range v.Artifacts {
		if !artifact.Available {
			add(ArtifactUnavailable, "an artifact is not available")
			break
		}
	}
	return all
}

func isReadiness(c todo.Code) bool {
	switch c {
	case NoteMissing, NoteStale, SameSession, WorkspaceUnavailable, ArtifactUnavailable:
		return true
	}
	return false
}

func codesOf(refusals []*todo.Refusal) []todo.Code {
	var all []todo.Code
	for _, r := range refusals {
		all = append(all, r.Code)
	}
	return all
}

func wordsOf(codes []todo.Code) []string {
	words := make([]string, len(codes))
	for i, c := range codes {
		words[i] = string(c)
	}
	return words
}

// nested adds to a refusal of the claim its own answer as the member claim, with the same reason code.
func nested(r *todo.Refusal) *todo.Refusal {
	claim := map[string]any{
		"ok": false, "status": r.Status, "failure_kind": "decision_rejection", "reason_code": r.Code, "reason": r.Reason,
	}
	if r.Status == todo.Failed {
		claim["failure_kind"] = "protocol_failure"
	}
	maps.Copy(claim, r.Detail)
	c := *r
	c.Detail = map[string]any{"claim": claim}
	maps.Copy(c.Detail, r.Detail)
	return &c
}

// VerifyAdopt judges a takeover by the tip that was read back, on replay too: everything that has changed since the
// receipt, in order; none: the authority is current. introduced is the commit that introduced the receipt.
//
// It asks neither for a current note nor for session, workspace or artifacts: those were conditions of taking over, not
// of having taken over.
func VerifyAdopt(s todo.State, r AdoptRequest, receipt Claim, introduced gitstore.ObjectID) []*todo.Refusal {
	var failures []*todo.Refusal
	fail := func(code todo.Code, format string, args ...any) {
		failures = append(failures, refuse(code, format, args...))
	}
	if t := s.Todo; t == nil {
		fail(todo.CodeTodoNotOpen, "todo %s: is gone", r.Todo)
	} else {
		if refusal := notOpen(*t); refusal != nil {
			failures = append(failures, refusal)
		}
		if t.ClaimedBy == "" {
			fail(todo.CodeClaimOwnerMismatch, "todo %s: claimed by nobody", t.ID)
		} else if t.ClaimedBy != r.target() {
			fail(todo.CodeClaimOwnerMismatch, "todo %s: claimed by %q", t.ID, t.ClaimedBy)
		}
		if s.Note == nil || todo.NoteFacts(s.Note) != receipt.NoteFacts {
			failures = append(failures, noteReplaced(t.ID))
		}
		if todo.StableFacts(*t) != receipt.StableFacts {
			fail(CodeFactsChanged, "todo %s: has changed since it was taken over", t.ID)
		}
	}
	if s.Revision != introduced {
		fail(CodeRevisionMismatch, "revision moved: taken over at %s, current is %s", introduced, s.Revision)
		failures[len(failures)-1].Detail = map[string]any{"current_provider_revision": s.Revision}
	}
	return failures
}

// verify judges the answer by the state that was read back, or by the refusal of its records.
func (a *AdoptAnswer) verify(s todo.State, r AdoptRequest, v Availability, introduced gitstore.ObjectID, unreadable *todo.Refusal) {
	failures := []*todo.Refusal{unreadable}
	if unreadable == nil {
		failures = VerifyAdopt(s, r, a.Claim.Claim, introduced)
	}
	if s.Todo != nil {
		a.Packet = packetOf(s, r.inspection(), v)
	} else {
		a.Packet = Packet{
			GoalID: r.Goal, TodoID: r.Todo, AgentID: r.Agent, SessionID: r.Session, Revision: a.Revision, Availability: v,
			NoteFindings: []todo.Finding{}, EvidenceRefs: []string{}, Blockers: codesOf(failures[:1]),
		}
	}
	a.Failures = append([]todo.Code{}, codesOf(failures)...)
	a.Verified = len(failures) == 0
	a.Claim.OK = a.Verified
	if !a.Verified {
		a.Refused = failures[0]
		a.Claim.Code = failures[0].Code
	}
}
