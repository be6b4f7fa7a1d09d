package projection

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strconv"
	"strings"

	"github.com/git-loopx/git-loopx/todo"
)

// How the machine's lines begin and end.
const (
	itemOpen       = "  <!-- loopx:todo"
	unreadableOpen = "  <!-- loopx:unreadable"
	sourceOpen     = "<!-- loopx:source"
	comment        = " -->"
)

// maxRegion is the most that the machine's lines of a region may take, in bytes. Nobody reads more, and making it takes
// about ten times as much memory.
const maxRegion = 32 << 20

// Text is the region as it is written: from its begin marker to its end marker, lines end in LF, the last one in nothing.
// What it returns was parsed back and is equal; else, and where it would be larger than [maxRegion], the refusal is
// todo_projection_render_rejected.
func (r Region) Text() ([]byte, error) {
	if r.size() > maxRegion {
		return nil, mended{
			refused(CodeRenderRejected, todo.Failed, "goal %s: its Markdown view would be larger than 32 MiB", r.Goal),
			"let the goal have none: git config " + ownKey(r.Goal) + " ''",
		}
	}
	b := r.render()
	if back, err := Parse(b); err != nil || !reflect.DeepEqual(back, r) {
		return nil, mended{
			refused(CodeRenderRejected, todo.Failed, "goal %s: its Markdown view does not read back as it was written", r.Goal),
			"report that: it is a defect of this program",
		}
	}
	return b, nil
}

func (r Region) render() []byte {
	body := make([]byte, 0, 512*(r.Count()+len(r.Unreadable))+512)
	digest := sha256.New()
	// machine appends a machine's line, which the digest covers.
	machine := func(line func([]byte) []byte) {
		from := len(body)
		body = append(line(body), '\n')
		digest.Write(body[from:])
	}
	for i := range r.Unreadable {
		u := &r.Unreadable[i]
		body = append(u.appendLine(body), '\n')
		machine(func(b []byte) []byte { return appendMembers(b, unreadableOpen, unreadableMembers, u) })
	}
	if len(r.Unreadable) > 0 {
		body = append(body, '\n')
	}
	for _, h := range headings {
		body = append(append(body, h.line...), "\n\n"...)
		items := *h.list(&r)
		for i := range items {
			item := &items[i]
			body = append(item.appendLine(body), '\n')
			machine(func(b []byte) []byte { return appendMembers(b, itemOpen, itemMembers, item) })
			body = item.Note.appendLine(body)
		}
		if len(items) > 0 {
			body = append(body, '\n')
		}
	}

	s := source{region: r, count: strconv.Itoa(r.Count()), digest: hex.EncodeToString(digest.Sum(nil))}
	b := make([]byte, 0, len(body)+1024)
	b = append(b, marker{begin, r.Goal}.String()...)
	b = append(b, '\n')
	b = appendMembers(b, sourceOpen, sourceMembers, &s)
	b = append(b, "\n\nGoal "...)
	b = appendVisible(b, string(r.Goal))
	if r.Title != "" {
		b = appendVisible(append(b, ": "...), r.Title)
	}
	b = append(b, "\n\nA view that git loopx writes after every change: data, not instructions. What is edited between the markers is lost.\n\n"...)
	b = append(b, body...)
	return append(b, marker{end, r.Goal}.String()...)
}

// size is about how many bytes the machine's lines take.
func (r *Region) size() int {
	n := 0
	for i := range r.Unreadable {
		n += sizeOf(unreadableMembers, &r.Unreadable[i])
	}
	for _, h := range headings {
		items := *h.list(r)
		for i := range items {
			n += sizeOf(itemMembers, &items[i])
		}
	}
	return n
}

func sizeOf[T any](members []member[T], t *T) int {
	n := 0
	for i := range members {
		members[i].get(t, func(value string) { n += len(members[i].name) + encodedSize(value) })
	}
	return n
}

// appendMembers appends a machine's line without its line end.
func appendMembers[T any](b []byte, open string, members []member[T], t *T) []byte {
	b = append(b, open...)
	for i := range members {
		name := members[i].name
		members[i].get(t, func(value string) {
			b = append(append(append(b, ' '), name...), '=')
			b = appendEncoded(b, value)
		})
	}
	return append(b, comment...)
}

// appendLine appends the checkbox line of a Todo, without its line end. Its text comes last, so that nothing it says can
// pass for what is known of it.
func (i *Item) appendLine(b []byte) []byte {
	box := " "
	switch i.Status {
	case todo.Done:
		box = "x"
	case todo.Deferred:
		box = "-"
	}
	b = append(b, "- ["+box+"] "...)
	b = appendVisible(b, string(i.TodoID))
	var facts []string
	fact := func(what, value string) {
		if value != "" {
			facts = append(facts, what+value)
		}
	}
	fact("", i.Priority)
	if i.Status == todo.Blocked {
		fact("", "blocked")
	}
	if i.Archive == todo.Archived {
		fact("", "archived")
	}
	fact("not before ", string(i.ResumeAt))
	fact("superseded by ", string(i.SupersededBy))
	fact("claimed by ", string(i.ClaimedBy))
	if len(facts) > 0 {
		b = append(appendVisible(append(b, " ("...), strings.Join(facts, ", ")), ')')
	}
	headline := i.Title
	if headline == "" {
		headline = i.Text
	}
	return appendVisible(append(b, ": "...), headline)
}

// appendLine appends the line of a note with its line end; nothing where nothing is shown.
func (n Note) appendLine(b []byte) []byte {
	if n.State == "" || n.State == todo.NoteMissing {
		return b
	}
	b = appendVisible(append(b, "  - note, "...), string(n.State))
	if what := n.Line + string(n.Code); what != "" {
		b = appendVisible(append(b, ": "...), what)
	}
	return append(b, '\n')
}

// appendLine appends the line of a record that cannot be read, without its line end.
func (u *Unreadable) appendLine(b []byte) []byte {
	b = appendVisible(append(b, "- unreadable "...), u.Record)
	b = appendVisible(append(b, ' '), string(u.ID))
	return appendVisible(append(b, ": "...), string(u.Code))
}
