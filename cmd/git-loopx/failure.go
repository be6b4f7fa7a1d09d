package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

// failure is what a command says when it did not do what was asked for: the members of every refusal
// (continuation.md, section 3), the exit status, and what else belongs to the answer.
type failure struct {
	code   string
	status string // rejected, failed, conflict, busy, ambiguous
	reason string // one sentence, lower case, no full stop
	hint   string // the next safe step, "" where there is none
	exit   int
	detail members // further members of the document
	// place are the goal and the Todo asked for, as far as known.
	place members
}

// kind is the failure_kind: did the facts say no, or did the exchange itself go wrong?
func (f *failure) kind() string {
	if f.status == "rejected" {
		return "decision_rejection"
	}
	return "protocol_failure"
}

// explanation are the members that an answer with ok:false has, whatever else it shows.
func (f *failure) explanation() members {
	m := members{{"failure_kind", f.kind()}, {"reason_code", f.code}, {"reason", f.reason}}
	m.setGiven("hint", f.hint)
	return append(m, f.detail...)
}

// onTodo puts the Todo that a refusal is about in the place of TODO in a hint. What is no id stays out: hints are run.
func (f *failure) onTodo(hint string) string {
	for _, m := range slices.Concat(f.detail, f.place) {
		if m.name != "todo_id" {
			continue
		}
		if id := todo.ID(fmt.Sprint(m.value)); id.Valid() {
			return strings.ReplaceAll(hint, "TODO", string(id))
		}
	}
	return hint
}

// leaseHint is the hint where a line of a batch lacks a lease proof, and where the operation id of a verb on leases is taken;
// "" for anything else. No caller chose that id: it is made of the arguments (continuation.md, section 1.5).
func leaseHint(err error) string {
	if r := todo.AsRefusal(err); r != nil && r.Code == todo.CodeLeaseFenceRequired && r.Detail["line"] != nil {
		return `prove the lease in the line: "lease_proof":{"idempotency_key":KEY,"expected_version":N}`
	}
	taken, ok := errors.AsType[*gitstore.IdentityError](err)
	switch {
	case !ok || !strings.HasPrefix(taken.Kind, "lease "):
		return ""
	case taken.Kind == "lease acquire":
		return "the key was used for another request: choose a new one; git loopx lease inspect TODO shows the lease as it is now"
	}
	return "the version was used for another request: git loopx lease inspect TODO shows the lease as it is now"
}

// print speaks to a person: "error:" says what is, "hint:" the next step. Both are lower case and end without a full
// stop; foreign text is made visible and continuation lines are indented, so that none of it passes for a line of ours.
func (f *failure) print(w io.Writer) {
	speak(w, "error", f.reason)
	for _, m := range f.detail {
		if list := names(m.value); len(list) > 0 {
			speak(w, "hint", strings.ReplaceAll(m.name, "_", " ")+": "+strings.Join(list, ", "))
		}
	}
	if f.hint != "" {
		speak(w, "hint", f.hint)
	}
}

// names returns a list of ids or codes, whatever their type is called, and of records with a TodoID those; nil for
// anything else.
func names(value any) []string {
	v := reflect.ValueOf(value)
	if v.Kind() != reflect.Slice {
		return nil
	}
	var list []string
	for i := range v.Len() {
		x := v.Index(i)
		if x.Kind() == reflect.Struct {
			x = x.FieldByName("TodoID")
		}
		if x.Kind() == reflect.String { // the zero value of no such field has no kind
			list = append(list, x.String())
		}
	}
	return list
}

func speak(w io.Writer, who, text string) {
	lines := handoff.VisibleLines(text)
	fmt.Fprintf(w, "%s: %s\n", who, strings.Join(lines, "\n  "))
}

// fail answers with an error and returns the exit status.
func (a *App) fail(line *commandLine, err error) int {
	f := explain(err)
	if line != nil && line.json || line == nil && asksForJSON(a.Args) {
		doc := members{{"ok", false}, {"action", line.action()}, {"schema", resultSchema}, {"status", f.status}}
		doc = append(doc, f.place...)
		doc = append(doc, f.explanation()...)
		return a.printed(f.exit, a.document(doc))
	}
	f.print(a.Stderr)
	var p *panicError
	if errors.As(err, &p) {
		fmt.Fprintf(a.Stderr, "%s\n", p.stack)
	}
	return f.exit
}

// usageError is a command line or an input file that is malformed.
type usageError struct {
	code   string // of the verb's family, or usage_error
	reason string
	hint   string
}

func (e *usageError) Error() string { return e.reason }

func usagef(code, format string, args ...any) *usageError {
	return &usageError{code: code, reason: fmt.Sprintf(format, args...)}
}

func (e *usageError) hintf(format string, args ...any) *usageError {
	e.hint = fmt.Sprintf(format, args...)
	return e
}

// placedError adds to an error what the command was about.
type placedError struct {
	error
	place members
}

func (e *placedError) Unwrap() error { return e.error }

func withPlace(err error, j *job) error {
	if len(j.place) == 0 {
		return err
	}
	return &placedError{err, j.place}
}

func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe)
}

// sorted turns the detail of a refusal into members by name.
func sorted(detail map[string]any) members {
	var m members
	for _, name := range slices.Sorted(maps.Keys(detail)) {
		m.set(name, detail[name])
	}
	return m
}
