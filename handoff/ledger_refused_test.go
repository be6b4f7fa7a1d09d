package handoff

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// Cases 4, 12 to 14, 17, 18, 26, 27, 29 to 31 and 33: what is refused leaves the ref where it was, and no receipt.
func TestLedgerRefuses(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	early := w.tip()
	used := w.prepareAt(early)
	left, err := w.Prepare(ctx, used)
	w.must(err)
	c := w.call("agent-c")
	c.Todo = "todo_free"
	_, err = w.Add(ctx, c, todo.AddArgs{Text: "Nobody's"})
	w.must(err)
	tip := w.tip()

	prepare := func(change func(*PrepareRequest)) error {
		r := w.prepareAt(tip)
		r.Operation = "fresh"
		change(&r)
		_, err := w.Prepare(ctx, r)
		return err
	}
	inspect := func(change func(*InspectRequest)) error {
		r := inspectRequest("agent-b")
		change(&r)
		_, err := w.Inspect(ctx, r)
		return err
	}
	adopt := func(change func(*AdoptRequest)) error {
		r := w.adoptAt(tip)
		r.Operation = "fresh"
		change(&r)
		_, err := w.Adopt(ctx, r)
		return err
	}
	for _, row := range []struct {
		name string
		do   func() error
		want todo.Code
	}{
		{"unknown goal, prepare", func() error { return prepare(func(r *PrepareRequest) { r.Goal = "other" }) }, CodeNoAuthority},
		{"unknown goal, inspect", func() error { return inspect(func(r *InspectRequest) { r.Goal = "other" }) }, CodeNoAuthority},
		{"unknown goal, adopt", func() error { return adopt(func(r *AdoptRequest) { r.Goal = "other" }) }, CodeNoAuthority},
		{"malformed before unknown goal", func() error { return adopt(func(r *AdoptRequest) { r.Goal, r.Session = "other", "" }) }, todo.CodeInvalidContinuation},
		{"bad context", func() error {
			return prepare(func(r *PrepareRequest) {
				r.Context, r.Rationale, r.SourceRefs = []byte(`{"work_summary":"x","agent_id":"y"}`), nil, nil
			})
		}, todo.CodeInvalidContinuation},
		{"unknown agent, prepare", func() error { return prepare(func(r *PrepareRequest) { r.Agent = "agent-x" }) }, todo.CodeActorNotRegistered},
		{"another letter case, inspect", func() error { return inspect(func(r *InspectRequest) { r.Agent = "Agent-B" }) }, todo.CodeActorNotRegistered},
		{"unknown agent before unknown Todo, adopt", func() error { return adopt(func(r *AdoptRequest) { r.Agent, r.Todo = "agent-x", "todo_x" }) }, todo.CodeActorNotRegistered},
		{"unknown target", func() error { return adopt(func(r *AdoptRequest) { r.Target = "agent-x" }) }, CodeTargetNotRegistered},
		{"for another", func() error { return adopt(func(r *AdoptRequest) { r.Target = "agent-c" }) }, todo.CodeClaimActorMismatch},
		{"unknown Todo, prepare", func() error { return prepare(func(r *PrepareRequest) { r.Todo = "todo_x" }) }, todo.CodeTodoNotFound},
		{"unknown Todo, inspect", func() error { return inspect(func(r *InspectRequest) { r.Todo = "todo_x" }) }, todo.CodeTodoNotFound},
		{"unknown Todo, adopt", func() error {
			return adopt(func(r *AdoptRequest) { r.Todo, r.Artifacts = "todo_x", []string{strings.Repeat("x", 200)} })
		}, todo.CodeTodoNotFound},
		{"unclaimed", func() error { return prepare(func(r *PrepareRequest) { r.Todo = "todo_free" }) }, CodeOwnerRequired},
		{"claimed by another", func() error { return prepare(func(r *PrepareRequest) { r.Agent = "agent-b" }) }, CodeOwnerRequired},
		{"revision moved, prepare", func() error { return prepare(func(r *PrepareRequest) { r.Expected = early }) }, CodeRevisionMismatch},
		{"revision moved, adopt", func() error { return adopt(func(r *AdoptRequest) { r.Expected = left.Revision }) }, CodeRevisionMismatch},
		{"artifact gone and revision moved", func() error {
			return adopt(func(r *AdoptRequest) { r.Expected, r.Artifacts = left.Revision, []string{"gone.md"} })
		}, CodeNotReady},
		{"no workspace", func() error {
			return adopt(func(r *AdoptRequest) { r.Workspace = filepath.Join(w.dir, "decision.md") })
		}, CodeNotReady},
		{"the note's session", func() error { return adopt(func(r *AdoptRequest) { r.Agent, r.Session = "agent-a", "source-session" }) }, CodeNotReady},
		{"no note", func() error { return adopt(func(r *AdoptRequest) { r.Todo = "todo_free" }) }, CodeNotReady},
		{"lease proof, prepare", func() error { return prepare(func(r *PrepareRequest) { r.Proof = todo.ProofOf("k", 3) }) }, todo.CodeModeRequiresLease},
		{"lease proof, adopt", func() error { return adopt(func(r *AdoptRequest) { r.Proof = todo.ProofOf("k", 3) }) }, CodeTransferRequired},
		{"lease proof, its owner", func() error {
			return adopt(func(r *AdoptRequest) { r.Agent, r.Proof = "agent-a", todo.ProofOf("k", 3) })
		}, todo.CodeModeRequiresLease},
	} {
		t.Run(row.name, func(t *testing.T) { w.unmoved(func() { wantCode(t, row.do(), row.want) }) })
	}

	for name, change := range map[string]func(*PrepareRequest){
		"other text":     func(r *PrepareRequest) { r.Rationale = pointer("Another") },
		"other session":  func(r *PrepareRequest) { r.Session = "other" },
		"other revision": func(r *PrepareRequest) { r.Expected = tip },
		"a proof":        func(r *PrepareRequest) { r.Proof = todo.ProofOf("k", 1) },
		"other Todo":     func(r *PrepareRequest) { r.Todo = "todo_free" },
	} {
		t.Run("same id, "+name, func(t *testing.T) {
			r := used
			change(&r)
			w.unmoved(func() {
				_, err := w.Prepare(ctx, r)
				var other *gitstore.IdentityError
				if !errors.As(err, &other) || other.Kind != "handoff prepare" {
					t.Errorf("got %v", err)
				}
			})
		})
	}
	w.unmoved(func() { // a takeover with the id of a prepare
		r := w.adoptAt(tip)
		r.Operation = used.Operation
		_, err := w.Adopt(ctx, r)
		var other *gitstore.IdentityError
		if !errors.As(err, &other) || other.Kind != "handoff prepare" {
			t.Errorf("got %v", err)
		}
	})
	if receipt, err := w.FindReceipt(ctx, "demo", "fresh"); receipt != nil || err != nil {
		t.Errorf("a refusal left a receipt: %v, %v", receipt, err)
	}
	if refs := w.git("for-each-ref", "--format=%(refname)"); refs != "refs/loopx/goals/demo" {
		t.Errorf("refs are %s", refs)
	}
}

