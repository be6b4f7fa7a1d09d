package lease

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// lines is a batch.
func lines(text ...string) []byte { return []byte(strings.Join(text, "\n") + "\n") }

// brief is what is worth comparing of the lines of an answer.
func brief(a BatchAnswer) []string {
	var all []string
	for _, l := range a.Lines {
		all = append(all, fmt.Sprintf("%d %s %s %v", l.Line, l.Op, l.TodoID, l.Changed))
	}
	return all
}

func TestBatch(t *testing.T) {
	d := newDesk(t, todo.SoftClaim)
	before := d.tip()
	batch := lines(
		`{"op":"add","todo_id":"todo_a","text":"first","priority":"P1","label":["x"]}`,
		`{"op":"add","todo_id":"todo_b","text":"second","depends_on":["todo_a"],"claimed_by":"agent-a"}`,
		`{"op":"add","text":"third"}`,
		`{"op":"claim","todo_id":"todo_a"}`,
		`{"op":"note","todo_id":"todo_a","text":"read the log"}`,
		`{"op":"update","todo_id":"todo_a","title":"First","clear_priority":true}`,
		`{"op":"complete","todo_id":"todo_a","evidence":"log","successor":["todo_b"]}`,
		`{"op":"complete","todo_id":"todo_b"}`,
		`{"op":"reopen","todo_id":"todo_b","reason":"again"}`,
		`{"op":"release","todo_id":"todo_b"}`,
		`{"op":"claim","todo_id":"todo_b"}`,
		`{"op":"add","todo_id":"todo_c","text":"fourth"}`,
		`{"op":"supersede","todo_id":"todo_b","by":"todo_c"}`,
		`{"op":"archive","todo_id":"todo_a"}`,
		`{"op":"archive","todo_id":"todo_a"}`,
	)
	c := named("agent-a", "batch-1")

	dry := c
	dry.DryRun = true
	planned := d.applies(d.ApplyBatch(d.ctx(), dry, batch))
	if planned.Status != gitstore.Planned || len(planned.Lines) != 15 || d.tip() != before {
		t.Errorf("dry run: got %+v", planned)
	}

	a := d.applies(d.ApplyBatch(d.ctx(), c, batch))
	if a.Status != gitstore.Applied || !a.Changed || a.Kind != "todo apply" || a.Todo != "" || a.View != nil || a.Revision != d.tip() || a.Receipt.Revision != d.tip() {
		t.Errorf("got %+v", a)
	}
	if parent := d.git("-C", d.dir, "rev-parse", "refs/loopx/goals/demo~1"); parent != string(before) {
		t.Errorf("more than one commit: %s follows %s", d.tip(), parent)
	}
	drawn := a.Lines[2].TodoID
	if !drawn.Valid() || drawn == planned.Lines[2].TodoID {
		t.Errorf("drawn id %q, of the dry run %q", drawn, planned.Lines[2].TodoID)
	}
	want := []string{
		"1 add todo_a true", "2 add todo_b true", "3 add " + string(drawn) + " true", "4 claim todo_a true", "5 note todo_a true",
		"6 update todo_a true", "7 complete todo_a true", "8 complete todo_b true", "9 reopen todo_b true", "10 release todo_b true",
		"11 claim todo_b true", "12 add todo_c true", "13 supersede todo_b true", "14 archive todo_a true", "15 archive todo_a false",
	}
	if diff := cmp.Diff(want, brief(a)); diff != "" {
		t.Error(diff)
	}
	if got := d.todoOn("todo_a"); got.Status != todo.Done || got.ArchiveState != todo.Archived || got.Title != "First" || got.Priority != "" || got.ClaimedBy != "agent-a" {
		t.Errorf("todo_a: got %+v", got)
	}
	if got := d.todoOn("todo_b"); got.SupersededBy != "todo_c" || got.Status != todo.Done {
		t.Errorf("todo_b: got %+v", got)
	}
	if r := nested[BatchResult](t, a.Answer); r.Schema != BatchSchema || !r.Changed {
		t.Errorf("got the result %+v", r)
	}
	var added todo.AddResult
	if err := json.Unmarshal(a.Lines[1].Result, &added); err != nil || added.Claim == nil || added.Claim.ClaimedBy != "agent-a" {
		t.Errorf("line 2: got %s, %v", a.Lines[1].Result, err)
	}
	d.git("-C", d.dir, "fsck", "--strict")

	// Case 80: the same again tells the same ids and writes nothing, also from another process.
	tip := d.tip()
	for _, ledger := range []*Ledger{d.Ledger, d.open(2)} {
		again := d.applies(ledger.ApplyBatch(d.ctx(), c, batch))
		if diff := cmp.Diff(a.Lines, again.Lines); again.Status != gitstore.Replayed || again.Refused != nil || d.tip() != tip || diff != "" {
			t.Errorf("again: got %+v %s", again, diff)
		}
	}
}

