package lease

import "github.com/git-loopx/git-loopx/todo"

// Arguments are malformed (continuation.md, section 6). Nothing was read. Status failed.
const (
	CodeInvalidOwner            todo.Code = "invalid_owner"                               // no agent id
	CodeInvalidKey              todo.Code = "invalid_idempotency_key"                     // not ^[A-Za-z0-9_.:@/-]{1,160}$
	CodeInvalidTTL              todo.Code = "invalid_ttl"                                 // not 1 to 86400 seconds
	CodeInvalidExpectedVersion  todo.Code = "invalid_expected_version"                    // not 0 to 2^53-1
	CodeVersionRequired         todo.Code = "version_required"                            // renew, transfer, release: no expected version
	CodeInvalidAcquireRequest   todo.Code = "invalid_canonical_acquire_request"           // any other argument of acquire
	CodeInvalidLifecycleRequest todo.Code = "invalid_canonical_lifecycle_request"         // any other argument of renew, transfer, release
	CodeInvalidSkew             todo.Code = "invalid_lease_skew"                          // git config loopx.lease.skew is not 0 to 3600
	CodeTransferNeedsAuthority  todo.Code = "claim_transfer_requires_canonical_authority" // transfer with the claim: git confirmed that there is no such goal
)

// The state of a goal, a Todo or its lease says no. Status rejected.
const (
	CodeModeForbidsLease      todo.Code = "handoff_mode_forbids_lease"              // the goal is soft_claim
	CodeLeaseNotActive        todo.Code = "lease_not_active"                        // none, over or released
	CodeKeyReuse              todo.Code = "idempotency_key_reuse"                   // the key stands for another lease
	CodeWriteScopeConflict    todo.Code = "write_scope_conflict"                    // a lease on another Todo; Detail: conflicts
	CodeGenerationExhausted   todo.Code = "lease_generation_exhausted"              // version or epoch is 2^53-1
	CodeTransferNeedsLease    todo.Code = "claim_transfer_requires_hard_lease"      // transfer with the claim: the goal is soft_claim
	CodeTransferNeedsOpenTodo todo.Code = "claim_transfer_requires_open_agent_todo" // transfer with the claim: absent, archived, not open, not agent
	CodeTransferOwnerMismatch todo.Code = "claim_transfer_owner_mismatch"           // transfer with the claim: not the owner's claim
)
