package handoff

import (
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// newLeasedWorld is a world whose goal is hard_lease, where agent-a has todo_a with the lease execution-a at version 3
// until 10:45. todo_a waits for todo_b, which is done.
func newLeasedWorld(t *testing.T) *world {
	t.Helper()
	w, ctx := newWorld(t), t.Context()
	b := w.call("agent-c")
	b.Todo = "todo_b"
	_, err := w.Add(ctx, b, todo.AddArgs{Text: "Measure the disks", ClaimedBy: "agent-c"})
	w.must(err)
	b.Operation = "done-b"
	_, err = w.Complete(ctx, b, todo.CompleteArgs{})
	w.must(err)
	_, err = w.Update(ctx, w.call("agent-a"), todo.UpdateArgs{DependsOn: &[]todo.ID{"todo_b"}})
	w.must(err)
	_, err = w.Release(ctx, w.call("agent-a"), todo.ReleaseArgs{})
	w.must(err)
	_, err = w.SetMode(ctx, w.call(""), todo.HardLease)
	w.must(err)
	_, err = w.ClaimWithLease(ctx, w.call("agent-a"), "agent-a", &lease.Request{Key: "execution-a"})
	w.must(err)
	for version := range int64(2) {
		_, err := w.RenewLease(ctx, lease.RenewRequest{
			Held: holderOf("agent-a", "execution-a", pointer(version+1)), TTL: pointer(int64(2400)),
		})
		w.must(err)
	}
	return w
}

// holderOf is who holds the lease on todo_a.
func holderOf(owner todo.AgentID, key string, version *int64) lease.Held {
	return lease.Held{Caller: lease.Caller{Goal: "demo", Todo: "todo_a", Owner: owner}, Key: key, ExpectedVersion: version}
}

var (
	proofOfA = todo.ProofOf("execution-a", 3)
	proofOfB = todo.ProofOf("execution-b", 4)
)

// prepareLeased is L7 on the tip.
func (w *world) prepareLeased() PrepareRequest {
	r := w.prepareAt(w.tip())
	r.Operation, r.Proof = "prepare-context", proofOfA
	return r
}

// transfer is L8: claim, lease and note go to agent-b, until 10:15.
func (w *world) transfer() {
	w.t.Helper()
	_, err := w.TransferLease(w.t.Context(), lease.TransferRequest{
		Held:     holderOf("agent-a", "execution-a", pointer(int64(3))),
		NewOwner: "agent-b", NewKey: "execution-b", TTL: pointer(int64(600)), TransferClaim: true,
	})
	w.must(err)
}

// inspectLeased is L9.
func (w *world) inspectLeased(proof todo.Proof) Packet {
	w.t.Helper()
	r := inspectRequest("agent-b")
	r.Workspace, r.Proof = w.dir, proof
	p, err := w.Inspect(w.t.Context(), r)
	w.must(err)
	return p
}

// adoptLeased is L10 on the tip.
func (w *world) adoptLeased() AdoptRequest {
	r := w.adoptAt(w.tip())
	r.Operation, r.Proof = "accept-context", proofOfB
	return r
}

// facts returns the todo_facts of todo_a now.
func (w *world) facts() string {
	w.t.Helper()
	tip, err := w.Load(w.t.Context(), "demo")
	w.must(err)
	s, err := w.ReadState(w.t.Context(), tip, "demo", "todo_a", at)
	w.must(err)
	return todo.TodoFacts(*s.Todo)
}

// files returns the paths of what a commit changed, sorted.
func (w *world) files(revision gitstore.ObjectID) []string {
	w.t.Helper()
	return strings.Fields(w.git("diff-tree", "-r", "--name-only", "--no-commit-id", string(revision)))
}

func isReceipt(path string) bool { return strings.HasPrefix(path, "receipts/") }

func reopenB(w *world) error {
	c := w.call("agent-c")
	c.Todo = "todo_b"
	_, err := w.Reopen(w.t.Context(), c, todo.ReopenArgs{})
	return err
}
