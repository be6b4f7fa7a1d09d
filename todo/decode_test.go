package todo

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// records returns the files below testdata/records/<dir> that belong to this package, by name without ".json".
func records(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	for _, kind := range []string{"goal", "todo", "note"} {
		files, err := filepath.Glob(filepath.Join("../testdata/records", dir, kind+"_*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no records %s of kind %s: %v", dir, kind, err)
		}
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found[strings.TrimSuffix(filepath.Base(f), ".json")] = b
		}
	}
	return found
}

// place is where a record of testdata stands in the tree of goal demo.
func place(name string) string {
	switch kind, _, _ := strings.Cut(name, "_"); kind {
	case "goal":
		return GoalPath
	case "todo":
		return TodoPath("todo_a")
	default:
		return NotePath("todo_a")
	}
}

func TestRecordsOK(t *testing.T) {
	for name, b := range records(t, "ok") {
		if r := CheckFile("demo", place(name), b); r != nil {
			t.Errorf("%s: %v", name, r)
		}
		var again []byte
		var err error
		switch place(name) {
		case GoalPath:
			g, _ := DecodeGoal("demo", b)
			again, err = EncodeGoal(g)
		case TodoPath("todo_a"):
			x, _ := DecodeTodo("todo_a", b)
			again, err = EncodeTodo(x)
		default:
			continue
		}
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: written back as %s, %v", name, again, err)
		}
	}
}

func TestRecordsBad(t *testing.T) {
	for name, b := range records(t, "bad") {
		want := CodeInvalidProjection
		if strings.Contains(name, "future_schema") {
			want = CodeUnsupportedSchema
		}
		r := CheckFile("demo", place(name), b)
		if r == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if r.Code != want || r.Status != Failed || r.Detail["record"] != place(name) {
			t.Errorf("%s: got %s, %s, %v, want %s", name, r.Code, r.Status, r.Detail, want)
		}
	}
}

func TestUnsupportedRecordNamesItsVersion(t *testing.T) {
	_, err := DecodeTodo("todo_a", records(t, "bad")["todo_future_schema"])
	if want := `todo todo_a: schema "loopx.todo/2" is not known to this version`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCheckFilePlaces(t *testing.T) {
	todo := records(t, "ok")["todo_1"]
	lease := []byte(`{"schema_version":"loopx.lease/1"}` + "\n")
	for _, c := range []struct {
		file string
		blob []byte
		want Code
	}{
		{TodoPath("todo_a"), todo, ""},
		{TodoPath("todo_b"), todo, CodeInvalidProjection},
		{"todos/todo_a.json", todo, CodeInvalidProjection},
		{"todos/00/todo_a.json", todo, CodeInvalidProjection},
		{"todos/00/Todo.json", todo, CodeInvalidProjection},
		{"other/00/todo_a.json", todo, CodeInvalidProjection},
		{"README", nil, CodeInvalidProjection},
		{"receipts/00/x.json", nil, ""},
		{LeasePath("todo_a"), lease, CodeUnsupportedSchema},
		{LeasePath("todo_a"), []byte("{}\n"), CodeInvalidProjection},
	} {
		r := CheckFile("demo", c.file, c.blob)
		if r == nil && c.want != "" || r != nil && r.Code != c.want {
			t.Errorf("%s: got %v, want %q", c.file, r, c.want)
		}
	}
}

func TestRecordsThatWouldNotBeReadAreNotWritten(t *testing.T) {
	todo := vectorTodo()
	todo.Labels = []string{"b", "a"}
	if b, err := EncodeTodo(todo); err == nil {
		t.Errorf("got %s", b)
	}
	goal := demo().Goal
	goal.HandoffMode = "legacy"
	if b, err := EncodeGoal(goal); err == nil {
		t.Errorf("got %s", b)
	}
}
