package lease

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/todo"
)

func scopesOverlap(a, b string) bool {
	_, _, found := overlap(reaches([]string{a}), reaches([]string{b}))
	return found
}

func TestWriteScopes(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"src/**", "src/a.go", true},
		{"src", "src/a.go", true},
		{"src", "src", true},
		{"src/", "src/a.go", true},
		{"src", "srcs", false},
		{"src/a", "src/b", false},
		{"Src/a", "src/A", true},
		{"É/a", "é/a", true},
		{".", "src", true},
		{".", ".", true},
		{"./src", "src/a.go", true},
		{"./src", "test", false},
		{"*", "src", true},
		{"**/a.go", "test/b.go", true},
		{"src/?.go", "src/long.go", true},
		{"src/a*.go", "src/b.go", true},
		{"src/*/x", "test/y", false},
		{"src/a/*", "src/b/*", false},
		{"src/a/*", "src/*", true},
		{"src//a", "src/a", true},
	} {
		if got := scopesOverlap(c.a, c.b); got != c.want {
			t.Errorf("%s and %s: got %v, want %v", c.a, c.b, got, c.want)
		}
		if got := scopesOverlap(c.b, c.a); got != c.want {
			t.Errorf("%s and %s: got %v, want %v", c.b, c.a, got, c.want)
		}
	}
	for _, lists := range [][2][]string{{nil, {"src"}}, {{"src"}, nil}, {nil, nil}, {nil, {"."}}} {
		if _, _, found := overlap(reaches(lists[0]), reaches(lists[1])); found {
			t.Errorf("%q and %q: an empty list is nothing", lists[0], lists[1])
		}
	}
}

func TestConflicts(t *testing.T) {
	on := func(id todo.ID, scope string, effective bool) Other {
		l := held()
		l.Todo, l.WriteScopes = id, []string{"other", scope}
		return Other{l, effective}
	}
	got := conflicts([]string{"docs", "src/a.go"}, []Other{on("todo_d", "src/**", true), on("todo_c", "srcs", true), on("todo_b", "SRC", true), on("todo_e", "src", false)})
	want := []Conflict{
		{"todo_b", "agent-a", "SRC", "src/a.go", "2026-09-13T10:45:00Z"},
		{"todo_d", "agent-a", "src/**", "src/a.go", "2026-09-13T10:45:00Z"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Two scopes overlap exactly if what counts of one, as a path, is that of the other or a directory above it; whoever asks.
func FuzzScopesOverlap(f *testing.F) {
	for _, s := range [][2]string{{"src/**", "src/a.go"}, {"src", "srcs"}, {"Src/a", "src/A"}, {".", "x"}, {"a//b", "a/b/?"}, {"ſ", "s"}, {"./*", "K/k"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		got := scopesOverlap(a, b)
		if back := scopesOverlap(b, a); back != got {
			t.Fatalf("%q and %q: %v, the other way round %v", a, b, got, back)
		}
		if !scopesOverlap(a, a) {
			t.Fatalf("%q does not overlap itself", a)
		}
		x, y := counted(a), counted(b)
		n := min(strings.Count(x, "/"), strings.Count(y, "/")) // segments, each with its slash
		if want := strings.EqualFold(upTo(x, n), upTo(y, n)); got != want {
			t.Fatalf("%q and %q: got %v, want %v", a, b, got, want)
		}
	})
}

// counted is what counts of a scope, with a slash after each segment.
func counted(scope string) string {
	path := ""
	for s := range strings.SplitSeq(scope, "/") {
		if strings.ContainsAny(s, "*?") {
			break
		}
		if s != "" && s != "." {
			path += s + "/"
		}
	}
	return path
}

// upTo cuts a path after n segments.
func upTo(path string, n int) string {
	at := 0
	for range n {
		at += strings.IndexByte(path[at:], '/') + 1
	}
	return path[:at]
}
