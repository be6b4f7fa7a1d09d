package handoff

import "github.com/git-loopx/git-loopx/todo"

// Proof is a lease proof as given: --task-lease-idempotency-key and --task-lease-expected-version. The zero value is
// none; one nil member is half a pair, which is an argument error naming lease_proof.
type Proof struct {
	IdempotencyKey  *string
	ExpectedVersion *int64 // 0 to 2^53-1
}

// PrepareRequest are the arguments of handoff prepare. Of Call all members but DryRun are needed.
type PrepareRequest struct {
	todo.Call
	// Context holds the bytes of the context file, at most 1 MiB; nil where Rationale and SourceRefs are the context.
	// An empty file is a non-nil empty slice.
	Context    []byte
	Rationale  *string  // nil: the flag was not given
	SourceRefs []string // nil: the flag was not given
	Proof      Proof
}

// InspectRequest are the arguments of handoff inspect.
type InspectRequest struct {
	Goal      todo.GoalID
	Todo      todo.ID
	Agent     todo.AgentID
	Session   string
	Workspace string   // a directory; "" is "."
	Artifacts []string // at most 8, relative to the workspace
	Proof     Proof
}

// AdoptRequest are the arguments of handoff adopt. Of Call all members but DryRun are needed.
type AdoptRequest struct {
	todo.Call
	Target    todo.AgentID // "" is the agent
	Workspace string       // a directory; "" is "."
	Artifacts []string     // at most 8, relative to the workspace
	Proof     Proof
}

// PrepareAnswer is what prepare says.
type PrepareAnswer struct {
	todo.Answer
	Result       todo.UpdateResult // of the receipt; on a replay that is history
	NoteVerified bool              // note_readback_verified; Refused tells why not
	NoteState    todo.NoteState    // as read back
}

// AdoptAnswer is what adopt says.
type AdoptAnswer struct {
	todo.Answer
	// Packet is the inspect packet of the tip as read back: its can_adopt speaks of a further adopt. Where the Todo cannot
	// be read any more it says only that.
	Packet   Packet
	Claim    NestedClaim
	Target   todo.AgentID
	Verified bool        // current_authority_verified
	Failures []todo.Code // verification_failures, in order; the first is Refused's code
}

// NestedClaim is the member claim of an answer: the claim of the receipt, on a replay history, and what the answer says
// of it now, so that nested and top-level reason code agree.
type NestedClaim struct {
	OK   bool      `json:"ok"`
	Code todo.Code `json:"reason_code,omitzero"`
	Claim
}
