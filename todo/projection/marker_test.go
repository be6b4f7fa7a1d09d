package projection

import (
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

const (
	beginDemo  = "<!-- loopx:begin goal=demo -->"
	endDemo    = "<!-- loopx:end goal=demo -->"
	beginOther = "<!-- loopx:begin goal=other -->"
	endOther   = "<!-- loopx:end goal=other -->"
)

// TestSplice: R is the new region of goal demo, in two lines.
func TestSplice(t *testing.T) {
	region := beginDemo + "\n" + endDemo
	for _, test := range []struct{ name, file, want string }{
		{"no content", "", "R\n"},
		{"appended", "text\n", "text\nR\n"},
		{"appended to a line without end", "text", "text\nR\n"},
		{"appended to CRLF", "a\r\nb", "a\r\nb\r\nR\r\n"},
		{"appended to both", "a\r\nb\n", "a\r\nb\nR\n"},
		{"replaced", "before\n\n" + beginDemo + "\nold\n" + endDemo + "\n after", "before\n\nR\n after"},
		{"replaced, nothing else", beginDemo + "\nold\n" + endDemo, "R"},
		{"replaced, nothing else, CRLF", beginDemo + "\r\nold\r\n" + endDemo, "R"},
		{"CRLF around", "a\r\n" + beginDemo + "\nold\n" + endDemo + "\r\nb\r\n", "a\r\nR\r\nb\r\n"},
		{"both around", "a\r\n" + beginDemo + "\r\nold\r\n" + endDemo + "\nb", "a\r\nR\nb"},
		{"beside another goal", beginOther + "\nx\n" + endOther + "\n", beginOther + "\nx\n" + endOther + "\nR\n"},
		{"between others", beginOther + "\n" + endOther + "\n" + beginDemo + "\n" + endDemo + "\n<!-- loopx:begin goal=third -->\n<!-- loopx:end goal=third -->",
			beginOther + "\n" + endOther + "\nR\n<!-- loopx:begin goal=third -->\n<!-- loopx:end goal=third -->"},
		{"indented is text", " " + beginDemo + "\n", " " + beginDemo + "\nR\n"},
		{"more on the line is text", beginDemo + " \n", beginDemo + " \nR\n"},
		{"a goal that is none is text", "<!-- loopx:begin goal=De mo -->\n", "<!-- loopx:begin goal=De mo -->\nR\n"},
		{"a longer name is another goal", strings.ReplaceAll(beginDemo+"\n"+endDemo, "demo", "demo2"), strings.ReplaceAll(beginDemo+"\n"+endDemo, "demo", "demo2") + "\nR\n"},
		{"bytes that are no text", "\xff\x00\r", "\xff\x00\r\nR\n"},
		{"line ends inside say nothing", "a\n" + beginDemo + "\r\nold\r\n" + endDemo + "\n", "a\nR\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := Splice([]byte(test.file), "demo", []byte(region))
			if err != nil {
				t.Fatal(err)
			}
			shown := strings.NewReplacer(region, "R", strings.ReplaceAll(region, "\n", "\r\n"), "R").Replace(string(got))
			if shown != test.want {
				t.Errorf("got %q, want %q", shown, test.want)
			}
			if strings.Contains(test.name, "CRLF") != strings.Contains(string(got), beginDemo+"\r\n") {
				t.Errorf("line ends of the region: %q", got)
			}
			again, err := Splice(got, "demo", []byte(region))
			if err != nil || string(again) != string(got) {
				t.Errorf("once more: %v, %q", err, again)
			}
		})
	}
}

// TestSpliceRefuses: markers that do not pair up, of whatever goal, are left to a person.
func TestSpliceRefuses(t *testing.T) {
	pair, other := beginDemo+"\n"+endDemo+"\n", beginOther+"\n"+endOther+"\n"
	for name, file := range map[string]string{
		"doubled":                 pair + pair,
		"begin doubled":           beginDemo + "\n" + pair,
		"end doubled":             pair + endDemo,
		"begin alone":             "a\n" + beginDemo + "\nb\n",
		"end alone":               "a\n" + endDemo + "\nb\n",
		"reversed":                endDemo + "\n" + beginDemo + "\n",
		"crossed":                 beginDemo + "\n" + beginOther + "\n" + endDemo + "\n" + endOther + "\n",
		"ends crossed":            beginDemo + "\n" + endOther + "\n" + beginOther + "\n" + endDemo + "\n",
		"another within":          beginDemo + "\n" + other + endDemo + "\n",
		"within another":          beginOther + "\n" + pair + endOther + "\n",
		"another's end within":    beginDemo + "\n" + endOther + "\n" + endDemo + "\n",
		"another's is half":       pair + beginOther + "\n",
		"another's is doubled":    other + other,
		"CRLF, end alone":         "a\r\n" + endDemo + "\r\n",
		"no line end, begin":      beginDemo,
		"CR at the end":           "a\n" + endDemo + "\r",
		"another's half, no mine": beginOther + "\ntext\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Splice([]byte(file), "demo", []byte(beginDemo+"\n"+endDemo))
			if code := todo.CodeOf(err); code != CodeRenderRejected || got != nil {
				t.Errorf("got %q, code %q (%v), want %q", got, code, err, CodeRenderRejected)
			}
			if err != nil && !strings.Contains(err.Error(), "line ") {
				t.Errorf("the reason names no line: %v", err)
			}
		})
	}
}
