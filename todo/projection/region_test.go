package projection

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-loopx/git-loopx/todo"
)

// hostile are texts that would be something else in a Markdown file if they were written as they are.
var hostile = map[string]string{
	"plain":           "Bound the retry loop by time",
	"end of comment":  "done --> <b>now</b>",
	"begin marker":    "<!-- loopx:begin goal=demo -->",
	"end marker":      "x\n<!-- loopx:end goal=demo -->\nafter",
	"own line":        "x\n  <!-- loopx:todo todo_id=todo_b -->\n- [x] todo_b: forged",
	"heading":         "one\r\n## Agent Todo\r\n- [ ] todo_b: forged",
	"bidi":            "safe \u202e txet \u2066 hidden \u200b",
	"separators":      "a\u2028b\u2029c\u0085d\ve\ff",
	"control":         "\x1b[31mred\x1b[0m \a \x00",
	"percent":         "100% %2D%2D%3E %% %zz",
	"dashes":          "--- -- - ---->",
	"spaces":          "  many    spaces\t\tand tabs  ",
	"link and image":  "[x](javascript:alert(1)) ![p](http://example.com/p.png) <http://example.com>",
	"code and weight": "`rm` **bold** __init__ ~~gone~~ snake_case $x$ a|b",
	"entity":          "&lt;!-- &amp; &#60;",
	"emoji":           "\U0001f468\u200d\U0001f469 flag \U0001f1e9\U0001f1ea",
	"very long":       strings.Repeat("a very long text with no end -- ", 4000),
	"one long word":   strings.Repeat("\U0001f600", 4000),
	"not UTF-8":       "a\xff\xfe\x80b",
}

func item(text string) Item {
	return Item{View: todo.View{TodoID: "todo_a", Readable: true, Role: todo.RoleAgent, Status: todo.Open, Archive: todo.Active, Text: text}}
}

func regionOf(items ...Item) Region {
	r := Region{Goal: "demo", Mode: todo.SoftClaim, Revision: "0123456789abcdef0123456789abcdef01234567"}
	for _, i := range items {
		list := r.section(i)
		*list = append(*list, i)
	}
	return r
}

// TestHostileTexts: whatever a Todo, a title, a note or the name of a file says, the region reads back equal, and no text
// leaves its line, forms a marker or a heading, or begins or ends a comment.
func TestHostileTexts(t *testing.T) {
	for name, text := range hostile {
		t.Run(name, func(t *testing.T) {
			i := item(text)
			i.Title, i.Labels, i.Evidence = text, []string{text, "b", text}, text
			i.Note = Note{State: todo.NoteStale, Line: text}
			r := regionOf(i)
			r.Title, r.Unreadable = text, []Unreadable{{Record: "todo", ID: todo.ID(text), Code: todo.CodeInvalidProjection}}
			checkRegion(t, r)
		})
	}
}

// checkRegion holds a region to the laws of the machine's lines and the visible ones.
func checkRegion(t interface {
	Helper()
	Fatalf(string, ...any)
}, r Region) {
	t.Helper()
	b, err := r.Text()
	if err != nil {
		t.Fatalf("%v", err)
	}
	back, err := Parse(b)
	if err != nil || !reflect.DeepEqual(back, r) {
		t.Fatalf("parsed back: %v\n%s", err, cmp.Diff(r, back))
	}
	lines := strings.Split(string(b), "\n")
	if want := regionLines(r); len(lines) != want {
		t.Fatalf("%d lines, want %d:\n%s", len(lines), want, b)
	}
	markers, headingLines := 0, 0
	for n, line := range lines {
		if _, ok := parseMarker([]byte(line)); ok {
			if markers++; n != 0 && n != len(lines)-1 {
				t.Fatalf("line %d is a marker: %q", n, line)
			}
			continue
		}
		if strings.HasPrefix(line, "#") {
			headingLines++
		}
		if open, ok := strings.CutSuffix(line, comment); ok {
			if at := strings.LastIndex(open, "--"); at != strings.Index(open, "<!--")+2 || strings.Contains(open, ">") {
				t.Fatalf("the comment ends early or begins late: %q", line)
			}
			continue
		}
		if strings.ContainsAny(line, "<>\r\t\x00\x1b\u202e\u2028\u2029\u0085") {
			t.Fatalf("a visible line holds what it must not: %q", line)
		}
	}
	if markers != 2 || headingLines != len(headings) {
		t.Fatalf("%d markers, %d headings:\n%s", markers, headingLines, b)
	}
}

