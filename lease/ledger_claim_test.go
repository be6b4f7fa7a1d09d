package lease

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

func TestClaimWithALease(t *testing.T) {
	d := newDesk(t, todo.HardLease)
	d.add("todo_a", todo.AddArgs{RequiredWriteScopes: []string{"src/**"}})
	d.refused(todo.CodeModeRequiresLease, "claim-0", func() error {
		c := named("agent-a", "claim-0")
		c.Todo = "todo_a"
		_, err := d.ClaimWithLease(d.ctx(), c, "", nil)
		return err
	})
	c := by("agent-a", "todo_a")
	c.Operation = "claim-1"
	r := &Request{Key: "execution-a", ExpectedVersion: ptr[int64](0)}

	dry := c
	dry.DryRun = true
	before := d.tip()
	planned := d.claims(d.ClaimWithLease(d.ctx(), dry, "", r))
	if planned.Status != gitstore.Planned || planned.Verified || d.tip() != before || planned.View.ClaimedBy != "agent-a" {
		t.Errorf("dry run: got %+v", planned)
	}

	a := d.claims(d.ClaimWithLease(d.ctx(), c, "", r))
	if a.Status != gitstore.Applied || !a.Verified || a.View.ClaimedBy != "agent-a" || a.DependencyState != todo.DependenciesReady || a.Kind != "todo claim" {
		t.Errorf("got %+v", a)
	}
	if parent := d.git("-C", d.dir, "rev-parse", "refs/loopx/goals/demo~1"); parent != string(before) {
		t.Errorf("claim and lease are not one commit: %s follows %s", d.tip(), parent)
	}
	l := d.lease("todo_a")
	if l.Owner != "agent-a" || l.Key != "execution-a" || l.Version != 1 || l.Epoch != 1 || l.TTL != DefaultTTL || !slices.Equal(l.WriteScopes, []string{"src/**"}) {
		t.Errorf("got the lease %+v", l)
	}
	result := nested[todo.ClaimResult](t, a.Answer)
	if !result.Changed || !*result.TodoChanged || !*result.LeaseChanged || *result.LeaseIdempotent {
		t.Errorf("got the result %+v", result)
	}
	taken := nested[struct {
		Lease View `json:"lease"`
	}](t, a.Answer).Lease
	if diff := cmp.Diff(ViewOf(l), taken); diff != "" {
		t.Errorf("the lease of the answer: %s", diff)
	}

	again := d.claims(d.ClaimWithLease(d.ctx(), c, "agent-a", &Request{Key: "execution-a", ExpectedVersion: ptr[int64](0), TTL: ptr[int64](DefaultTTL)}))
	if again.Status != gitstore.Replayed || !again.Verified || again.Refused != nil || again.Receipt.Revision != a.Revision {
		t.Errorf("again, with the default said: got %+v", again)
	}
	same := d.claims(d.ClaimWithLease(d.ctx(), by("agent-a", "todo_a"), "", &Request{Key: "execution-a"}))
	if r := nested[todo.ClaimResult](t, same.Answer); same.Status != gitstore.NoChange || !same.Verified || r.Changed || *r.LeaseChanged || !*r.LeaseIdempotent {
		t.Errorf("mine already, by another operation: got %+v, %+v", same, r)
	}
	plain := d.claims(d.ClaimWithLease(d.ctx(), by("agent-a", "todo_a"), "", nil))
	if r := nested[todo.ClaimResult](t, plain.Answer); plain.Status != gitstore.NoChange || !plain.Verified || r.Lease != nil || r.LeaseChanged != nil {
		t.Errorf("mine already, without a request: got %+v, %+v", plain, r)
	}
}