func TestBatchIdentity(t *testing.T) {
	d := newDesk(t, todo.SoftClaim)
	c := named("agent-a", "batch-1")
	first := d.applies(d.ApplyBatch(d.ctx(), c, lines(`{"op":"add","todo_id":"todo_a","text":"work","label":["b","a"]}`, `{"op":"claim","todo_id":"todo_a"}`)))
	want, err := canonical.Digest(map[string]any{"kind": "todo apply", "goal_id": "demo", "agent_id": "agent-a", "operations": []any{
		map[string]any{"op": "add", "todo_id": "todo_a", "role": "agent", "text": "work", "label": []string{"a", "b"}},
		map[string]any{"op": "claim", "todo_id": "todo_a", "claimed_by": "agent-a"},
	}})
	if err != nil || first.Receipt.Request != want {
		t.Errorf("request: got %s, want %s, %v", first.Receipt.Request, want, err)
	}
	same := d.applies(d.ApplyBatch(d.ctx(), c, lines(`{ "text":"work", "todo_id":"todo_a","op":"add","label":["a","b","a"], "role":"agent" }`, `{"claimed_by":"agent-a","op":"claim","todo_id":"todo_a"}`)))
	if same.Status != gitstore.Replayed {
		t.Errorf("written otherwise: got %+v", same)
	}
	for name, other := range map[string][]byte{
		"another text":  lines(`{"op":"add","todo_id":"todo_a","text":"other","label":["b","a"]}`, `{"op":"claim","todo_id":"todo_a"}`),
		"another order": lines(`{"op":"claim","todo_id":"todo_a"}`, `{"op":"add","todo_id":"todo_a","text":"work","label":["b","a"]}`),
		"one line less": lines(`{"op":"add","todo_id":"todo_a","text":"work","label":["b","a"]}`),
	} {
		var mismatch *gitstore.IdentityError
		if _, err := d.ApplyBatch(d.ctx(), c, other); !errors.As(err, &mismatch) || mismatch.Kind != "todo apply" {
			t.Errorf("%s: got %v", name, err)
		}
	}
	none := d.applies(d.ApplyBatch(d.ctx(), by("agent-a", ""), lines(`{"op":"claim","todo_id":"todo_a"}`, `{"op":"update","todo_id":"todo_a","text":"work"}`)))
	if none.Status != gitstore.NoChange || none.Changed || nested[BatchResult](t, none.Answer).Changed {
		t.Errorf("nothing changes: got %+v", none)
	}
}

