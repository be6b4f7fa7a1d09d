package lease

import (
	"maps"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/todo"
)

// desk is a fixture without Todos, in a mode.
type desk struct{ *fixture }

func newDesk(t testing.TB, mode todo.Mode) *desk {
	t.Helper()
	d := &desk{newFixture(t)}
	d.git("-C", d.dir, "config", "maintenance.auto", "false") // it would outlive the test
	d.put(map[string][]byte{todo.TodoPath("todo_a"): nil})
	if _, err := d.SetMode(d.ctx(), todo.Call{Goal: "demo"}, mode); err != nil {
		t.Fatal(err)
	}
	return d
}

// in is the desk for a test below: its clock stays where it is.
func (d *desk) in(t testing.TB) *desk {
	below := *d.fixture
	below.t = t
	return &desk{&below}
}

// named is the call of an agent with an operation id, on no Todo.
func named(a todo.AgentID, operation string) todo.Call {
	return todo.Call{Goal: "demo", Agent: a, Operation: operation}
}

// did returns the answer of a call that succeeds.
func (d *desk) did(a todo.Answer, err error) todo.Answer {
	d.t.Helper()
	d.must(err)
	return a
}

func (d *desk) claims(a ClaimAnswer, err error) ClaimAnswer {
	d.t.Helper()
	d.must(err)
	return a
}

func (d *desk) applies(a BatchAnswer, err error) BatchAnswer {
	d.t.Helper()
	d.must(err)
	return a
}

// refused checks the code of a refusal, that the ref did not move, and that the operation id stays unused. It returns
// the refusal.
func (d *desk) refused(want todo.Code, operation string, call func() error) *todo.Refusal {
	d.t.Helper()
	var r *todo.Refusal
	d.unmoved(want, func() error {
		err := call()
		r = todo.AsRefusal(err)
		return err
	})
	if operation != "" {
		if receipt, err := d.FindReceipt(d.ctx(), "demo", operation); err != nil || receipt != nil {
			d.t.Errorf("%s: got the receipt %v, %v", want, receipt, err)
		}
	}
	if r == nil {
		d.t.FailNow()
	}
	return r
}

// filesOf are the files of a goal's tip but its receipts.
func (d *desk) filesOf(g todo.GoalID) map[string]string {
	d.t.Helper()
	s, err := d.Load(d.ctx(), g)
	d.must(err)
	files := map[string]string{}
	d.must(s.Walk(d.ctx(), func(path string, blob []byte) error {
		files[path] = string(blob)
		return nil
	}))
	maps.DeleteFunc(files, func(path, _ string) bool { return strings.HasPrefix(path, "receipts/") })
	return files
}

// todoOn is a Todo as it is stored.
func (d *desk) todoOn(id todo.ID) todo.Todo {
	d.t.Helper()
	t, err := todo.DecodeTodo(id, d.file(todo.TodoPath(id)))
	d.must(err)
	return t
}

// nested is the nested result of an answer.
func nested[T any](t testing.TB, a todo.Answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(a.Receipt.Result, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