func TestClaimRequestDigest(t *testing.T) {
	d := newDesk(t, todo.HardLease)
	d.add("todo_a", todo.AddArgs{})
	c := by("agent-a", "todo_a")
	a := d.claims(d.ClaimWithLease(d.ctx(), c, "", &Request{Key: "k", WriteScopes: []string{"b", "a", "b"}}))
	want, err := canonical.Digest(map[string]any{
		"kind": "todo claim", "goal_id": "demo", "todo_id": "todo_a", "agent_id": "agent-a", "claimed_by": "agent-a",
		"lease_request": map[string]any{"idempotency_key": "k", "ttl_seconds": 2700, "write_scopes": []string{"a", "b"}},
	})
	if err != nil || a.Receipt.Request != want {
		t.Errorf("got %s, want %s, %v", a.Receipt.Request, want, err)
	}
	d.add("todo_b", todo.AddArgs{})
	ready := d.claims(d.ClaimReady(d.ctx(), by("agent-a", ""), &Request{Key: "k2", ExpectedVersion: ptr[int64](0), TTL: ptr[int64](60)}))
	want, err = canonical.Digest(map[string]any{
		"kind": "todo ready", "goal_id": "demo", "agent_id": "agent-a", "claim": true,
		"lease_request": map[string]any{"idempotency_key": "k2", "expected_version": 0, "ttl_seconds": 60},
	})
	if err != nil || ready.Receipt.Request != want {
		t.Errorf("ready: got %s, want %s, %v", ready.Receipt.Request, want, err)
	}
	// No write scopes are not those of the Todo, which stand for a list that was not given.
	d.add("todo_c", todo.AddArgs{RequiredWriteScopes: []string{"src"}})
	c = named("agent-a", "claim-c")
	c.Todo = "todo_c"
	d.claims(d.ClaimWithLease(d.ctx(), c, "", &Request{Key: "k", WriteScopes: []string{}}))
	var identity *gitstore.IdentityError
	if _, err := d.ClaimWithLease(d.ctx(), c, "", &Request{Key: "k"}); !errors.As(err, &identity) || d.lease("todo_c").WriteScopes != nil {
		t.Errorf("got %v with the lease %+v", err, d.lease("todo_c"))
	}
}