// Case 31: in a repository without any goal nothing is created either.
func TestUnknownGoalCreatesNothing(t *testing.T) {
	w := newWorld(t)
	w.git("update-ref", "-d", "refs/loopx/goals/demo")
	_, err := w.Prepare(t.Context(), w.prepareAt(tip))
	wantCode(t, err, CodeNoAuthority)
	_, err = w.Adopt(t.Context(), w.adoptAt(tip))
	wantCode(t, err, CodeNoAuthority)
	if refs := w.git("for-each-ref"); refs != "" {
		t.Errorf("refs are %s", refs)
	}
}

// Case 41: what is not understood is left untouched; prepare and adopt refuse it, inspect names it.
func TestUnsupportedRecords(t *testing.T) {
	for _, row := range []struct {
		name, path, blob string
		inspected        todo.Code // refusal of inspect
	}{
		{"note", todo.NotePath("todo_a"), `{"schema":"loopx.note/2","text":"x"}`, ""},
		{"todo", todo.TodoPath("todo_a"), `{"schema_version":"loopx.todo/2","todo_id":"todo_a"}`, todo.CodeUnsupportedSchema},
	} {
		t.Run(row.name, func(t *testing.T) {
			w, ctx := newWorld(t), t.Context()
			_, err := w.Store.Apply(ctx, gitstore.Operation{
				Ref: "refs/loopx/goals/demo", ID: "foreign", Kind: "test", Goal: "demo", Request: strings.Repeat("0", 64),
				Decide: func(context.Context, *gitstore.Snapshot) (gitstore.Change, error) {
					return gitstore.Change{Subject: "test", Files: map[string][]byte{row.path: []byte(row.blob + "\n")}}, nil
				},
			})
			w.must(err)
			w.unmoved(func() {
				_, err := w.Prepare(ctx, w.prepareAt(w.tip()))
				wantCode(t, err, todo.CodeUnsupportedSchema)
				_, err = w.Adopt(ctx, w.adoptAt(w.tip()))
				wantCode(t, err, todo.CodeUnsupportedSchema)
				p, err := w.Inspect(ctx, InspectRequest{Goal: "demo", Todo: "todo_a", Agent: "agent-a", Session: "s", Workspace: w.dir})
				wantCode(t, err, row.inspected)
				if err == nil && (p.NoteState != todo.NoteUnsupported || p.NoteCode != todo.CodeUnsupportedSchema || p.CanAdopt) {
					t.Errorf("%+v", p)
				}
			})
			if got := w.git("cat-file", "-p", "refs/loopx/goals/demo:"+row.path); got != row.blob {
				t.Errorf("%s was touched: %s", row.path, got)
			}
		})
	}
}

