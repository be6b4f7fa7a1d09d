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
func (h Held) lifecycleID(verb string) (string, error) {
	d, err := canonical.Digest(map[string]any{
		"schema_version": "loopx_task_lease_lifecycle_native_v0", "operation": verb,
		"goal_id": h.Goal, "todo_id": h.Todo, "owner": h.Owner, "idempotency_key": h.Key, "expected_version": *h.ExpectedVersion,
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
		m["write_scopes"] = append([]string{}, todo.SetOf(r.WriteScopes)...)
	}
	return m
}

func (r AcquireRequest) args() map[string]any {
	m := r.Request.args()
	m["owner"] = r.Owner
	return m
}

func (h Held) args() map[string]any {
	return map[string]any{"owner": h.Owner, "idempotency_key": h.Key, "expected_version": *h.ExpectedVersion}
}

func (r RenewRequest) args() map[string]any {
	m := r.Held.args()
	m["ttl_seconds"] = ttlOr(r.TTL)
	return m
}

func (r TransferRequest) args() map[string]any {
	m := r.Held.args()
	m["ttl_seconds"], m["new_owner"], m["new_idempotency_key"] = ttlOr(r.TTL), r.NewOwner, r.NewKey
	if r.TransferClaim {
		m["transfer_claim"] = true
	}
	return m
}