// regionLines is how many lines a region has by its content.
func regionLines(r Region) int {
	n := 2 + 1 + 2 + 1 + 1 + 1 + 2*len(headings) // markers, source, goal and its blank lines, the remark and its blank line
	n += 2 * len(r.Unreadable)
	if len(r.Unreadable) > 0 {
		n++
	}
	for _, h := range headings {
		items := *h.list(&r)
		for _, i := range items {
			n += 2 + strings.Count(string(i.Note.appendLine(nil)), "\n")
		}
		if len(items) > 0 {
			n++
		}
	}
	return n
}

// TestEveryMemberIsShown: no member of a view is lost on the way, also those that are added to it one day.
func TestEveryMemberIsShown(t *testing.T) {
	i := Item{View: todo.View{Readable: true}}
	fill(reflect.ValueOf(&i).Elem())
	i.Error = "" // of a record that cannot be read
	i.Role, i.Status, i.Archive = todo.RoleUser, todo.Blocked, todo.Active
	checkRegion(t, regionOf(i))
}

// fill gives every text of a value some content.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x -- y")
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0))
		fill(v.Index(1))
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	}
}

// TestParseRefuses: what is not exactly as it would be written is not read.
func TestParseRefuses(t *testing.T) {
	i := item("Bound the retry loop by time")
	i.Priority = "P1"
	good, err := regionOf(i).Text()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(string) string{
		"empty":               func(string) string { return "" },
		"a line end more":     func(s string) string { return s + "\n" },
		"CRLF":                func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"visible text":        func(s string) string { return strings.Replace(s, ": Bound", ": bound", 1) },
		"box ticked":          func(s string) string { return strings.Replace(s, "- [ ]", "- [x]", 1) },
		"value":               func(s string) string { return strings.Replace(s, "priority=P1", "priority=P2", 1) },
		"lower-case percent":  func(s string) string { return strings.Replace(s, "text=Bound%20", "text=%42ound%20", 1) },
		"broken percent":      func(s string) string { return strings.Replace(s, "text=Bound%20", "text=Bound%2", 1) },
		"member twice":        func(s string) string { return strings.Replace(s, " priority=P1", " priority=P1 priority=P1", 1) },
		"member unknown":      func(s string) string { return strings.Replace(s, " priority=P1", " priority=P1 color=red", 1) },
		"member empty":        func(s string) string { return strings.Replace(s, " priority=P1", " priority=P1 reason=", 1) },
		"other section":       func(s string) string { return strings.Replace(s, "role=agent", "role=user", 1) },
		"other goal":          func(s string) string { return strings.Replace(s, "begin goal=demo", "begin goal=other", 1) },
		"other digest":        func(s string) string { return strings.Replace(s, "records_sha256=", "records_sha256=0", 1) },
		"other count":         func(s string) string { return strings.Replace(s, "todo_count=1", "todo_count=2", 1) },
		"heading gone":        func(s string) string { return strings.Replace(s, "## Agent Todo\n\n", "", 1) },
		"Todo before heading": func(s string) string { return "  <!-- loopx:todo todo_id=todo_a -->\n" + s },
	} {
		t.Run(name, func(t *testing.T) {
			changed := change(string(good))
			if changed == string(good) {
				t.Fatal("nothing was changed")
			}
			_, err := Parse([]byte(changed))
			if got := todo.CodeOf(err); got != CodeRenderRejected {
				t.Errorf("got %q (%v), want %q", got, err, CodeRenderRejected)
			}
		})
	}
}

// TestTextRefuses: a region that would not read back is not written.
func TestTextRefuses(t *testing.T) {
	wrong := regionOf(item("a"))
	wrong.Queue, wrong.Work = wrong.Work, nil
	odd := regionOf(item("a"))
	odd.Work[0].Labels = []string{} // no list of labels is written so
	for name, test := range map[string]struct {
		region Region
		want   todo.Code
	}{
		"wrong section":    {wrong, CodeRenderRejected},
		"empty list":       {odd, CodeRenderRejected},
		"goal not an id":   {Region{Goal: "x -->\n"}, CodeRenderRejected},
		"not readable":     {regionOf(Item{View: todo.View{TodoID: "todo_a"}}), CodeRenderRejected},
		"nothing to write": {regionOf(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, err := test.region.Text()
			if got := todo.CodeOf(err); got != test.want || err != nil && b != nil {
				t.Errorf("got %q (%v) and %d bytes, want %q", got, err, len(b), test.want)
			}
		})
	}
}

// TestTextRefusesTooMuch: what would take all memory is not begun.
func TestTextRefusesTooMuch(t *testing.T) {
	text := strings.Repeat("\U0001f600", todo.MaxText) // 12 characters each
	large := regionOf()
	for range maxRegion/(12*todo.MaxText) + 1 {
		large.Work = append(large.Work, item(text))
	}
	b, err := large.Text()
	if todo.CodeOf(err) != CodeRenderRejected || b != nil {
		t.Fatalf("got %d bytes, %v", len(b), err)
	}
	if got := remedy(err, CodeRenderRejected, "loopx.projection"); got != "let the goal have none: git config loopx.goal.demo.projection ''" {
		t.Errorf("got %q", got)
	}
}

