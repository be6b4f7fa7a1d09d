package lease

import (
	"fmt"
	"sync"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

func TestClaimReady(t *testing.T) {
	for _, mode := range []todo.Mode{todo.SoftClaim, todo.HardLease} {
		t.Run(string(mode), func(t *testing.T) {
			d := newDesk(t, mode)
			request := func(key string) *Request {
				if mode == todo.SoftClaim {
					return nil
				}
				return &Request{Key: key}
			}
			d.add("todo_low", todo.AddArgs{Priority: "P3"})
			d.add("todo_high", todo.AddArgs{Priority: "P0"})
			d.add("todo_user", todo.AddArgs{Priority: "P0", Role: todo.RoleUser})
			c := named("agent-a", "ready-1")
			dry := c
			dry.DryRun = true
			tip := d.tip()
			if a := d.claims(d.ClaimReady(d.ctx(), dry, request("k"))); a.Status != gitstore.Planned || a.Todo != "todo_high" || a.View.ClaimedBy != "agent-a" || a.Verified || d.tip() != tip {
				t.Errorf("dry run: got %+v", a)
			}
			first := d.claims(d.ClaimReady(d.ctx(), c, request("k")))
			if first.Status != gitstore.Applied || first.Todo != "todo_high" || first.View.ClaimedBy != "agent-a" || !first.Verified || first.Kind != "todo ready" || first.Receipt.Todo != "todo_high" {
				t.Errorf("got %+v", first)
			}
			if r := nested[todo.ClaimResult](t, first.Answer); r.Authority.Command != "todo ready" || r.TodoID != "todo_high" {
				t.Errorf("got the result %+v", r)
			}
			if b := d.file(todo.LeasePath("todo_high")); (b != nil) != (mode == todo.HardLease) {
				t.Errorf("got the lease %s", b)
			}
			again := d.claims(d.ClaimReady(d.ctx(), c, request("k")))
			if again.Status != gitstore.Replayed || again.Todo != "todo_high" || !again.Verified {
				t.Errorf("again: got %+v", again)
			}
			second := d.claims(d.ClaimReady(d.ctx(), by("agent-a", ""), request("k")))
			if second.Todo != "todo_low" || second.View.ClaimedBy != "agent-a" {
				t.Errorf("what is mine already is not handed out again: got %+v", second)
			}
			before := d.tip()
			none := d.claims(d.ClaimReady(d.ctx(), named("agent-b", "ready-2"), request("k")))
			if !none.Nothing || none.Status != gitstore.NoChange || none.Revision != before || none.Todo != "" || none.View != nil || d.tip() != before {
				t.Errorf("nothing ready: got %+v", none)
			}
			if r, err := d.FindReceipt(d.ctx(), "demo", "ready-2"); err != nil || r != nil {
				t.Errorf("nothing ready: got the receipt %v, %v", r, err)
			}
			d.add("todo_new", todo.AddArgs{})
			if a := d.claims(d.ClaimReady(d.ctx(), named("agent-b", "ready-2"), request("k"))); a.Todo != "todo_new" || a.Status != gitstore.Applied {
				t.Errorf("the same id, when there is work: got %+v", a)
			}
		})
	}
}

func TestClaimReadyRefused(t *testing.T) {
	hard, soft := newDesk(t, todo.HardLease), newDesk(t, todo.SoftClaim)
	for _, tt := range []struct {
		name string
		desk *desk
		call todo.Call
		r    *Request
		want todo.Code
	}{
		{"no request", hard, named("agent-a", "x"), nil, todo.CodeModeRequiresLease},
		{"a request", soft, named("agent-a", "x"), &Request{Key: "k"}, todo.CodeClaimLeaseMode},
		{"no key", hard, named("agent-a", "x"), &Request{}, CodeInvalidKey},
		{"no agent", soft, named("", "x"), nil, todo.CodeActorRequired},
		{"a stranger", soft, named("Agent-A", "x"), nil, todo.CodeActorNotRegistered},
		{"no such goal", soft, todo.Call{Goal: "absent", Agent: "agent-a"}, nil, todo.CodeGoalNotFound},
		{"malformed", soft, todo.Call{Goal: "Demo", Agent: "agent-a"}, nil, todo.CodeInvalidClaim},
		{"a proof", soft, todo.Call{Goal: "demo", Agent: "agent-a", Proof: todo.ProofOf("k", 1)}, nil, todo.CodeInvalidClaim},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.desk.in(t).refused(tt.want, tt.call.Operation, func() error {
				_, err := tt.desk.ClaimReady(tt.desk.ctx(), tt.call, tt.r)
				return err
			})
		})
	}
	// The Todo whose turn it is cannot be leased, and there is no other: it is named.
	hard.add("todo_a", todo.AddArgs{RequiredWriteScopes: []string{"src"}})
	hard.claims(hard.ClaimWithLease(hard.ctx(), by("agent-a", "todo_a"), "", &Request{Key: "k"}))
	hard.add("todo_b", todo.AddArgs{RequiredWriteScopes: []string{"src/b"}})
	r := hard.refused(CodeWriteScopeConflict, "x", func() error {
		_, err := hard.ClaimReady(hard.ctx(), named("agent-b", "x"), &Request{Key: "k"})
		return err
	})
	if r.Detail["todo_id"] != todo.ID("todo_b") {
		t.Errorf("got %v", r.Detail)
	}
	// Where there is another, that is taken.
	hard.add("todo_c", todo.AddArgs{Priority: "P4", RequiredWriteScopes: []string{"doc"}})
	hard.add("todo_d", todo.AddArgs{RequiredWriteScopes: []string{"test"}})
	a, err := hard.ClaimReady(hard.ctx(), named("agent-b", "x"), &Request{Key: "k"})
	if err != nil || a.Todo != "todo_c" || a.View.ClaimedBy != "agent-b" {
		t.Errorf("got %v, %v, want todo_c", a.Todo, err)
	}
}

