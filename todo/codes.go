package todo

// Code is a reason code: the exact word a caller may match (continuation.md, sections 3 and 4).
type Code string

// Arguments are malformed; one code per family of verbs. Nothing was read. Status failed.
const (
	CodeInvalidGoalRequest  Code = "invalid_goal_request"                         // goal and agent verbs
	CodeInvalidAdd          Code = "invalid_coordination_todo_create"             // todo add
	CodeInvalidUpdate       Code = "invalid_coordination_todo_update"             // todo update, note
	CodeInvalidClaim        Code = "invalid_coordination_todo_claim"              // todo claim, release, ready
	CodeInvalidLifecycle    Code = "invalid_coordination_todo_terminal_lifecycle" // todo complete, reopen, supersede
	CodeInvalidArchive      Code = "invalid_coordination_todo_archive"            // todo archive
	CodeInvalidBatch        Code = "invalid_coordination_todo_batch"              // todo apply
	CodeInvalidContinuation Code = "invalid_continuation_request"                 // handoff verbs; the context of a note
	CodeInvalidHandoffMode  Code = "invalid_handoff_mode"                         // a mode that is no mode of this version
	CodeUsage               Code = "usage_error"                                  // a verb that only reads
	CodeTodoIDAmbiguous     Code = "todo_id_ambiguous"                            // a prefix names several Todos; Detail: candidates
	CodeInvalidClock        Code = "invalid_clock"                                // the local clock is outside the years 2000 to 9999
)

// Who and what is meant.
const (
	CodeGoalNotFound       Code = "goal_not_found"       // git confirmed that the goal's ref does not exist
	CodeGoalExists         Code = "goal_exists"          // goal create: the ref is there, and no receipt of this operation
	CodeActorRequired      Code = "actor_required"       // no agent was named
	CodeActorNotRegistered Code = "actor_not_registered" // the agent is not in the goal's list; compared verbatim
	CodeTodoNotFound       Code = "todo_not_found"       // the goal has no Todo of this id
)

// Of the lease on a Todo (continuation.md, section 6). Status rejected.
const (
	CodeModeRequiresLease       Code = "handoff_mode_requires_lease"                      // hard_lease, and no effective lease of the actor
	CodeLeaseClaimDivergence    Code = "handoff_mode_lease_claim_divergence"              // a live lease whose owner may not hold it
	CodeLeaseFenceRequired      Code = "lease_fence_required"                             // leased, and no proof was given
	CodeLeaseCASMismatch        Code = "lease_cas_mismatch"                               // another owner or key
	CodeVersionMismatch         Code = "version_mismatch"                                 // another version; Detail: expected_version, actual_version
	CodeLeaseConflict           Code = "todo_lease_conflict"                              // somebody else's lease is live; Detail: lease_owner, expires_at
	CodeClaimLeaseMode          Code = "claim_lease_requires_hard_lease"                  // a lease request in a goal without leases
	CodeLeaseRequirements       Code = "update_lease_requirements_transition_unsupported" // update: what a lease rests on, while one is live
	CodeOwnerNotRegistered      Code = "owner_not_registered"                             // the owner of a lease is not in the goal's list
	CodeOwnerExcluded           Code = "owner_excluded_from_todo"                         // the owner of a lease is in excluded_agents
	CodeOwnerConflictsWithClaim Code = "owner_conflicts_with_claim"                       // claimed by somebody else
)

// Dependencies and the acceptance hold (continuation.md, sections 5 and 10). Status rejected.
const (
	CodeDependencyInvalid Code = "todo_dependency_invalid" // unknown, the Todo itself, a cycle, archived and not done; Detail: cycle
	CodeDependencyPending Code = "todo_dependency_pending" // a dependency is not done, or resume_at is ahead
	CodeAcceptanceReady   Code = "goal_acceptance_ready"   // no refusal: confirmed as it reads now
	CodeAcceptanceUnbound Code = "goal_acceptance_unbound" // never confirmed
	CodeAcceptanceStale   Code = "goal_acceptance_stale"   // confirmed as it read before
)

// Stored data is not understood and was left untouched. Status failed.
const (
	CodeUnsupportedSchema    Code = "unsupported_schema_version"      // a record names a schema that this version does not know
	CodeInvalidProjection    Code = "invalid_coordination_projection" // a record is not what this program would have written
	CodeAuthorityUnavailable Code = "authority_unavailable"           // the ref, or an object it needs, cannot be read now
)

// The state of a goal or a Todo says no. Status rejected.
const (
	CodeModeNotQuiescent  Code = "handoff_mode_not_quiescent"       // claimed work is open; Detail: claimed_todos, active_leases
	CodeTodoExists        Code = "todo_already_exists"              // add: the id is taken
	CodeTodoDuplicate     Code = "todo_semantic_duplicate_conflict" // add: same role and text, other members; Detail: existing_todo_id
	CodeTodoNotAgent      Code = "todo_not_agent"                   // the role is not agent
	CodeTodoNotOpen       Code = "todo_not_open"                    // the status is not open
	CodeTodoArchived      Code = "todo_archived"                    // the Todo is put away
	CodeTodoNotDone       Code = "todo_not_done"                    // archive: neither done nor deferred and unclaimed
	CodeTodoSuperseded    Code = "todo_superseded"                  // reopen: another Todo took its place
	CodeUpdateTarget      Code = "unsupported_todo_update_target"   // update, note: the Todo is done
	CodeSuccessorNotFound Code = "todo_successor_not_found"         // complete, supersede: a named Todo is not in the goal
	CodeSuccessorCycle    Code = "todo_successor_cycle"             // complete, supersede: the named Todo leads back; Detail: cycle
)

// Somebody else's right says no. Status rejected.
const (
	CodeActorExcluded       Code = "actor_excluded"        // the agent is in excluded_agents
	CodeBoundAgentMismatch  Code = "bound_agent_mismatch"  // the Todo is bound to another agent
	CodeClaimActorMismatch  Code = "claim_actor_mismatch"  // claim: for somebody else
	CodeClaimOwnerMismatch  Code = "claim_owner_mismatch"  // another's Todo, or nobody's where an owner is needed
	CodeUpdateOwnerMismatch Code = "update_owner_mismatch" // update, note: another's Todo
)
