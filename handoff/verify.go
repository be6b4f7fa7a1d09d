package handoff

import (
	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Takeover is what a receipt of adopt says was taken over, and how.
type Takeover struct {
	TakenOver
	Leased     bool              // told by which of the two results the receipt has
	Introduced gitstore.ObjectID // the commit that introduced the receipt
}

// VerifyAdopt judges a takeover by the tip that was read back, on replay too (continuation.md, section 7.5): everything
// that has changed since the receipt, in order; none: the authority is current. Leased work needs the execution
// authority too, by the proof of the request.
//
// It asks neither for a current note nor for session, workspace or artifacts: those were conditions of taking over, not
// of having taken over.
func VerifyAdopt(s todo.State, r AdoptRequest, was Takeover, at todo.Instant) []*todo.Refusal {
	var failures []*todo.Refusal
	fail := func(refusals ...*todo.Refusal) { failures = append(failures, refusals...) }
	if t := s.Todo; t == nil {
		fail(todo.Reject(todo.CodeTodoNotOpen, "todo %s: is gone", r.Todo))
	} else {
		if refusal := notOpen(*t); refusal != nil {
			fail(refusal)
		}
		if t.ClaimedBy == "" {
			fail(todo.Reject(todo.CodeClaimOwnerMismatch, "todo %s: claimed by nobody", t.ID))
		} else if t.ClaimedBy != r.target() {
			fail(todo.Reject(todo.CodeClaimOwnerMismatch, "todo %s: claimed by %q", t.ID, t.ClaimedBy))
		}
		if s.Note == nil || todo.NoteFacts(s.Note) != was.NoteFacts {
			fail(noteReplaced(t.ID))
		}
		if todo.StableFacts(*t) != was.StableFacts {
			fail(todo.Reject(CodeFactsChanged, "todo %s: has changed since it was taken over", t.ID))
		}
		if was.Leased {
			fail(authority(s, r.Agent, r.Proof, at)...)
		} else if refusal := todo.AsRefusal(s.CheckAcceptance()); refusal != nil {
			fail(refusal)
		}
	}
	if s.Revision != was.Introduced {
		moved := todo.Reject(CodeRevisionMismatch, "revision moved: taken over at %s, current is %s", was.Introduced, s.Revision)
		moved.Detail = map[string]any{"current_provider_revision": s.Revision}
		fail(moved)
	}
	return failures
}

// takeover is that of the receipt in the answer.
func (a *AdoptAnswer) takeover() Takeover {
	if a.Adoption != nil {
		return Takeover{TakenOver: a.Adoption.TakenOver, Leased: true, Introduced: a.Receipt.Revision}
	}
	return Takeover{TakenOver: a.Claim.TakenOver, Introduced: a.Receipt.Revision}
}

// verify judges the answer by the state that was read back, or by the refusal of its records.
func (a *AdoptAnswer) verify(s todo.State, r AdoptRequest, v Availability, at todo.Instant, unreadable *todo.Refusal) {
	failures := []*todo.Refusal{unreadable}
	if unreadable == nil {
		failures = VerifyAdopt(s, r, a.takeover(), at)
	}
	if s.Todo != nil {
		a.Packet = packetOf(s, r.inspection(), v, at)
	} else {
		a.Packet = Packet{
			GoalID: r.Goal, TodoID: r.Todo, AgentID: r.Agent, SessionID: r.Session, Revision: a.Revision, Availability: v,
			NoteFindings: []todo.Finding{}, EvidenceRefs: []string{}, Blockers: codesOf(failures[:1]),
		}
	}
	a.Failures = append([]todo.Code{}, codesOf(failures)...)
	a.Verified = len(failures) == 0
	said := Standing{OK: a.Verified}
	if !a.Verified {
		a.Refused = failures[0]
		said.Code = failures[0].Code
	}
	if a.Adoption != nil {
		a.Adoption.Standing = said
	} else {
		a.Claim.Standing = said
	}
}