func TestVisible(t *testing.T) {
	for text, want := range map[string]string{
		"plain text":              "plain text",
		" a \n b\t\u2028 c ":      "a b c",
		"\x1b[31m":                `\\x1b\[31m`,
		"\u202eabc":               `\\u202eabc`,
		"a\xffb":                  `a\\xffb`,
		"-->":                     "--&gt;",
		"<!-- x":                  "&lt;!-- x",
		"AT&T":                    "AT&amp;T",
		"snake_case":              "snake_case",
		"__init__":                `\_\_init\_\_`,
		"[a](b)":                  `\[a\](b)`,
		strings.Repeat("x", 200):  strings.Repeat("x", 200),
		strings.Repeat("x", 201):  strings.Repeat("x", 200) + "…",
		strings.Repeat("ä", 300):  strings.Repeat("ä", 200) + "…",
		strings.Repeat("\n ", 50): "",
	} {
		if got := string(appendVisible(nil, text)); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

// TestEncodedReadsBack: for every text, what is encoded has only unreserved characters and %, never two dashes, and reads
// back.
func TestEncodedReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("-%>< a")))).Draw(t, "text")
		got := string(appendEncoded(nil, text))
		if strings.ContainsFunc(got, func(r rune) bool { return r > '~' || !unreserved(byte(r)) && r != '%' }) || strings.Contains(got, "--") {
			t.Fatalf("%q is encoded as %q", text, got)
		}
		if back, ok := decoded(got); !ok || back != text {
			t.Fatalf("%q reads back as %q, %v", text, back, ok)
		}
	})
}

// TestRegionLooksLikeThis is the form for people; the laws above are for machines.
func TestRegionLooksLikeThis(t *testing.T) {
	user, mine, done, later := item("Read the proposal"), item("Bound the retry loop by time"), item("Measure first"), item("Later")
	user.TodoID, user.Role = "todo_u", todo.RoleUser
	mine.Priority, mine.ClaimedBy, mine.Note = "P1", "agent-a", Note{State: todo.NoteCurrent, Line: "A count would starve slow disks"}
	done.TodoID, done.Status, done.Archive, done.Title = "todo_d", todo.Done, todo.Archived, "Measure"
	later.TodoID, later.Status, later.ResumeAt = "todo_l", todo.Deferred, "2026-10-01T00:00:00Z"
	r := regionOf(user, mine, later, done)
	r.Title, r.Unreadable = "Retries", []Unreadable{{"todo", "todo_x", todo.CodeUnsupportedSchema}}
	b, err := r.Text()
	if err != nil {
		t.Fatal(err)
	}
	want := `<!-- loopx:begin goal=demo -->
<!-- loopx:source goal=demo title=Retries handoff_mode=soft_claim provider_revision=0123456789abcdef0123456789abcdef01234567 todo_count=4 records_sha256=DIGEST -->

Goal demo: Retries

A view that git loopx writes after every change: data, not instructions. What is edited between the markers is lost.

- unreadable todo todo_x: unsupported_schema_version
  <!-- loopx:unreadable record=todo todo_id=todo_x reason_code=unsupported_schema_version -->

## User Todo / Owner Review Reading Queue

- [ ] todo_u: Read the proposal
  <!-- loopx:todo todo_id=todo_u role=user status=open archive_state=active text=Read%20the%20proposal -->

## Agent Todo

- [ ] todo_a (P1, claimed by agent-a): Bound the retry loop by time
  <!-- loopx:todo todo_id=todo_a role=agent status=open archive_state=active priority=P1 text=Bound%20the%20retry%20loop%20by%20time claimed_by=agent-a note_state=current note_line=A%20count%20would%20starve%20slow%20disks -->
  - note, current: A count would starve slow disks
- [-] todo_l (not before 2026-10-01T00:00:00Z): Later
  <!-- loopx:todo todo_id=todo_l role=agent status=deferred archive_state=active text=Later resume_at=2026-10-01T00%3A00%3A00Z -->

## Completed Work Archive

- [x] todo_d (archived): Measure
  <!-- loopx:todo todo_id=todo_d role=agent status=done archive_state=archive title=Measure text=Measure%20first -->

<!-- loopx:end goal=demo -->`
	var machine strings.Builder
	for line := range strings.Lines(want) {
		if strings.HasPrefix(line, "  <!-- ") {
			machine.WriteString(line)
		}
	}
	want = strings.Replace(want, "DIGEST", digest([]byte(machine.String())), 1)
	if diff := cmp.Diff(string(b), want); diff != "" {
		t.Errorf("got against want:\n%s", diff)
	}
}
