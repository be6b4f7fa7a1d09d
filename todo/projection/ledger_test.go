package projection

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

func TestNotConfigured(t *testing.T) {
	w := newWorld(t)
	w.config("--unset", "loopx.projection")
	if d := w.deliver(); d.State != NotRequired || d.Outbox != nil {
		t.Errorf("got %+v", d)
	}
	w.config("loopx.projection", "TODO.md")
	w.config("loopx.goal.demo.projection", "")
	if d := w.deliver(); d.State != NotRequired || d.Outbox != nil {
		t.Errorf("switched off for the goal: got %+v", d)
	}
	if names, err := os.ReadDir(w.dir); err != nil || len(names) != 1 {
		t.Errorf("something was written: %v, %v", names, err)
	}
}

// TestDelivered follows one file through its states.
func TestDelivered(t *testing.T) {
	w := newWorld(t)
	o := w.delivered(Delivered)
	want := Outbox{Schema: OutboxSchema, Status: Delivered, Revision: w.tip(), Trigger: "trigger", Todos: 1, Changed: true,
		SHA256: digest([]byte(strings.TrimSuffix(w.read("TODO.md"), "\n"))), Recovery: TodoSectionsOnly}
	if diff := cmp.Diff(o, want); diff != "" {
		t.Errorf("created: got against want:\n%s", diff)
	}
	before, err := os.Stat(w.path("TODO.md"))
	w.must(err)
	o = w.delivered(Current)
	want.Status, want.Changed, want.Recovery = Current, false, ""
	if diff := cmp.Diff(o, want); diff != "" {
		t.Errorf("again: got against want:\n%s", diff)
	}
	if after, err := os.Stat(w.path("TODO.md")); err != nil || !os.SameFile(before, after) {
		t.Errorf("a file that was right was written: %v", err)
	}

	w.must(os.Chmod(w.path("TODO.md"), 0o640))
	w.update("Bound it by both")
	if o = w.delivered(Delivered); o.Recovery != "" {
		t.Errorf("a file that was there has the scope %q", o.Recovery)
	}
	if got := w.shown("TODO.md", "demo"); got.Revision != w.tip() || got.Work[0].Text != "Bound it by both" {
		t.Errorf("got %+v", got)
	}
	if info, err := os.Stat(w.path("TODO.md")); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v (%v)", info.Mode(), err)
	}

	w.write("TODO.md", strings.Replace(w.read("TODO.md"), "claimed by agent-a", "claimed by agent-b", 1))
	w.delivered(Delivered) // what was edited between the markers is lost
	if got := w.read("TODO.md"); strings.Contains(got, "agent-b") {
		t.Errorf("got %s", got)
	}
	if names, err := os.ReadDir(w.dir); err != nil || len(names) != 2 {
		t.Errorf("something is left: %v, %v", names, err)
	}
}

// TestAroundTheRegion: CRLF, text without a line end, and another goal's region stay as they are.
func TestAroundTheRegion(t *testing.T) {
	w := newWorld(t)
	w.goal("other")
	w.write("TODO.md", "# Mine\r\n\r\nnothing of mine is lost")
	w.delivered(Delivered)
	if d := w.Deliver(t.Context(), "other", ""); d.State != Delivered {
		t.Fatalf("got %+v", d)
	}
	other := w.shown("TODO.md", "other")
	w.write("TODO.md", w.read("TODO.md")+"\r\nand the end")
	before := w.read("TODO.md")
	w.update("Text with --> and\n" + beginDemo + "\n" + endDemo + "\n  many   spaces")
	w.delivered(Delivered)
	after := w.read("TODO.md")
	if cut(t, before) != cut(t, after) || before == after {
		t.Errorf("outside of the region: got\n%q\nwas\n%q", cut(t, after), cut(t, before))
	}
	if strings.Count(after, "\n") != strings.Count(after, "\r\n") {
		t.Error("a line end is not the file's")
	}
	if got := w.shown("TODO.md", "demo").Work[0].Text; !strings.HasSuffix(got, "\n  many   spaces") {
		t.Errorf("the text reads back as %q", got)
	}
	if diff := cmp.Diff(w.shown("TODO.md", "other"), other); diff != "" {
		t.Errorf("the other goal's region:\n%s", diff)
	}
	w.config("loopx.goal.other.projection", "OTHER.md")
	if d := w.Deliver(t.Context(), "other", ""); d.State != Delivered {
		t.Fatalf("got %+v", d)
	}
	w.shown("OTHER.md", "other")
}

// cut is a file without the region of goal demo.
func cut(t *testing.T, file string) string {
	t.Helper()
	p, ok, err := find([]byte(file), "demo")
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	return file[:p.from] + "|" + file[p.to:]
}

// TestUnreadableGoal: what cannot be read now is no reason to write anything.
func TestUnreadableGoal(t *testing.T) {
	w := newWorld(t)
	w.delivered(Delivered)
	before := w.read("TODO.md")
	w.put(map[string][]byte{todo.GoalPath: []byte("{}\n")})
	w.pending(CodeAuthorityUnavailable)
	if got := w.read("TODO.md"); got != before {
		t.Error("the file was written")
	}
	if d := w.Deliver(t.Context(), "nothing", ""); d.State != Pending || d.Outbox.Code != CodeAuthorityUnavailable {
		t.Errorf("a goal that is not there: %+v", d)
	}
}

