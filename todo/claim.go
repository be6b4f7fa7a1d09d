package todo

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-loopx/git-loopx/gitstore"
)

// ClaimSchema is the schema_version of a claim or release result.
const ClaimSchema = "loopx_coordination_todo_claim_result_v0"

// GrantSchema is the schema_version of a grant.
const GrantSchema = "todo_transfer_grant_v0"

// Grant lets an agent claim another's Todo because its owner left a note (continuation.md, section 4). Only the code of
// handoff adopt builds one; no flag, file or variable carries it. It is no secret, so the claim decision believes
// nothing of it that it has not checked against the state.
type Grant struct {
	Schema           string            `json:"schema_version"`
	Source           AgentID           `json:"source_agent_id"` // claimed_by
	Target           AgentID           `json:"target_agent_id"` // the claimant
	Todo             ID                `json:"todo_id"`
	ExpectedRevision gitstore.ObjectID `json:"expected_revision"` // the request's pinned revision
	NoteFacts        string            `json:"continuation_note_facts"`
}

// ClaimRequest asks for a claim. The decision's Todo is that of the state.
type ClaimRequest struct {
	Command  string // the words of the command, "todo claim"
	Todo     ID
	Actor    AgentID
	Claimant AgentID
	Expected gitstore.ObjectID // pinned revision, "" is none
	Grant    *Grant            // nil: none
	At       Instant
	// Acquire is the acquire decision of package lease, where a lease is asked for with the claim: a function of the state
	// once the claim has moved.
	Acquire func(State) (Acquired, error)
}

// Acquired is what taking a lease with a claim came to.
type Acquired struct {
	Record     []byte         // stored bytes of the lease afterwards; nil where it stays as it is
	Idempotent bool           // the lease was there already
	Lease      jsontext.Value // the lease as answers show it
}

// ClaimResult is the nested result of a claim.
type ClaimResult struct {
	Schema      string            `json:"schema_version"`
	TodoID      ID                `json:"todo_id"`
	ClaimedBy   AgentID           `json:"claimed_by"`
	Changed     bool              `json:"changed"`
	HandoffMode Mode              `json:"handoff_mode"`
	Authority   MutationAuthority `json:"mutation_authority"`
	// Of a claim with a lease; nil and empty otherwise.
	TodoChanged     *bool          `json:"todo_changed,omitzero"`
	LeaseChanged    *bool          `json:"lease_changed,omitzero"`
	LeaseIdempotent *bool          `json:"lease_idempotent,omitzero"`
	Lease           jsontext.Value `json:"lease,omitempty"`
}

// MutationAuthority says by what right a Todo was changed.
type MutationAuthority struct {
	Schema           string  `json:"schema_version"` // todo_mutation_authority_v0
	Command          string  `json:"command"`
	Mode             string  `json:"mode"` // registered_peer_actor
	ActorAgentID     AgentID `json:"actor_agent_id"`
	TodoID           ID      `json:"todo_id"`
	RegisteredAgents int     `json:"registered_agent_count"`
	ClaimOwner       AgentID `json:"claim_owner,omitzero"` // who held the claim before
}

