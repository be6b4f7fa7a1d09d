package handoff

import "github.com/git-loopx/git-loopx/todo"

// PrepareRequest are the arguments of handoff prepare. Of Call all members but DryRun are needed.
type PrepareRequest struct {
	todo.Call
	// Context holds the bytes of the context file, at most 1 MiB; nil where Rationale and SourceRefs are the context.
	// An empty file is a non-nil empty slice.
	Context    []byte
	Rationale  *string  // nil: the flag was not given
	SourceRefs []string // nil: the flag was not given
}

// InspectRequest are the arguments of handoff inspect.
type InspectRequest struct {
	Goal      todo.GoalID
	Todo      todo.ID
	Agent     todo.AgentID
	Session   string
	Workspace string   // a directory; "" is "."
	Artifacts []string // at most 8, relative to the workspace
	Proof     todo.Proof
}

// AdoptRequest are the arguments of handoff adopt. Of Call all members but DryRun are needed.
type AdoptRequest struct {
	todo.Call
	Target    todo.AgentID // "" is the agent
	Workspace string       // a directory; "" is "."
	Artifacts []string     // at most 8, relative to the workspace
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
	Claim    *NestedClaim    // of a lease-free adopt, else nil
	Adoption *NestedAdoption // of a leased adopt, else nil
	Target   todo.AgentID
	Verified bool        // current_authority_verified
	Failures []todo.Code // verification_failures, in order; the first is Refused's code
}

// Standing is what an answer says now of a nested result, which on a replay is history: nested and top-level reason code
// agree.
type Standing struct {
	OK   bool      `json:"ok"`
	Code todo.Code `json:"reason_code,omitzero"`
}

// NestedClaim is the member claim of an answer: that of the receipt.
type NestedClaim struct {
	Standing
	Claim
}

// NestedAdoption is the member adoption of an answer: that of the receipt.
type NestedAdoption struct {
	Standing
	Adoption
}