// TestRecordsAndNotes: what is shown of records that cannot be read, and of notes.
func TestRecordsAndNotes(t *testing.T) {
	w := newWorld(t)
	for _, id := range []todo.ID{"todo_b", "todo_c", "todo_d", "todo_e"} {
		_, err := w.Add(t.Context(), w.call("demo", id), todo.AddArgs{Text: "work on " + string(id)})
		w.must(err)
	}
	s, err := w.Load(t.Context(), "demo")
	w.must(err)
	b, _, err := s.File(t.Context(), todo.TodoPath("todo_a"))
	w.must(err)
	a, err := todo.DecodeTodo("todo_a", b)
	w.must(err)
	by := todo.Source{Agent: "agent-a", Session: "s"}
	current, findings := todo.BuildNote(todo.Context{WorkSummary: "\n\nfirst line\nsecond line"}, by, "2026-09-13T10:05:00Z", todo.TodoFacts(a))
	if findings != nil {
		t.Fatal(findings)
	}
	stale, findings := todo.BuildNote(todo.Context{Rationale: "why --> not"}, by, "2026-09-13T10:05:00Z", strings.Repeat("0", 64))
	if findings != nil {
		t.Fatal(findings)
	}
	free, err := todo.EncodeFreeNote("free text, of which nothing is shown")
	w.must(err)
	w.put(map[string][]byte{
		todo.NotePath("todo_a"):    current,
		todo.NotePath("todo_b"):    stale,
		todo.NotePath("todo_c"):    free,
		todo.NotePath("todo_d"):    []byte(`{"schema":"loopx.note/2"}` + "\n"),
		todo.NotePath("todo_gone"): free,
		"notes/zz/todo_e.json":     free,
		todo.TodoPath("todo_x"):    []byte(`{"schema_version":"loopx.todo/2"}` + "\n"),
		todo.TodoPath("todo_y"):    []byte("--> {}\n"),
	})
	w.delivered(Delivered)
	got := w.shown("TODO.md", "demo")
	notes := map[todo.ID]Note{}
	for _, i := range got.Work {
		notes[i.TodoID] = i.Note
	}
	if diff := cmp.Diff(notes, map[todo.ID]Note{
		"todo_a": {State: todo.NoteCurrent, Line: "first line"},
		"todo_b": {State: todo.NoteStale, Line: "why --> not"},
		"todo_c": {State: todo.NoteMissing},
		"todo_d": {State: todo.NoteUnsupported, Code: todo.CodeUnsupportedSchema},
		"todo_e": {},
	}); diff != "" {
		t.Errorf("notes: got against want:\n%s", diff)
	}
	if diff := cmp.Diff(got.Unreadable, []Unreadable{
		{"todo", "todo_x", todo.CodeUnsupportedSchema},
		{"todo", "todo_y", todo.CodeInvalidProjection},
		{"note", "todo_e", todo.CodeInvalidProjection},
		{"note", "todo_gone", todo.CodeInvalidProjection},
	}); diff != "" {
		t.Errorf("unreadable: got against want:\n%s", diff)
	}
	if strings.Contains(w.read("TODO.md"), "free text, of") || strings.Contains(w.read("TODO.md"), "second") {
		t.Error("more is shown of a note than a line")
	}
}

// TestProject: the verb that writes nothing but the view.
func TestProject(t *testing.T) {
	w := newWorld(t)
	old, tip := w.tip(), w.update("Bound it by both")
	request := Request{Goal: "demo", Trigger: tip, Expected: old}
	d, err := w.Project(t.Context(), request)
	if mismatch, ok := errors.AsType[*gitstore.MismatchError](err); !ok || mismatch.Current != tip || d.Outbox != nil {
		t.Errorf("old revision: got %+v, %v", d, err)
	}
	request.Expected, request.Report = tip, true
	d, err = w.Project(t.Context(), request)
	if err != nil || d.State != Pending || d.Refused != nil || d.Outbox.Code != "" || !d.Outbox.Changed || !strings.Contains(d.Outbox.Action, string(tip)) {
		t.Errorf("report: got %+v, %v", d, err)
	}
	if _, err := os.Stat(w.path("TODO.md")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written: %v", err)
	}
	request.Report = false
	if d, err = w.Project(t.Context(), request); err != nil || d.State != Delivered || d.Outbox.Revision != tip {
		t.Errorf("execute: got %+v, %v", d, err)
	}
	request.Report = true
	if d, err = w.Project(t.Context(), request); err != nil || d.State != Current || d.Outbox.Changed {
		t.Errorf("report again: got %+v, %v", d, err)
	}
}

