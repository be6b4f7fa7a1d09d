package handoff

import (
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// AdoptionSchema is the schema_version of the result of a leased adopt.
const AdoptionSchema = "loopx_continuation_adoption_result_v0"

// TakenOver is what an adopt took over.
type TakenOver struct {
	NoteFacts     string       `json:"note_facts"`      // digest of the note, which adopt does not touch
	StableFacts   string       `json:"stable_facts"`    // of the Todo, the same before and after a change of owner
	SourceAgentID todo.AgentID `json:"source_agent_id"` // the author of the note
}

// Claim is the nested result of a lease-free adopt, as kept in the receipt: that of the claim decision, and what was
// taken over.
type Claim struct {
	todo.ClaimResult
	TakenOver
}

// Adoption is the nested result of a leased adopt, as kept in the receipt: nothing moved.
type Adoption struct {
	Schema  string       `json:"schema_version"` // AdoptionSchema
	Changed bool         `json:"changed"`        // false
	Adopted bool         `json:"adopted"`        // true
	TodoID  todo.ID      `json:"todo_id"`
	AgentID todo.AgentID `json:"agent_id"`
	TakenOver
}

// CheckAdopt refuses a malformed request before anything is read (invalid_continuation_request).
func CheckAdopt(r AdoptRequest) error {
	if err := checkCall(r.Call); err != nil {
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
	args := map[string]any{"target_agent_id": r.target()}
	if r.Proof.Given() {
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
		name := "claim"
		if leased(todo.State{Goal: g}, r.Agent, r.Proof) {
			name = "adoption"
		}
		return nested(name, todo.Reject(CodeTargetNotRegistered, "agent %q is not registered with goal %s", cutText(string(r.target()), 80), g.ID))
	}
	return nil
}

// Adopt decides handoff adopt (continuation.md, section 7.5) from one state and one look at the workspace: the first
// refusal in its order, or what to write. Without leases that is the new owner; the note is not touched, so it is stale
// after a change of owner, and a Todo that is the target's already is no change. Where leases play a part ([leased]) claim
// and lease were transferred before, and adopt leaves its receipt and nothing else. A pinned revision that is not the tip
// is a [*gitstore.MismatchError], after all else.
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
		refusal := todo.Reject(CodeNotReady, "%s", first.Reason)
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
	byLease := leased(s, r.Agent, r.Proof)
	if byLease {
		for _, refusal := range executable(s, r, at) {
			block(nested("adoption", refusal))
		}
	}
	for _, refusal := range readiness(t.ID, note, r.Session, v) {
		block(refusal)
	}
	var decision todo.Decision
	if byLease {
		if refusal := todo.AsRefusal(todo.Admit(t, r.Agent)); refusal != nil {
			block(nested("adoption", refusal))
		}
	} else {
		var refusals []*todo.Refusal
		decision, refusals = claim(s, r, note, at)
		for _, refusal := range refusals {
			if !slices.Contains(codesOf(a.blockers), refusal.Code) {
				block(nested("claim", refusal))
			}
		}
	}
	if r.Expected != s.Revision {
		block(todo.Reject(CodeRevisionMismatch, "revision moved: expected %s, current is %s", r.Expected, s.Revision))
	}
	if len(a.blockers) > 0 {
		return a
	}
	took := TakenOver{NoteFacts: note.Facts, StableFacts: todo.StableFacts(t), SourceAgentID: note.Note.SourceAgent}
	if byLease {
		decision.Result = Adoption{Schema: AdoptionSchema, Adopted: true, TodoID: t.ID, AgentID: r.Agent, TakenOver: took}
	} else {
		decision.Result = Claim{decision.Result.(todo.ClaimResult), took}
	}
	decision.Subject = "handoff adopt " + string(t.ID)
	a.decision = decision
	return a
}

// claim is step 5 without leases: the claim decision, by a grant where the Todo is another's. Its refusal may hide that
// the goal holds the Todo, which is then said too.
func claim(s todo.State, r AdoptRequest, note todo.Judgement, at todo.Instant) (todo.Decision, []*todo.Refusal) {
	t := *s.Todo
	request := todo.ClaimRequest{
		Command: "handoff adopt", Todo: t.ID, Actor: r.Agent, Claimant: r.target(), Expected: r.Expected, At: at,
	}
	if t.ClaimedBy != r.target() && note.State == todo.NoteCurrent {
		request.Grant = &todo.Grant{
			Schema: todo.GrantSchema, Source: note.Note.SourceAgent, Target: r.target(), Todo: t.ID,
			ExpectedRevision: r.Expected, NoteFacts: note.Facts,
		}
	}
	decision, err := todo.DecideClaim(s, request)
	if err == nil {
		return decision, nil
	}
	var refusals []*todo.Refusal
	// That another's Todo needs a grant, and a grant a current note, the blocker of the note says already.
	if refusal := todo.AsRefusal(err); refusal.Code != todo.CodeClaimOwnerMismatch || note.State == todo.NoteCurrent {
		refusals = append(refusals, refusal)
	}
	if held := todo.AsRefusal(s.CheckAcceptance()); held != nil {
		refusals = append(refusals, held)
	}
	return todo.Decision{}, refusals
}

// readiness are the conditions of taking over, in their order. A replay asks for none of them.
func readiness(id todo.ID, note todo.Judgement, session string, v Availability) []*todo.Refusal {
	var all []*todo.Refusal
	add := func(code todo.Code, reason string) { all = append(all, todo.Reject(code, "todo %s: %s", id, reason)) }
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

// nested adds to a refusal the answer of the nested result of that name, with the same reason code.
func nested(name string, r *todo.Refusal) *todo.Refusal {
	answer := map[string]any{
		"ok": false, "status": r.Status, "failure_kind": "decision_rejection", "reason_code": r.Code, "reason": r.Reason,
	}
	if r.Status == todo.Failed {
		answer["failure_kind"] = "protocol_failure"
	}
	maps.Copy(answer, r.Detail)
	c := *r
	c.Detail = map[string]any{name: answer}
	maps.Copy(c.Detail, r.Detail)
	return &c
}
