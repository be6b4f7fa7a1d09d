package lease

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// newLeased is the fixture with todo_a claimed by agent-a, with a lease of version 1 for ten minutes.
func newLeased(t testing.TB) *fixture {
	t.Helper()
	f := newFixture(t)
	_, err := f.ClaimWithLease(f.ctx(), by("agent-a", "todo_a"), "", &Request{Key: "execution-a", TTL: ptr(int64(600))})
	f.must(err)
	return f
}

// proving is a call of an agent on todo_a with a proof.
func proving(a todo.AgentID, key string, version int64) todo.Call {
	c := by(a, "todo_a")
	c.Proof = todo.ProofOf(key, version)
	return c
}

// written lists the files that the last commit of the goal changed, without its receipt.
func (f *fixture) written() []string {
	f.t.Helper()
	var files []string
	for name := range strings.Lines(f.git("-C", f.dir, "diff-tree", "-r", "--name-only", "--no-commit-id", string(f.tip()))) {
		if name = strings.TrimSpace(name); !strings.HasPrefix(name, "receipts/") {
			files = append(files, name)
		}
	}
	return files
}

// resultOf reads the nested result of an answer.
func resultOf[T any](t testing.TB, a todo.Answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.Receipt.Result, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// fencedVerbs are the verbs of package todo that need the proof on claimed work, with the code for who does not own it.
var fencedVerbs = map[string]struct {
	call  func(*fixture, todo.Call) (todo.Answer, error)
	other todo.Code
}{
	"update": {func(f *fixture, c todo.Call) (todo.Answer, error) {
		return f.Update(f.ctx(), c, todo.UpdateArgs{Priority: ptr("P1")})
	}, todo.CodeUpdateOwnerMismatch},
	"note": {func(f *fixture, c todo.Call) (todo.Answer, error) {
		return f.SetNote(f.ctx(), c, todo.NoteArgs{Text: "x"})
	}, todo.CodeUpdateOwnerMismatch},
	"release": {func(f *fixture, c todo.Call) (todo.Answer, error) {
		return f.Release(f.ctx(), c, todo.ReleaseArgs{})
	}, todo.CodeClaimOwnerMismatch},
	"complete": {func(f *fixture, c todo.Call) (todo.Answer, error) {
		return f.Complete(f.ctx(), c, todo.CompleteArgs{})
	}, todo.CodeClaimOwnerMismatch},
	"supersede": {func(f *fixture, c todo.Call) (todo.Answer, error) {
		return f.Supersede(f.ctx(), c, todo.SupersedeArgs{By: "todo_b"})
	}, todo.CodeClaimOwnerMismatch},
}

func TestTodoVerbsNeedTheProof(t *testing.T) {
	f := newLeased(t)
	f.add("todo_b", todo.AddArgs{})
	for name, verb := range fencedVerbs {
		for _, c := range []struct {
			call todo.Call
			want todo.Code
		}{
			{by("agent-a", "todo_a"), todo.CodeLeaseFenceRequired},
			{proving("agent-a", "execution-b", 1), todo.CodeLeaseCASMismatch},
			{proving("agent-a", "execution-a", 999), todo.CodeVersionMismatch},
			{proving("agent-b", "execution-a", 1), verb.other},
		} {
			t.Run(name+" "+string(c.want), func(t *testing.T) {
				f.unmoved(c.want, func() error { _, err := verb.call(f, c.call); return err })
			})
		}
	}
	f.unmoved(todo.CodeLeaseRequirements, func() error {
		_, err := f.Update(f.ctx(), proving("agent-a", "execution-a", 1), todo.UpdateArgs{DependsOn: &[]todo.ID{"todo_b"}})
		return err
	})
	f.unmoved(todo.CodeLeaseConflict, func() error {
		_, err := f.Release(f.ctx(), by("agent-b", "todo_a"), todo.ReleaseArgs{Override: true, Reason: "gone"})
		return err
	})
	f.clock = f.clock.Add(10 * time.Minute) // the lease is over
	for name, verb := range fencedVerbs {
		if name == "release" { // gives away, and so needs a proof only of a lease that is live
			continue
		}
		f.unmoved(todo.CodeModeRequiresLease, func() error {
			_, err := verb.call(f, proving("agent-a", "execution-a", 1))
			return err
		})
	}
	_, err := f.Release(f.ctx(), by("agent-b", "todo_a"), todo.ReleaseArgs{Override: true, Reason: "gone"})
	f.must(err)
	if got := f.lease("todo_a"); got.Status != Active || got.Version != 1 {
		t.Errorf("another's lease that is over was touched: %+v", got)
	}
}

// Work that ends or stops takes its lease with it, in the same commit.
func TestTodoVerbsEndTheLease(t *testing.T) {
	both := []string{todo.LeasePath("todo_a"), todo.TodoPath("todo_a")}
	defers := func(f *fixture, c todo.Call) (todo.Answer, error) {
		return f.Update(f.ctx(), c, todo.UpdateArgs{Status: ptr(todo.Deferred)})
	}
	for name, call := range map[string]func(*fixture, todo.Call) (todo.Answer, error){
		"complete": fencedVerbs["complete"].call, "release": fencedVerbs["release"].call, "supersede": fencedVerbs["supersede"].call, "defer": defers,
	} {
		t.Run(name, func(t *testing.T) {
			f := newLeased(t)
			f.add("todo_b", todo.AddArgs{})
			a, err := call(f, proving("agent-a", "execution-a", 1))
			f.must(err)
			if !strings.Contains(string(a.Receipt.Result), `"lease_released":true`) || a.Status != gitstore.Applied {
				t.Errorf("got %+v with %s", a, a.Receipt.Result)
			}
			if diff := cmp.Diff(both, f.written()); diff != "" {
				t.Error(diff)
			}
			if got := f.lease("todo_a"); got.Status != Released || got.Version != 1 || got.ReleasedAt != todo.At(f.clock) {
				t.Errorf("got %+v", got)
			}
			if show, err := f.Show(f.ctx(), "demo", "todo_a"); err != nil || show.Lease == nil || show.Lease.Live || show.Lease.Version != 1 {
				t.Errorf("show: got %+v, %v", show.Lease, err)
			}
		})
	}
	f := newLeased(t)
	_, err := defers(f, proving("agent-a", "execution-a", 1))
	f.must(err)
	a, err := f.Reopen(f.ctx(), by("agent-a", "todo_a"), todo.ReopenArgs{})
	f.must(err)
	if diff := cmp.Diff([]string{todo.TodoPath("todo_a")}, f.written()); diff != "" || a.View.ClaimedBy != "agent-a" {
		t.Errorf("reopen without a lease: got %+v: %s", a.View, diff)
	}
}

func TestShowOfALease(t *testing.T) {
	f := newLeased(t)
	show, err := f.Show(f.ctx(), "demo", "todo_a")
	f.must(err)
	want := &todo.HoldingView{
		Owner: "agent-a", IdempotencyKey: "execution-a", Version: 1, Epoch: 1, ExpiresAt: "2026-09-13T10:10:00Z", Live: true, Active: true,
	}
	if diff := cmp.Diff(want, show.Lease); diff != "" {
		t.Error(diff)
	}
}

// A goal changes its mode only when nothing is held; who leaves keeps what is held, and the answer says what that is.
func TestGoalVerbsBesideALease(t *testing.T) {
	f := newLeased(t)
	f.add("todo_b", todo.AddArgs{})
	_, err := f.AcquireLease(f.ctx(), AcquireRequest{Caller: Caller{Goal: "demo", Todo: "todo_b", Owner: "agent-b"}, Request: Request{Key: "execution-b"}})
	f.must(err)
	claimed := []todo.ClaimedTodo{{TodoID: "todo_a", ClaimedBy: "agent-a", Status: todo.Open}}
	ofA := todo.ActiveLease{TodoID: "todo_a", Owner: "agent-a", ExpiresAt: "2026-09-13T10:10:00Z", Version: 1}
	ofB := todo.ActiveLease{TodoID: "todo_b", Owner: "agent-b", ExpiresAt: "2026-09-13T10:45:00Z", Version: 1}
	toSoft := func() error { _, err := f.SetMode(f.ctx(), todo.Call{Goal: "demo"}, todo.SoftClaim); return err }
	f.unmoved(todo.CodeModeNotQuiescent, toSoft)
	want := map[string]any{"claimed_todos": claimed, "active_leases": []todo.ActiveLease{ofA, ofB}}
	if diff := cmp.Diff(want, todo.AsRefusal(toSoft()).Detail); diff != "" {
		t.Error(diff)
	}
	removed, err := f.RemoveAgent(f.ctx(), todo.Call{Goal: "demo", Agent: "agent-a"})
	f.must(err)
	if diff := cmp.Diff(todo.AgentResult{AgentID: "agent-a", Changed: true, ClaimedTodos: claimed, ActiveLeases: []todo.ActiveLease{ofA}},
		resultOf[todo.AgentResult](t, removed)); diff != "" {
		t.Error(diff)
	}
	if show, err := f.Show(f.ctx(), "demo", "todo_a"); err != nil || !show.Lease.Live || show.Lease.Active || show.Lease.Reason != todo.CodeOwnerNotRegistered {
		t.Errorf("show: got %+v, %v", show.Lease, err)
	}
	// The claim alone is in the way once the leases are over.
	f.clock = f.clock.Add(time.Hour)
	f.unmoved(todo.CodeModeNotQuiescent, toSoft)
	if diff := cmp.Diff([]todo.ActiveLease{}, todo.AsRefusal(toSoft()).Detail["active_leases"]); diff != "" {
		t.Error(diff)
	}
	_, err = f.Release(f.ctx(), by("agent-b", "todo_a"), todo.ReleaseArgs{Override: true, Reason: "left"})
	f.must(err)
	f.must(toSoft())
}

// What has to be confirmed cannot be leased or finished; a lease that is there stays, and can be given up.
func TestAcceptanceBesideALease(t *testing.T) {
	f := newLeased(t)
	f.add("todo_b", todo.AddArgs{})
	_, err := f.EnableAcceptance(f.ctx(), todo.Call{Goal: "demo"}, nil)
	f.must(err)
	f.unmoved(todo.CodeAcceptanceUnbound, func() error {
		_, err := f.ClaimWithLease(f.ctx(), by("agent-b", "todo_b"), "", &Request{Key: "execution-b"})
		return err
	})
	f.unmoved(todo.CodeAcceptanceUnbound, func() error { // the same lease again, which is there
		_, err := f.ClaimWithLease(f.ctx(), by("agent-a", "todo_a"), "", &Request{Key: "execution-a", TTL: ptr(int64(600))})
		return err
	})
	f.unmoved(todo.CodeAcceptanceUnbound, func() error {
		_, err := f.Complete(f.ctx(), proving("agent-a", "execution-a", 1), todo.CompleteArgs{})
		return err
	})
	f.unmoved(todo.CodeLeaseFenceRequired, func() error {
		_, err := f.Complete(f.ctx(), by("agent-a", "todo_a"), todo.CompleteArgs{})
		return err
	})
	_, err = f.Update(f.ctx(), proving("agent-a", "execution-a", 1), todo.UpdateArgs{Priority: ptr("P1")})
	f.must(err)
	_, err = f.BindAcceptance(f.ctx(), todo.Call{Goal: "demo"}, []todo.ID{"todo_a"})
	f.must(err)
	_, err = f.Complete(f.ctx(), proving("agent-a", "execution-a", 1), todo.CompleteArgs{})
	f.must(err)
}