// Cases 32 and 33: what keeps an agent away is the same in inspect and adopt, in a real goal.
func TestKeptAway(t *testing.T) {
	w, ctx := newWorld(t), t.Context()
	_, err := w.Update(ctx, w.call("agent-a"), todo.UpdateArgs{ExcludedAgents: &[]todo.AgentID{"agent-b"}})
	w.must(err)
	left, err := w.Prepare(ctx, w.prepareAt(w.tip()))
	w.must(err)
	check := func(agent todo.AgentID, want todo.Code) {
		t.Helper()
		w.unmoved(func() {
			if p := w.inspect(agent, "target-session"); fmt.Sprint(p.Blockers) != "["+string(want)+"]" {
				t.Errorf("%s: blockers %v, want %s", agent, p.Blockers, want)
			}
			r := w.adoptAt(w.tip())
			r.Agent = agent
			_, err := w.Adopt(ctx, r)
			refusal := wantCode(t, err, want)
			if claim, ok := refusal.Detail["claim"].(map[string]any); !ok || claim["reason_code"] != want {
				t.Errorf("%s: nested %v, want %s", agent, refusal.Detail, want)
			}
		})
	}
	check("agent-b", todo.CodeActorExcluded)
	if p := w.inspect("agent-c", "target-session"); !p.CanAdopt || p.Revision != left.Revision {
		t.Errorf("%+v", p)
	}
	_, err = w.EnableAcceptance(ctx, w.call(""), nil)
	w.must(err)
	check("agent-c", todo.CodeAcceptanceUnbound)
	_, err = w.BindAcceptance(ctx, w.call(""), []todo.ID{"todo_a"})
	w.must(err)
	if p := w.inspect("agent-c", "target-session"); !p.CanAdopt {
		t.Errorf("%+v", p)
	}
	_, err = w.RemoveAgent(ctx, w.call("agent-a"))
	w.must(err)
	check("agent-c", todo.CodeClaimOwnerMismatch)
}

// Case 45: inspect writes nothing at all, neither in the git directory nor in the work tree.
func TestInspectWritesNothing(t *testing.T) {
	w := newWorld(t)
	_, err := w.Prepare(t.Context(), w.prepareAt(w.tip()))
	w.must(err)
	before := fingerprint(t, w.dir)
	for _, agent := range []todo.AgentID{"agent-a", "agent-b", "agent-b"} {
		l := Ledger{lease.New(w.open(), w.Now, nil)}
		if _, err := l.Inspect(t.Context(), InspectRequest{
			Goal: "demo", Todo: "todo_a", Agent: agent, Session: "x", Workspace: w.dir, Artifacts: []string{"decision.md", "gone"},
		}); err != nil {
			t.Fatal(err)
		}
	}
	if after := fingerprint(t, w.dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