func TestClaimWithALeaseRefused(t *testing.T) {
	d := newDesk(t, todo.HardLease)
	d.add("todo_a", todo.AddArgs{RequiredWriteScopes: []string{"src"}})
	d.add("todo_b", todo.AddArgs{RequiredWriteScopes: []string{"src/b.go"}})
	d.add("todo_c", todo.AddArgs{DependsOn: []todo.ID{"todo_b"}})
	d.add("todo_d", todo.AddArgs{ExcludedAgents: []todo.AgentID{"agent-b"}})
	d.claims(d.ClaimWithLease(d.ctx(), by("agent-a", "todo_a"), "", &Request{Key: "execution-a"}))
	for _, tt := range []struct {
		name  string
		id    todo.ID
		owner todo.AgentID
		r     Request
		want  todo.Code
	}{
		{"another's Todo", "todo_a", "", Request{Key: "k"}, todo.CodeClaimOwnerMismatch},
		{"for somebody else", "todo_b", "agent-c", Request{Key: "k"}, todo.CodeClaimActorMismatch},
		{"excluded", "todo_d", "", Request{Key: "k"}, todo.CodeActorExcluded},
		{"absent", "todo_x", "", Request{Key: "k"}, todo.CodeTodoNotFound},
		{"a scope that is taken", "todo_b", "", Request{Key: "k"}, CodeWriteScopeConflict},
		{"another version", "todo_b", "", Request{Key: "k", ExpectedVersion: ptr[int64](1)}, todo.CodeVersionMismatch},
		{"a dependency is open", "todo_c", "", Request{Key: "k"}, todo.CodeDependencyPending},
		{"no key", "todo_b", "", Request{}, CodeInvalidKey},
		{"a key with a space", "todo_b", "", Request{Key: "a b"}, CodeInvalidKey},
		{"no time", "todo_b", "", Request{Key: "k", TTL: ptr[int64](0)}, CodeInvalidTTL},
		{"more than a day", "todo_b", "", Request{Key: "k", TTL: ptr[int64](86401)}, CodeInvalidTTL},
		{"a negative version", "todo_b", "", Request{Key: "k", ExpectedVersion: ptr[int64](-1)}, CodeInvalidExpectedVersion},
		{"an absolute scope", "todo_b", "", Request{Key: "k", WriteScopes: []string{"/etc"}}, todo.CodeInvalidClaim},
		{"no Todo", "", "", Request{Key: "k"}, todo.CodeInvalidClaim},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := by("agent-b", tt.id)
			c.Operation = "refused"
			d.in(t).refused(tt.want, "refused", func() error {
				_, err := d.ClaimWithLease(d.ctx(), c, tt.owner, &tt.r)
				return err
			})
		})
	}
	proved := by("agent-b", "todo_b")
	proved.Proof = todo.ProofOf("k", 1)
	d.refused(todo.CodeInvalidClaim, "", func() error {
		_, err := d.ClaimWithLease(d.ctx(), proved, "", nil)
		return err
	})
	// What was refused for its scopes alone may be had with others.
	d.claims(d.ClaimWithLease(d.ctx(), by("agent-b", "todo_b"), "", &Request{Key: "k", WriteScopes: []string{"doc"}}))

	soft := newDesk(t, todo.SoftClaim)
	soft.add("todo_a", todo.AddArgs{})
	soft.refused(todo.CodeClaimLeaseMode, "", func() error {
		_, err := soft.ClaimWithLease(soft.ctx(), by("agent-a", "todo_a"), "", &Request{Key: "k"})
		return err
	})
	if a := soft.claims(soft.ClaimWithLease(soft.ctx(), by("agent-a", "todo_a"), "", nil)); !a.Verified || a.View.ClaimedBy != "agent-a" {
		t.Errorf("a plain claim: got %+v", a)
	}
	soft.add("todo_b", todo.AddArgs{DependsOn: []todo.ID{"todo_a"}})
	if a := soft.claims(soft.ClaimWithLease(soft.ctx(), by("agent-a", "todo_b"), "", nil)); !a.Verified || a.DependencyState != todo.DependenciesPending {
		t.Errorf("a plain claim of what waits: got %+v", a)
	}
}

// A claim is replayed with what is true of it now.
func TestReplayOfAClaimWithALease(t *testing.T) {
	for _, tt := range []struct {
		name  string
		since func(*desk)
		want  todo.Code
	}{
		{"nothing", func(*desk) {}, ""},
		{"the last second", func(d *desk) { d.clock = d.clock.Add(DefaultTTL*time.Second - time.Second) }, ""},
		{"over", func(d *desk) { d.clock = d.clock.Add(DefaultTTL * time.Second) }, todo.CodeModeRequiresLease},
		{"over, and acquired anew", func(d *desk) {
			d.clock = d.clock.Add(DefaultTTL * time.Second)
			d.claims(d.ClaimWithLease(d.ctx(), by("agent-a", "todo_a"), "", &Request{Key: "execution-2"}))
		}, CodeKeyReuse},
		{"released", func(d *desk) {
			c := by("agent-a", "todo_a")
			c.Proof = todo.ProofOf("execution-a", 1)
			d.did(d.Release(d.ctx(), c, todo.ReleaseArgs{}))
		}, todo.CodeClaimOwnerMismatch},
		{"done", func(d *desk) {
			c := by("agent-a", "todo_a")
			c.Proof = todo.ProofOf("execution-a", 1)
			d.did(d.Complete(d.ctx(), c, todo.CompleteArgs{}))
		}, todo.CodeTodoNotOpen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t, todo.HardLease)
			d.add("todo_a", todo.AddArgs{})
			c := by("agent-a", "todo_a")
			c.Operation = "claim-1"
			r := &Request{Key: "execution-a"}
			first := d.claims(d.ClaimWithLease(d.ctx(), c, "", r))
			tt.since(d)
			before := d.tip()
			a := d.claims(d.ClaimWithLease(d.ctx(), c, "", r))
			var got todo.Code
			if a.Refused != nil {
				got = a.Refused.Code
			}
			if a.Status != gitstore.Replayed || got != tt.want || a.Verified != (tt.want == "") || a.Receipt.Revision != first.Revision || d.tip() != before {
				t.Errorf("got %s %q (%v), verified %v; want %q", a.Status, got, a.Refused, a.Verified, tt.want)
			}
			other := *r
			other.TTL = ptr[int64](1)
			var mismatch *gitstore.IdentityError
			if _, err := d.ClaimWithLease(d.ctx(), c, "", &other); !errors.As(err, &mismatch) {
				t.Errorf("with another time to live: got %v", err)
			}
		})
	}
}