// DecideClaim is the claim decision of continuation.md, section 4. The Result of the decision is a [ClaimResult]; a
// Todo that is the claimant's already is no change. Codes, in order: todo_not_found, claim_actor_mismatch,
// todo_not_agent, todo_not_open, todo_archived, those of [Admit], claim_owner_mismatch, todo_lease_conflict,
// claim_lease_requires_hard_lease, handoff_mode_requires_lease, those of the acquire decision, those of acceptance, with a
// lease those of the dependencies.
func DecideClaim(s State, r ClaimRequest) (Decision, error) {
	t, err := s.Found(r.Todo)
	if err != nil {
		return Decision{}, err
	}
	switch {
	case r.Claimant != r.Actor:
		return Decision{}, Reject(CodeClaimActorMismatch, "agent %q cannot claim for %q", Clean(string(r.Actor)), Clean(string(r.Claimant)))
	case t.Role != RoleAgent:
		return Decision{}, Reject(CodeTodoNotAgent, "todo %s: has the role %s", t.ID, t.Role)
	case t.Status != Open:
		return Decision{}, Reject(CodeTodoNotOpen, "todo %s: is %s", t.ID, t.Status)
	case t.ArchiveState == Archived:
		return Decision{}, Reject(CodeTodoArchived, "todo %s: is archived", t.ID)
	}
	if err := Admit(t, r.Actor); err != nil {
		return Decision{}, err
	}
	byGrant := t.ClaimedBy != "" && t.ClaimedBy != r.Claimant
	if byGrant && !granted(s, t, r) {
		return Decision{}, ownedBy(CodeClaimOwnerMismatch, t)
	}
	taken := s // as it is once the claim has moved: a lease is judged on that
	next := t
	next.ClaimedBy = r.Claimant
	taken.Todo = &next
	switch {
	case s.Lease.ForeignTo(r.Claimant) && s.EffectiveFor(r.Claimant):
		return Decision{}, leasedBy(CodeLeaseConflict, t, s.Lease)
	case r.Acquire != nil && s.Goal.HandoffMode != HardLease:
		return Decision{}, Reject(CodeClaimLeaseMode, "goal %s: is %s, a lease cannot be had with a claim", s.Goal.ID, s.Goal.HandoffMode)
	case r.Acquire == nil && s.Goal.HandoffMode == HardLease && !(s.Lease.Owner == r.Claimant && taken.EffectiveFor(r.Claimant)):
		return Decision{}, Reject(CodeModeRequiresLease, "todo %s: goal %s is %s, and there is no effective lease of %q", t.ID, s.Goal.ID, HardLease, r.Claimant)
	}
	result := ClaimResult{
		Schema: ClaimSchema, TodoID: t.ID, ClaimedBy: r.Claimant, Changed: t.ClaimedBy != r.Claimant,
		HandoffMode: s.Goal.HandoffMode,
		Authority: MutationAuthority{
			Schema: "todo_mutation_authority_v0", Command: r.Command, Mode: "registered_peer_actor",
			ActorAgentID: r.Actor, TodoID: t.ID, RegisteredAgents: len(s.Goal.Agents), ClaimOwner: t.ClaimedBy,
		},
	}
	d := Decision{Subject: "todo claim " + string(t.ID)}
	if r.Acquire != nil {
		got, err := r.Acquire(taken)
		if err != nil {
			return Decision{}, err
		}
		todoChanged, leaseChanged := result.Changed, got.Record != nil
		result.TodoChanged, result.LeaseChanged, result.LeaseIdempotent = &todoChanged, &leaseChanged, &got.Idempotent
		result.Lease = got.Lease
		if leaseChanged {
			result.Changed = true
			d.Leases = map[ID][]byte{t.ID: got.Record}
		}
	}
	if err := s.CheckAcceptance(); err != nil {
		return Decision{}, err
	}
	if r.Acquire != nil { // a lease that was there already was not judged for that
		if err := s.CheckDependencies(r.At); err != nil {
			return Decision{}, err
		}
	}
	if t.ClaimedBy != r.Claimant {
		d.Todos = []Todo{next.touched(r.Actor, r.At)}
	}
	d.Result = result
	return d, nil
}

// granted says whether the request's grant holds on the state.
func granted(s State, t Todo, r ClaimRequest) bool {
	g := r.Grant
	if g == nil || g.Schema != GrantSchema || g.ExpectedRevision == "" {
		return false
	}
	j := JudgeNote(s.Note, t)
	return j.State == NoteCurrent && g.NoteFacts == j.Facts &&
		g.Source == t.ClaimedBy && g.Target == r.Claimant &&
		g.Todo == t.ID && g.ExpectedRevision == r.Expected &&
		s.Goal.Registered(g.Source) && s.Goal.Registered(g.Target) && !(s.Lease.Owner == g.Source && s.Lease.LiveToOthers)
}

// VerifyClaim judges a claim again when its receipt is replayed: nil while the claimant may still act on it. The lease that
// came with it is not judged here.
func VerifyClaim(s State, id ID, claimant AgentID) error {
	t, err := s.Found(id)
	switch {
	case err != nil:
		return err
	case t.Status != Open:
		return Reject(CodeTodoNotOpen, "todo %s: is %s", t.ID, t.Status)
	case t.ArchiveState == Archived:
		return Reject(CodeTodoArchived, "todo %s: is archived", t.ID)
	case t.ClaimedBy != claimant:
		return ownedBy(CodeClaimOwnerMismatch, t)
	}
	return s.CheckAcceptance()
}
