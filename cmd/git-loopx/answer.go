package main

import (
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// resultSchema names the form of every JSON answer. Members are only ever added to it; else the number changes.
const resultSchema = "loopx.result/1"

// answer is what a command has to say, in both forms at once.
type answer struct {
	members members         // of the JSON document, after ok, action and schema
	text    strings.Builder // for a person; foreign text in it is visible already
	notes   []string        // what a person should know besides; on stderr, after the text
	// refused makes the answer ok:false although something is shown: a replay whose authority is gone.
	refused *failure
	// exit is the status of an answer that is ok but found something (doctor, fsck).
	exit int
	// view is the view that follows a mutation; nil where none does.
	view *viewOf
}

// member is one member of a JSON object.
type member struct {
	name  string
	value any
}

// members is a JSON object whose members stay in their order. The first of two members of one name counts.
type members []member

func (m *members) set(name string, value any) { *m = append(*m, member{name, value}) }

// setGiven adds a member unless it would say nothing.
func (m *members) setGiven(name, value string) {
	if value != "" {
		m.set(name, value)
	}
}

// distinct yields the members in their order, of each name the first.
func (m members) distinct() iter.Seq[member] {
	return func(yield func(member) bool) {
		seen := make(map[string]bool, len(m))
		for _, x := range m {
			if !seen[x.name] && !yield(x) {
				return
			}
			seen[x.name] = true
		}
	}
}

// MarshalJSONTo writes the object in its order.
func (m members) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for x := range m.distinct() {
		if err := e.WriteToken(jsontext.String(x.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, x.value); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

// printf adds to the text form. Arguments that come from a repository or a caller go through [handoff.Visible] first.
func (a *answer) printf(format string, args ...any) { fmt.Fprintf(&a.text, format, args...) }

// notef adds a sentence to stderr, in text form only.
func (a *answer) notef(format string, args ...any) {
	a.notes = append(a.notes, fmt.Sprintf(format, args...))
}

// merge adds the members of a value that is a JSON object, in its order.
func (m *members) merge(value any) error {
	b, err := json.Marshal(value, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return err
	}
	d := jsontext.NewDecoder(strings.NewReader(string(b)))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		key := name.String()
		v, err := d.ReadValue()
		if err != nil {
			return err
		}
		m.set(key, v.Clone())
	}
	return nil
}

// say prints an answer and returns the exit status.
func (a *App) say(line *commandLine, said *answer) int {
	status := said.exit
	if said.refused != nil {
		status = said.refused.exit
	}
	if line.json {
		doc := members{{"ok", said.refused == nil && said.exit == 0}, {"action", line.action()}, {"schema", resultSchema}}
		doc = append(doc, said.members...)
		if said.refused != nil {
			doc = append(doc, said.refused.explanation()...)
		}
		return a.printed(status, a.document(doc))
	}
	_, err := io.WriteString(a.Stdout, said.text.String())
	for _, note := range said.notes {
		fmt.Fprintln(a.Stderr, note)
	}
	if said.refused != nil {
		said.refused.print(a.Stderr)
	}
	return a.printed(status, err)
}

// readyJSON is the value of a member of a whole document that writes itself, since an encoder would check ten thousand
// rows once more.
type readyJSON interface {
	appendJSON(b []byte) []byte
}

// document writes one JSON document and a newline to stdout, in one write.
func (a *App) document(doc members) error {
	b := []byte{'{'}
	for m := range doc.distinct() {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, m.name) // its error says that bytes that are not UTF-8 were replaced
		b = append(b, ':')
		if ready, ok := m.value.(readyJSON); ok {
			b = ready.appendJSON(b)
			continue
		}
		value, err := json.Marshal(m.value, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		b = append(b, value...)
	}
	_, err := a.Stdout.Write(append(escapeHidden(b), "}\n"...))
	return err
}

// printed returns status, unless the answer could not be written although it was a good one: then the caller does not
// know what happened, and the same command with the same operation id tells. A reader that went away early (a closed
// pipe) wanted no more.
func (a *App) printed(status int, err error) int {
	if err == nil || isClosedPipe(err) {
		return status
	}
	fmt.Fprintf(a.Stderr, "error: the answer could not be written: %s\n", err)
	if status == 0 {
		return exitUnavailable
	}
	return status
}