func TestBatchRefused(t *testing.T) {
	d := newDesk(t, todo.SoftClaim)
	d.add("todo_a", todo.AddArgs{})
	d.add("todo_b", todo.AddArgs{})
	d.did(d.Claim(d.ctx(), by("agent-b", "todo_a"), ""))
	good := `{"op":"claim","todo_id":"todo_b"}`
	add := `{"op":"add","todo_id":"todo_new","text":"new"}`
	long := strings.Repeat("x", 4001)
	for _, tt := range []struct {
		name string
		text []byte
		want todo.Code // of the batch
		line int
		op   string
		own  todo.Code // of the line
	}{
		{"case 80: another's Todo", lines(good, add, `{"op":"claim","todo_id":"todo_a"}`, `{"op":"archive","todo_id":"todo_x"}`), todo.CodeClaimOwnerMismatch, 3, "claim", todo.CodeClaimOwnerMismatch},
		{"first of two", lines(`{"op":"complete","todo_id":"todo_b"}`, `{"op":"claim","todo_id":"todo_a"}`), todo.CodeClaimOwnerMismatch, 1, "complete", todo.CodeClaimOwnerMismatch},
		{"absent", lines(add, `{"op":"archive","todo_id":"todo_x"}`), todo.CodeTodoNotFound, 2, "archive", todo.CodeTodoNotFound},
		{"added by an earlier line", lines(add, add), todo.CodeTodoExists, 2, "add", todo.CodeTodoExists},
		{"added by a later line", lines(`{"op":"claim","todo_id":"todo_new"}`, add), todo.CodeTodoNotFound, 1, "claim", todo.CodeTodoNotFound},
		{"done by an earlier line", lines(good, `{"op":"complete","todo_id":"todo_b"}`, `{"op":"update","todo_id":"todo_b","title":"t"}`), todo.CodeUpdateTarget, 3, "update", todo.CodeUpdateTarget},
		{"depends on a later line", lines(`{"op":"add","todo_id":"todo_new","text":"new","depends_on":["todo_late"]}`, `{"op":"add","todo_id":"todo_late","text":"late"}`), todo.CodeDependencyInvalid, 1, "add", todo.CodeDependencyInvalid},
		{"a lease in a soft goal", lines(good, `{"op":"claim","todo_id":"todo_b","task_lease_idempotency_key":"k"}`), todo.CodeClaimLeaseMode, 2, "claim", todo.CodeClaimLeaseMode},
		{"a text that is too long", lines(good, `{"op":"add","text":"`+long+`"}`), todo.CodeInvalidBatch, 2, "add", todo.CodeInvalidAdd},
		{"nothing to update", lines(good, `{"op":"update","todo_id":"todo_b"}`), todo.CodeInvalidBatch, 2, "update", todo.CodeInvalidUpdate},
		{"no Todo", lines(`{"op":"claim"}`), todo.CodeInvalidBatch, 1, "claim", todo.CodeInvalidClaim},
		{"part of an id", lines(`{"op":"reopen","todo_id":"TODO_b"}`), todo.CodeInvalidBatch, 1, "reopen", todo.CodeInvalidLifecycle},
		{"override without a reason", lines(`{"op":"release","todo_id":"todo_a","override":true}`), todo.CodeInvalidBatch, 1, "release", todo.CodeInvalidClaim},
		{"a time to live that is none", lines(`{"op":"claim","todo_id":"todo_b","task_lease_idempotency_key":"k","ttl_seconds":0}`), todo.CodeInvalidBatch, 1, "claim", CodeInvalidTTL},
		{"a lease without a key", lines(`{"op":"claim","todo_id":"todo_b","ttl_seconds":60}`), todo.CodeInvalidBatch, 1, "claim", CodeInvalidKey},
		{"a proof that no lease has", lines(`{"op":"release","todo_id":"todo_b","lease_proof":{"idempotency_key":"a b","expected_version":1}}`), todo.CodeInvalidBatch, 1, "release", todo.CodeInvalidClaim},
		{"what cannot be read", lines(good, add, `{"op":"claim"`), todo.CodeInvalidBatch, 3, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := d.in(t)
			records := d.filesOf("demo")
			r := d.refused(tt.want, "refused", func() error {
				_, err := d.ApplyBatch(d.ctx(), named("agent-a", "refused"), tt.text)
				return err
			})
			if diff := cmp.Diff(records, d.filesOf("demo")); diff != "" {
				t.Error(diff)
			}
			if r.Detail["line"] != tt.line || tt.op != "" && r.Detail["op"] != tt.op {
				t.Errorf("got %v, want line %d, %s", r.Detail, tt.line, tt.op)
			}
			if tt.own == "" {
				return
			}
			var result struct {
				OK   bool      `json:"ok"`
				Code todo.Code `json:"reason_code"`
				Said string    `json:"reason"`
			}
			value, _ := r.Detail["result"].(jsontext.Value)
			if err := json.Unmarshal(value, &result); err != nil || result.OK || result.Code != tt.own || !strings.HasSuffix(r.Reason, ": "+result.Said) {
				t.Errorf("got the result %s of %q, %v", value, r.Reason, err)
			}
		})
	}
	owner := d.refused(todo.CodeClaimOwnerMismatch, "", func() error {
		_, err := d.ApplyBatch(d.ctx(), by("agent-a", ""), lines(`{"op":"claim","todo_id":"todo_a"}`))
		return err
	})
	if owner.Detail["claimed_by"] != todo.AgentID("agent-b") || owner.Detail["todo_id"] != todo.ID("todo_a") || owner.Status != todo.Rejected {
		t.Errorf("the members of the line's own refusal: got %+v", owner)
	}
}