// Eight agents take twenty Todos as fast as they can, each as a process of its own: every Todo has exactly one winner,
// and none is lost.
func TestClaimReadyAtOnce(t *testing.T) {
	const agents, todos = 8, 20
	for _, mode := range []todo.Mode{todo.SoftClaim, todo.HardLease} {
		t.Run(string(mode), func(t *testing.T) {
			d := newDesk(t, mode)
			d.git("-C", d.dir, "config", "loopx.timeout", "2m")
			for i := range agents {
				d.did(d.AddAgent(d.ctx(), by(todo.AgentID(fmt.Sprintf("worker-%d", i)), ""), ""))
			}
			var lines []byte
			for i := range todos {
				lines = fmt.Appendf(lines, `{"op":"add","todo_id":"todo_%02d","text":"work %d","priority":"P%d"}`+"\n", i, i, i%5)
			}
			d.applies(d.ApplyBatch(d.ctx(), named("agent-a", "fill"), lines))
			won := make([]map[todo.ID]bool, agents)
			var all sync.WaitGroup
			for i := range agents {
				agent, ledger := todo.AgentID(fmt.Sprintf("worker-%d", i)), d.open(byte(2+i))
				won[i] = map[todo.ID]bool{}
				all.Go(func() {
					for n := 0; ; n++ {
						var r *Request
						if mode == todo.HardLease {
							r = &Request{Key: fmt.Sprint("k", n)}
						}
						a, err := ledger.ClaimReady(d.ctx(), named(agent, fmt.Sprintf("%s-%d", agent, n)), r)
						if err != nil {
							t.Error(err)
							return
						}
						if a.Nothing {
							return
						}
						won[i][a.Todo] = true
					}
				})
			}
			all.Wait()
			winners := 0
			for i := range todos {
				id := todo.ID(fmt.Sprintf("todo_%02d", i))
				owner := d.todoOn(id).ClaimedBy
				for w := range won {
					if won[w][id] {
						winners++
						if want := todo.AgentID(fmt.Sprintf("worker-%d", w)); owner != want {
							t.Errorf("%s: claimed by %q, and %s was told that it has it", id, owner, want)
						}
					}
				}
				if mode == todo.HardLease {
					if l := d.lease(id); l.Owner != owner || l.Version != 1 {
						t.Errorf("%s: claimed by %s with the lease %+v", id, owner, l)
					}
				}
			}
			if winners != todos {
				t.Errorf("%d Todos have %d winners", todos, winners)
			}
			d.git("-C", d.dir, "fsck", "--strict")
		})
	}
}
