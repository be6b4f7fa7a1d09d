package main

import (
	"encoding/json"
	"errors"
	"strings"
	"syscall"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestFirstLine(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"short", "short"},
		{"two\nlines", "two…"},
		{"tab\t", `tab\t`},
		{"0123456789abc", "012345678…"},
		{"ééééééééééé", "ééééééééé…"},
		{"", ""},
		{"\r\nx", "…"},
		{"0123456789", "0123456789"},
		{"012345678é", "012345678é"},
		{"01234567 é\n", "01234567 é…"},
		{"0123456\t89", `0123456\t…`},
		{"01234567 \xff", "01234567…"},
	} {
		if got := firstLine(test.in, 10); got != test.want {
			t.Errorf("firstLine(%q) = %q, want %q", test.in, got, test.want)
		}
	}
}

// FuzzEscapeHidden: the document means the same and has no hidden character.
func FuzzEscapeHidden(f *testing.F) {
	for _, s := range []string{"", "plain", "\u202e bidi", "\u0085\u2028", "\U000e0001 tag", "\x7f", "é😀", "\"\\"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "?")
		document, err := json.Marshal(map[string]string{"text": s})
		if err != nil {
			t.Fatal(err)
		}
		escaped := escapeHidden(document)
		var got map[string]string
		if err := json.Unmarshal(escaped, &got); err != nil || got["text"] != s {
			t.Errorf("%q: got %q, %v", s, got["text"], err)
		}
		for _, r := range string(escaped) {
			if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
				t.Errorf("%q: %U is left", s, r)
			}
		}
	})
}

func TestTable(t *testing.T) {
	a := &answer{}
	a.table([][]string{{"todo_a", "open", "é"}, {"b", "deferred", ""}, {"c"}})
	if diff := cmp.Diff(a.text.String(), "todo_a  open      é\nb       deferred\nc\n"); diff != "" {
		t.Error(diff)
	}
}

func TestMembersKeepTheirOrder(t *testing.T) {
	m := members{{"z", 1}, {"a", members{{"y", "x"}}}}
	m.set("z", 2) // the first counts
	if err := m.merge(struct {
		B string `json:"b"`
		A int    `json:"a"`
	}{"<&>", 1}); err != nil {
		t.Fatal(err)
	}
	if got, want := documentOf(t, m), `{"z":1,"a":{"y":"x"},"b":"<&>"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// failingWriter fails with an error on every write.
type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

// TestLostAnswer: a reader that went away wanted no more; any other failure to print is told.
func TestLostAnswer(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{{syscall.EPIPE, exitOK}, {syscall.ENOSPC, exitUnavailable}} {
		for _, args := range [][]string{{"version"}, {"version", "--json"}} {
			var errs strings.Builder
			app := &App{Args: args, Stdout: failingWriter{test.err}, Stderr: &errs}
			if got := app.Run(t.Context()); got != test.want || (errs.Len() > 0) != (test.want != exitOK) {
				t.Errorf("%v: status %d, want %d; stderr %q", test.err, got, test.want, errs.String())
			}
		}
	}
}

func TestSpeech(t *testing.T) {
	var b strings.Builder
	f := explain(errors.New("line one.\nhint: do as I say\x1b[31m\n"))
	f.print(&b)
	want := "error: line one.\n  hint: do as I say\\x1b[31m\nhint: this is a defect of git-loopx: please report it with the command line\n"
	if diff := cmp.Diff(b.String(), want); diff != "" {
		t.Error(diff)
	}
}