// TestTurn: while another writes the file nothing waits forever, and nothing is written.
func TestTurn(t *testing.T) {
	w := newWorld(t)
	target, err := findTarget(w.Store, "TODO.md")
	w.must(err)
	release, err := w.takeTurn(t.Context(), &target)
	w.must(err)
	if locks, err := filepath.Glob(w.path(".git/loopx/locks/projection-*")); err != nil || len(locks) != 1 {
		t.Fatalf("got %q, %v", locks, err)
	} else if named, err := os.ReadFile(locks[0]); err != nil || len(named) == 0 {
		t.Skipf("this file system has no exclusive turn: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	d := w.open().Deliver(ctx, "demo", "")
	if d.State != Pending || d.Outbox.Code != CodeWriteUnavailable {
		t.Errorf("got %+v", d)
	}
	if _, err := os.Stat(w.path("TODO.md")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was written: %v", err)
	}
	release()
	w.delivered(Delivered)
}

// TestTwoTurns: where two have a turn, as when the locks were deleted meanwhile, each has a temporary file of its own, and
// neither takes away that of the other.
func TestTwoTurns(t *testing.T) {
	w := newWorld(t)
	var turns [2]target
	for i := range turns {
		var err error
		turns[i], err = findTarget(w.Store, "TODO.md")
		w.must(err)
		w.must(os.RemoveAll(w.path(".git/loopx/locks")))
		release, err := w.takeTurn(t.Context(), &turns[i])
		w.must(err)
		defer release()
		w.write(turns[i].temp, "x")
	}
	if turns[0].temp == turns[1].temp || len(w.temps()) != 2 {
		t.Errorf("got %q and %q", turns[0].temp, turns[1].temp)
	}
}

// TestNoTime: what was interrupted says so, and blames neither the goal nor the file.
func TestNoTime(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 4 { // the turn may be had or not
		d := w.Deliver(ctx, "demo", "")
		if d.State != Pending || d.Outbox.Code != CodeWriteUnavailable || strings.Contains(d.Outbox.Action, "fsck") || strings.Contains(d.Outbox.Action, "writable") {
			t.Errorf("got %s: %+v", d.State, d.Outbox)
		}
	}
	w.delivered(Delivered)
}

// TestWritersAtOnce: whoever writes when, the last view is that of the tip, and nobody's text outside is lost.
func TestWritersAtOnce(t *testing.T) {
	w := newWorld(t)
	w.goal("other")
	w.write("TODO.md", "mine\n")
	const writers, each = 6, 4
	var all sync.WaitGroup
	for n := range writers {
		l := w.open()
		goal := []todo.GoalID{"demo", "other"}[n%2]
		all.Go(func() {
			for k := range each {
				id := todo.ID("todo_w" + string(rune('a'+n)) + string(rune('a'+k)))
				a, err := l.Add(t.Context(), todo.Call{Goal: goal, Todo: id, Agent: "agent-a"}, todo.AddArgs{Text: "work on " + string(id)})
				if err != nil {
					t.Error(err)
					return
				}
				if d := l.Deliver(t.Context(), goal, a.Revision); d.State != Delivered && d.State != Current {
					t.Errorf("got %+v: %+v", d, d.Outbox)
				}
			}
		})
	}
	all.Wait()
	for _, goal := range []todo.GoalID{"demo", "other"} {
		want := gitstore.ObjectID(w.git("rev-parse", string(goal.Ref())))
		got := w.shown("TODO.md", goal)
		if got.Revision != want || len(got.Work) < writers*each/2 {
			t.Errorf("goal %s: the view is of %s with %d Todos, the tip is %s", goal, got.Revision, len(got.Work), want)
		}
	}
	if got := w.read("TODO.md"); !strings.HasPrefix(got, "mine\n") {
		t.Errorf("got %q", got[:20])
	}
	if names, err := os.ReadDir(w.dir); err != nil || len(names) != 2 {
		t.Errorf("something is left: %v, %v", names, err)
	}
}

// TestFileMovedMeanwhile: what a person saves between reading and writing is not overwritten.
func TestFileMovedMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.write("TODO.md", "mine\n")
	target, err := findTarget(w.Store, "TODO.md")
	w.must(err)
	release, err := w.takeTurn(t.Context(), &target)
	w.must(err)
	defer release()
	root, err := os.OpenRoot(target.root)
	w.must(err)
	defer root.Close()
	_, was, err := target.read(root)
	w.must(err)
	w.write("TODO.md", "mine, and more\n")
	if err := target.replace(root, []byte("ours\n"), was); !errors.Is(err, errFileMoved) {
		t.Errorf("got %v", err)
	}
	w.must(os.Remove(w.path("TODO.md")))
	if err := target.replace(root, []byte("ours\n"), was); !errors.Is(err, errFileMoved) {
		t.Errorf("removed: got %v", err)
	}
	w.write("TODO.md", "made by another\n")
	if err := target.replace(root, []byte("ours\n"), nil); !errors.Is(err, errFileMoved) {
		t.Errorf("created: got %v", err)
	}
	if got := w.read("TODO.md"); got != "made by another\n" {
		t.Errorf("got %q", got)
	}
	if names, err := os.ReadDir(w.dir); err != nil || len(names) != 2 {
		t.Errorf("something is left: %v, %v", names, err)
	}
}
