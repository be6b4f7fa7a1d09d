package lease

import (
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// acquireID is the operation id of lease acquire (continuation.md, section 1.5): an owner acquires a Todo once with a key.
func acquireID(g todo.GoalID, id todo.ID, owner todo.AgentID, key string) (string, error) {
	d, err := canonical.Digest(map[string]any{"goal_id": g, "todo_id": id, "owner": owner, "idempotency_key": key})
	return "lease-acquire:" + d, err
}

// lifecycleID is the operation id of lease renew, transfer and release: a holder does each once with a version.
func lifecycleID(verb string, g todo.GoalID, id todo.ID, owner todo.AgentID, key string, version int64) (string, error) {
	d, err := canonical.Digest(map[string]any{
		"schema_version": "loopx_task_lease_lifecycle_native_v0", "operation": verb,
		"goal_id": g, "todo_id": id, "owner": owner, "idempotency_key": key, "expected_version": version,
	})
	return "lease-" + verb + ":" + d, err
}

// The arguments that shape the outcome (continuation.md, section 1.5), after defaults; what was not given is left out.

func (r Request) args() map[string]any {
	m := map[string]any{"idempotency_key": r.Key, "ttl_seconds": r.ttl()}
	if r.ExpectedVersion != nil {
		m["expected_version"] = *r.ExpectedVersion
	}
	if r.WriteScopes != nil { // none at all are not those of the Todo
		m["write_scopes"] = append([]string{}, setOf(r.WriteScopes)...)
	}
	return m
}

func (r AcquireRequest) args() map[string]any {
	m := r.Request.args()
	m["owner"] = r.Owner
	return m
}

func (r RenewRequest) args() map[string]any {
	return map[string]any{
		"owner": r.Owner, "idempotency_key": r.Key, "expected_version": *r.ExpectedVersion, "ttl_seconds": ttlOr(r.TTL),
	}
}

func (r TransferRequest) args() map[string]any {
	m := map[string]any{
		"owner": r.Owner, "idempotency_key": r.Key, "expected_version": *r.ExpectedVersion, "ttl_seconds": ttlOr(r.TTL),
		"new_owner": r.NewOwner, "new_idempotency_key": r.NewKey,
	}
	if r.TransferClaim {
		m["transfer_claim"] = true
	}
	return m
}

func (r ReleaseRequest) args() map[string]any {
	return map[string]any{"owner": r.Owner, "idempotency_key": r.Key, "expected_version": *r.ExpectedVersion}
}