func TestBatchOrderOfChecks(t *testing.T) {
	d := newDesk(t, todo.SoftClaim)
	good := lines(`{"op":"add","todo_id":"todo_a","text":"work"}`)
	for _, tt := range []struct {
		name string
		call todo.Call
		text []byte
		want todo.Code
	}{
		{"malformed goal", todo.Call{Goal: "Demo"}, good, todo.CodeInvalidBatch},
		{"malformed operation", named("agent-a", " x"), good, todo.CodeInvalidBatch},
		{"a proof of the batch", todo.Call{Goal: "demo", Agent: "agent-a", Proof: todo.ProofOf("k", 1)}, good, todo.CodeInvalidBatch},
		{"malformed lines before an absent goal", todo.Call{Goal: "absent"}, lines("x"), todo.CodeInvalidBatch},
		{"absent goal", todo.Call{Goal: "absent"}, good, todo.CodeGoalNotFound},
		{"no agent", named("", "x"), good, todo.CodeActorRequired},
		{"a stranger", named("Agent-A", "x"), good, todo.CodeActorNotRegistered},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d.in(t).refused(tt.want, "", func() error {
				_, err := d.ApplyBatch(d.ctx(), tt.call, tt.text)
				return err
			})
		})
	}
	var mismatch *gitstore.MismatchError
	pinned := named("agent-a", "pinned")
	pinned.Expected = d.tip()
	d.add("todo_b", todo.AddArgs{})
	if _, err := d.ApplyBatch(d.ctx(), pinned, good); !errors.As(err, &mismatch) || mismatch.Current != d.tip() {
		t.Errorf("a revision that moved: got %v", err)
	}
	pinned.Expected = d.tip()
	if a := d.applies(d.ApplyBatch(d.ctx(), pinned, good)); a.Status != gitstore.Applied {
		t.Errorf("the tip: got %+v", a)
	}
}

