package handoff

import (
	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Packet is what inspect says: what is true at one tip, for one agent in one session (continuation.md, section 7.4).
// Members from the stored note are foreign text.
type Packet struct {
	GoalID     todo.GoalID       `json:"goal_id"`
	TodoID     todo.ID           `json:"todo_id"`
	AgentID    todo.AgentID      `json:"agent_id"`
	SessionID  string            `json:"session_id"`
	Revision   gitstore.ObjectID `json:"provider_revision"`
	TodoStatus todo.WorkStatus   `json:"todo_status"`
	ClaimedBy  todo.AgentID      `json:"claimed_by,omitzero"`
	// DependencyState holds only leased work up; a lease-free takeover moves ownership all the same.
	DependencyState todo.DependencyState `json:"dependency_state"`

	NoteState    todo.NoteState `json:"note_state"`
	NoteFindings []todo.Finding `json:"note_findings"`
	// NoteCode says why an unsupported note is not understood; "" otherwise.
	NoteCode      todo.Code    `json:"note_reason_code,omitzero"`
	SourceAgent   todo.AgentID `json:"source_agent,omitzero"`
	SourceSession string       `json:"source_session,omitzero"`
	PreparedAt    todo.Instant `json:"prepared_at,omitzero"`
	// NoteText is a free-text note, which is no continuation note whatever it says.
	NoteText string `json:"note_text,omitzero"`

	DecisionRationale *string  `json:"decision_rationale"` // of a current note
	EvidenceRefs      []string `json:"evidence_refs"`

	Availability Availability `json:"availability"`
	Authority    *Authority   `json:"execution_authority,omitzero"` // only where leases play a part

	// Digest is the context of a current note; OutdatedDigest what of a stale one passes its own rules.
	Digest         *todo.Context `json:"digest,omitzero"`
	OutdatedDigest *todo.Context `json:"outdated_digest,omitzero"`

	// NextStep is the Todo's text where the work can go on, else what to repair.
	NextStep string `json:"next_step"`

	// CanAdopt is true exactly if adopt with this revision, agent, session, proof and artifacts and a fresh operation id
	// would succeed now; else Blockers has every code in the way, in the order of section 7.5.
	CanAdopt bool        `json:"can_adopt"`
	Blockers []todo.Code `json:"blockers"`
}

// Authority says whether the agent may execute the work by its claim, its lease and the proof it gave.
type Authority struct {
	Allowed bool      `json:"allowed"`
	Code    todo.Code `json:"reason_code"` // terminal_fence_verified where allowed
}

// fenceVerified is the reason code of an execution authority that is allowed; no refusal has it.
const fenceVerified = "terminal_fence_verified"

// ready reports whether the work can go on: then the next step is the Todo's text.
func (p Packet) ready() bool {
	return p.NoteState == todo.NoteCurrent && p.Availability.Ready && (p.Authority == nil || p.Authority.Allowed)
}
