//go:build linux

package main

import (
	"crypto/sha256"
	"fmt"
	"testing"
)

// TestKillTransfer: a lease, its claim and its note go from hand to hand, each command killed at some moment of its run. The
// three never disagree, version and epoch never go back, and the same command then ends well. With -kills below 220 that
// many kills are made.
func TestKillTransfer(t *testing.T) {
	t.Parallel()
	killAtAnyMoment(t, min(*kills, 220), newLeasedVictim)
}

// newLeasedVictim is one where the two agents transfer one Todo to each other again and again.
func newLeasedVictim(t *testing.T) *victim {
	t.Helper()
	v := emptyVictim(t)
	v.does(v.dir, "goal", "mode", "set", "--mode", "hard_lease")
	v.does(v.dir, "todo", "add", "work", "--todo-id", "todo_a", "--agent-id", "agent-a")
	v.does(v.dir, "todo", "claim", "todo_a", "--agent-id", "agent-a", "--task-lease-idempotency-key", "execution-0")
	v.does(v.dir, "handoff", "prepare", "todo_a", "--goal-id", "demo", "--agent-id", "agent-a", "--session-id", "s", "--operation-id", "prepare",
		"--expected-revision", v.tip(v.dir), "--rationale", "because",
		"--task-lease-idempotency-key", "execution-0", "--task-lease-expected-version", "1")
	agents, done := []string{"agent-a", "agent-b"}, 0
	v.steps = []string{"transfer"}
	v.next = func(int) order {
		owner, key, version := agents[done%2], fmt.Sprint("execution-", done), done+1
		done++
		request := fmt.Sprintf(`{"expected_version":%d,"goal_id":"demo","idempotency_key":%q,"operation":"transfer","owner":%q,`+
			`"schema_version":"loopx_task_lease_lifecycle_native_v0","todo_id":"todo_a"}`, version, key, owner)
		return order{verb: "transfer", id: fmt.Sprintf("lease-transfer:%x", sha256.Sum256([]byte(request))), args: []string{
			"lease", "transfer", "todo_a", "--goal-id", "demo", "--owner", owner, "--idempotency-key", key,
			"--expected-version", fmt.Sprint(version), "--new-owner", agents[done%2], "--new-idempotency-key", fmt.Sprint("execution-", done),
			"--transfer-claim"}}
	}
	v.right = func() { v.agree(agents[done%2], fmt.Sprint("execution-", done), int64(done+1)) }
	v.after = func(o order, moved bool) {
		n := done - 1 // as before the command
		if moved {
			n = done
		}
		v.agree(agents[n%2], fmt.Sprint("execution-", n), int64(n+1))
	}
	v.warm()
	return v
}

// agree fails where claim, lease and note of todo_a are not all those of one owner at one version.
func (v *victim) agree(owner, key string, version int64) {
	v.t.Helper()
	lease, shown := v.does(v.dir, "lease", "inspect", "todo_a"), v.does(v.dir, "todo", "show", "todo_a")
	got := []string{lease.get("lease.owner"), lease.get("lease.idempotency_key"), lease.get("lease.version"), lease.get("lease.lease_epoch"),
		lease.get("active"), shown.get("todo.claimed_by"), shown.get("note_state")}
	want := []string{owner, key, fmt.Sprint(version), fmt.Sprint(version), "true", owner, "current"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		v.t.Fatalf("lease, claim and note: got %v, want %v", got, want)
	}
}