// In one batch a lease is taken, its scopes are in the way of another, and it is proved, ended and taken anew.
func TestBatchWithLeases(t *testing.T) {
	d := newDesk(t, todo.HardLease)
	adds := []string{`{"op":"add","todo_id":"todo_a","text":"a","required_write_scope":["src/**"]}`, `{"op":"add","todo_id":"todo_b","text":"b"}`}
	take := `{"op":"claim","todo_id":"todo_a","task_lease_idempotency_key":"k1","task_lease_expected_version":0}`
	for _, tt := range []struct {
		name string
		text []string
		want todo.Code
		line int
	}{
		{"without a lease", []string{`{"op":"claim","todo_id":"todo_a"}`}, todo.CodeModeRequiresLease, 3},
		{"an overlapping scope", []string{take, `{"op":"claim","todo_id":"todo_b","task_lease_idempotency_key":"k1","write_scope":["src/b.go"]}`}, CodeWriteScopeConflict, 4},
		{"no proof", []string{take, `{"op":"note","todo_id":"todo_a","text":"n"}`}, todo.CodeLeaseFenceRequired, 4},
		{"another version", []string{take, `{"op":"note","todo_id":"todo_a","text":"n","lease_proof":{"idempotency_key":"k1","expected_version":2}}`}, todo.CodeVersionMismatch, 4},
		{"the key again", []string{take, `{"op":"release","todo_id":"todo_a","lease_proof":{"idempotency_key":"k1","expected_version":1}}`, strings.Replace(take, `"task_lease_expected_version":0`, `"task_lease_expected_version":1`, 1)}, CodeKeyReuse, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := d.in(t).refused(tt.want, "refused", func() error {
				_, err := d.ApplyBatch(d.ctx(), named("agent-a", "refused"), lines(append(append([]string{}, adds...), tt.text...)...))
				return err
			})
			if r.Detail["line"] != tt.line {
				t.Errorf("got %v", r.Detail)
			}
		})
	}
	a := d.applies(d.ApplyBatch(d.ctx(), named("agent-a", "batch-1"), lines(append(adds, take,
		`{"op":"note","todo_id":"todo_a","text":"n","lease_proof":{"idempotency_key":"k1","expected_version":1}}`,
		`{"op":"release","todo_id":"todo_a","lease_proof":{"idempotency_key":"k1","expected_version":1}}`,
		`{"op":"claim","todo_id":"todo_a","task_lease_idempotency_key":"k2","task_lease_expected_version":1,"ttl_seconds":60,"write_scope":["doc"]}`,
		`{"op":"claim","todo_id":"todo_b","task_lease_idempotency_key":"k1","write_scope":["src"]}`,
		`{"op":"complete","todo_id":"todo_b","lease_proof":{"idempotency_key":"k1","expected_version":1}}`,
	)...)))
	if a.Status != gitstore.Applied {
		t.Errorf("got %+v", a)
	}
	if l := d.lease("todo_a"); l.Key != "k2" || l.Version != 2 || l.Epoch != 2 || l.TTL != 60 || l.Status != Active {
		t.Errorf("todo_a: got %+v", l)
	}
	if l := d.lease("todo_b"); l.Status != Released || d.todoOn("todo_b").Status != todo.Done {
		t.Errorf("todo_b: got %+v", l)
	}
}

// Two processes apply overlapping batches at once: each whole, in some order, and nothing of the one that is refused.
func TestBatchesAtOnce(t *testing.T) {
	for round := range 5 {
		d := newDesk(t, todo.SoftClaim)
		d.add("todo_prize", todo.AddArgs{})
		agents := []todo.AgentID{"agent-a", "agent-b"}
		errs := make([]error, 2)
		var all sync.WaitGroup
		for i, agent := range agents {
			ledger, other := d.open(byte(2+2*i)), d.open(byte(3+2*i))
			all.Go(func() {
				var text []string
				for n := range 10 {
					text = append(text, fmt.Sprintf(`{"op":"add","todo_id":"todo_%d_%d","text":"%s %d"}`, i, n, agent, n))
				}
				text = append(text, `{"op":"claim","todo_id":"todo_prize"}`)
				_, errs[i] = ledger.ApplyBatch(d.ctx(), named(agent, "batch-"+string(agent)), lines(text...))
			})
			all.Go(func() { // keeps the tip moving
				c := named(agent, fmt.Sprint("other-", i))
				if _, err := other.ApplyBatch(d.ctx(), c, lines(`{"op":"add","text":"`+string(agent)+`"}`)); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		records := d.filesOf("demo")
		for i, agent := range agents {
			won := d.todoOn("todo_prize").ClaimedBy == agent
			if (errs[i] == nil) != won || !won && (todo.CodeOf(errs[i]) != todo.CodeClaimOwnerMismatch || todo.AsRefusal(errs[i]).Detail["line"] != 11) {
				t.Errorf("round %d: %s, won %v: got %v", round, agent, won, errs[i])
			}
			for n := range 10 {
				if _, there := records[todo.TodoPath(todo.ID(fmt.Sprintf("todo_%d_%d", i, n)))]; there != won {
					t.Errorf("round %d: %s, won %v: line %d there is %v", round, agent, won, n+1, there)
				}
			}
		}
	}
}
