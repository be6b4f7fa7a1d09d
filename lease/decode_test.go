package lease

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

// records returns the leases below testdata/records/<dir>, by name without ".json".
func records(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../testdata/records", dir, "lease_*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no records %s: %v", dir, err)
	}
	found := map[string][]byte{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		found[strings.TrimSuffix(filepath.Base(f), ".json")] = b
	}
	return found
}

func TestRecordsOK(t *testing.T) {
	for name, b := range records(t, "ok") {
		if r := CheckFile("demo", todo.LeasePath("todo_a"), b); r != nil {
			t.Errorf("%s: %v", name, r)
		}
		l, err := DecodeLease("demo", "todo_a", b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, err := EncodeLease(l); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%s: written back as %s, %v", name, again, err)
		}
	}
}

func TestRecordsBad(t *testing.T) {
	file := todo.LeasePath("todo_a")
	for name, b := range records(t, "bad") {
		want := todo.CodeInvalidProjection
		if strings.Contains(name, "future_schema") {
			want = todo.CodeUnsupportedSchema
		}
		r := CheckFile("demo", file, b)
		if r == nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if r.Code != want || r.Status != todo.Failed || r.Detail["record"] != file || !strings.HasPrefix(r.Reason, "lease on todo_a: ") {
			t.Errorf("%s: got %s, %s, %v, %q, want %s", name, r.Code, r.Status, r.Detail, r.Reason, want)
		}
	}
}

func TestUnsupportedRecordNamesItsVersion(t *testing.T) {
	_, err := DecodeLease("demo", "todo_a", records(t, "bad")["lease_future_schema"])
	if want := `lease on todo_a: schema "loopx.lease/2" is not known to this version`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestCheckFilePlaces(t *testing.T) {
	lease := records(t, "ok")["lease_1_active"]
	for _, c := range []struct {
		file string
		want todo.Code
	}{
		{todo.LeasePath("todo_a"), ""},
		{todo.LeasePath("todo_b"), todo.CodeInvalidProjection},
		{"leases/todo_a.json", todo.CodeInvalidProjection},
		{"leases/00/todo_a.json", todo.CodeInvalidProjection},
		{"leases/00/Todo.json", todo.CodeInvalidProjection},
		{todo.TodoPath("todo_a"), todo.CodeUnsupportedSchema},
		{"receipts/00/x.json", ""},
	} {
		r := CheckFile("demo", c.file, lease)
		if r == nil && c.want != "" || r != nil && r.Code != c.want {
			t.Errorf("%s: got %v, want %q", c.file, r, c.want)
		}
	}
}

func TestLeasesThatWouldNotBeReadAreNotWritten(t *testing.T) {
	for name, change := range map[string]func(*Lease){
		"no owner":         func(l *Lease) { l.Owner = "" },
		"unsorted scopes":  func(l *Lease) { l.WriteScopes = []string{"b", "a"} },
		"released, no end": func(l *Lease) { l.Status = Released },
		"version 0":        func(l *Lease) { l.Version = 0 },
		"no clock note":    func(l *Lease) { l.Clock = ClockNote{} },
	} {
		l := held()
		change(&l)
		if b, err := EncodeLease(l); err == nil {
			t.Errorf("%s: got %s", name, b)
		}
	}
}

// Whatever DecodeLease accepts, EncodeLease writes back byte for byte, and so does the lease once released.
func FuzzDecodeLease(f *testing.F) {
	for _, dir := range []string{"ok", "bad"} {
		for _, b := range records(f, dir) {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := DecodeLease("demo", "todo_a", b)
		if err != nil {
			r := todo.AsRefusal(err)
			if r == nil || r.Status != todo.Failed || r.Code != todo.CodeUnsupportedSchema && r.Code != todo.CodeInvalidProjection {
				t.Fatalf("%v is not a refusal of stored data", err)
			}
			return
		}
		if again, err := EncodeLease(l); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("written back as %s, %v", again, err)
		}
		h, err := l.Holding(now, MaxSkew)
		if err != nil || (h.Released != nil) != h.Active || h.Live && !h.LiveToOthers {
			t.Fatalf("judged as %+v, %v", h, err)
		}
		if h.Active {
			if _, err := DecodeLease("demo", "todo_a", h.Released); err != nil {
				t.Fatalf("released as %s: %v", h.Released, err)
			}
		}
	})
}