func TestVerifyClaimJudgesTheLease(t *testing.T) {
	demo := todo.Goal{ID: "demo", HandoffMode: todo.HardLease, Agents: []todo.Agent{{ID: "agent-a"}, {ID: "agent-b"}}}
	work := todo.Todo{ID: "todo_a", Role: todo.RoleAgent, Status: todo.Open, ArchiveState: todo.Active, Text: "work", ClaimedBy: "agent-a"}
	mine := todo.Holding{Owner: "agent-a", Key: "k", Version: 3, Epoch: 2, Active: true, Live: true, LiveToOthers: true}
	for _, tt := range []struct {
		name   string
		change func(*todo.Goal, *todo.Todo, *todo.Holding)
		want   todo.Code
	}{
		{"renewed since", func(_ *todo.Goal, _ *todo.Todo, h *todo.Holding) { h.Version = 9 }, ""},
		{"over", func(_ *todo.Goal, _ *todo.Todo, h *todo.Holding) { h.Live, h.LiveToOthers = false, false }, todo.CodeModeRequiresLease},
		{"over but for the skew", func(_ *todo.Goal, _ *todo.Todo, h *todo.Holding) { h.Live = false }, todo.CodeModeRequiresLease},
		{"another key", func(_ *todo.Goal, _ *todo.Todo, h *todo.Holding) { h.Key = "l" }, CodeKeyReuse},
		{"another epoch of this key", func(_ *todo.Goal, _ *todo.Todo, h *todo.Holding) { h.Epoch = 3 }, CodeKeyReuse},
		{"another owner", func(_ *todo.Goal, _ *todo.Todo, h *todo.Holding) { h.Owner = "agent-b" }, CodeKeyReuse},
		{"no record", func(_ *todo.Goal, _ *todo.Todo, h *todo.Holding) { *h = todo.Holding{} }, CodeKeyReuse},
		{"not effective", func(g *todo.Goal, _ *todo.Todo, _ *todo.Holding) { g.Agents = g.Agents[1:] }, todo.CodeLeaseClaimDivergence},
		{"blocked comes first", func(_ *todo.Goal, x *todo.Todo, h *todo.Holding) { x.Status, h.Live = todo.Blocked, false }, todo.CodeTodoNotOpen},
		{"another's claim comes first", func(_ *todo.Goal, x *todo.Todo, h *todo.Holding) { x.ClaimedBy, h.Live = "agent-b", false }, todo.CodeClaimOwnerMismatch},
	} {
		g, x, h := demo, work, mine
		tt.change(&g, &x, &h)
		err := verifyClaim(todo.State{Goal: g, Todo: &x, Lease: h}, "todo_a", "agent-a", &View{IdempotencyKey: "k", Epoch: 2})
		if got := todo.CodeOf(err); got != tt.want || err != nil && got == "" {
			t.Errorf("%s: got %q (%v), want %q", tt.name, got, err, tt.want)
		}
	}
	over := mine
	over.Live, over.LiveToOthers = false, false
	if err := verifyClaim(todo.State{Goal: demo, Todo: &work, Lease: over}, "todo_a", "agent-a", nil); err != nil {
		t.Errorf("a claim that no lease came with: got %v", err)
	}
}
