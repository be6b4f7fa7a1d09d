package todo

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-loopx/git-loopx/gitstore"
)

// todos draws Todos that are good records.
func todos() *rapid.Generator[Todo] {
	return rapid.Custom(func(t *rapid.T) Todo {
		pick := func(label string, words ...string) string { return rapid.SampledFrom(words).Draw(t, label) }
		list := func(label string, words ...string) []string {
			return SetOf(rapid.SliceOfN(rapid.SampledFrom(words), 0, 4).Draw(t, label))
		}
		todo := vectorTodo()
		todo.ID = ID("todo_" + rapid.StringMatching(`[a-z0-9_-]{1,4}`).Draw(t, "id"))
		todo.Role = Role(pick("role", "agent", "user"))
		todo.Status = WorkStatus(pick("status", "open", "done", "blocked", "deferred"))
		todo.ArchiveState = Archive(pick("archive", "active", "archive"))
		todo.Text = "x" + rapid.String().Draw(t, "text")
		todo.Priority = pick("priority", "", "P0", "P1", "P4")
		todo.Labels = list("labels", "a", "b", "ä", "c")
		todo.ClaimedBy = AgentID(pick("owner", "", "agent-a", "agent-b"))
		todo.CreatedAt = Instant(pick("created", "", "2000-01-01T00:00:00Z", "2026-09-13T10:00:00Z", "9999-12-31T23:59:59Z"))
		todo.CompletedAt = Instant(pick("completed", "", "2026-09-13T10:00:01Z"))
		for _, s := range list("excluded", "agent-a", "agent-b") {
			todo.ExcludedAgents = append(todo.ExcludedAgents, AgentID(s))
		}
		for _, s := range list("dependencies", "todo_x", "todo_y") {
			todo.DependsOn = append(todo.DependsOn, ID(s))
		}
		todo.BoundAgent = AgentID(pick("bound", "", "", "agent-a"))
		todo.ResumeAt = Instant(pick("resume at", "", "", "2026-09-13T10:00:01Z"))
		todo.SupersededBy = ID(pick("superseded by", "", "", "todo_z"))
		todo.RequiredWriteScopes = list("scopes", "src/**", "a")
		return todo
	})
}

// A row says of a Todo what the Todo says of itself.
func TestRowSpeaksForTheTodo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		todo := todos().Draw(t, "todo")
		if len(todo.Text) > 16000 {
			t.Skip("too long")
		}
		b, err := EncodeTodo(todo)
		if err != nil {
			t.Skip(err)
		}
		row := makeRow(TodoPath(todo.ID), b)
		k := rowKey(row.Key)
		if !k.readable() || k.role() != todo.Role || k.status() != todo.Status || k.archived() != (todo.ArchiveState == Archived) ||
			k.claimed() != (todo.ClaimedBy != "") || !k.same(sameHash(todo.Role, todo.Text)) || !k.mayHave(todo.Labels) ||
			k.superseded() != (todo.SupersededBy != "") ||
			k.conditional() != (len(todo.DependsOn)+len(todo.ExcludedAgents) > 0 || todo.BoundAgent != "" || todo.ResumeAt != "") {
			t.Fatalf("key %v", k)
		}
		again, err := rowTodo(&row)
		if d := diff.Diff(todo, again); d != "" || err != nil {
			t.Fatalf("%v %s", err, d)
		}
		terms, err := rowTerms(&row)
		if err != nil || string(terms.claimedBy) != string(todo.ClaimedBy) || string(terms.bound) != string(todo.BoundAgent) ||
			!slices.Equal(textsOf[AgentID](terms.excluded), todo.ExcludedAgents) || !slices.Equal(textsOf[ID](terms.dependsOn), todo.DependsOn) ||
			string(terms.resumeAt) != string(todo.ResumeAt) {
			t.Fatalf("terms %v, %v", terms, err)
		}
		link, err := rowLink(&row)
		if d := diff.Diff(fmt.Sprint(linkOf(todo)), fmt.Sprint(link)); d != "" || err != nil {
			t.Fatalf("link %s, %v", d, err)
		}
		view, err := rowView(row)
		if d := diff.Diff(ViewOf(todo), view); d != "" || err != nil {
			t.Fatalf("%v %s", err, d)
		}
		e := entryOf(&row)
		headline, owner := e.Headline()
		if e.TodoID() != todo.ID || e.Code() != "" || e.Role() != todo.Role || e.Status() != todo.Status ||
			e.Archived() != k.archived() || e.Priority() != todo.Priority ||
			headline != cmp.Or(todo.Title, todo.Text) || owner != todo.ClaimedBy || !e.intact() {
			t.Fatalf("entry %+v, %q, %q", e, headline, owner)
		}
		labels, err := rowLabels(&row)
		if !slices.Equal(labels, todo.Labels) || err != nil {
			t.Fatalf("labels %q, %v", labels, err)
		}
	})
}

func textsOf[T ~string](l packedList) (list []T) {
	for s := range l.all {
		list = append(list, T(s))
	}
	return list
}

// An entry writes itself as its view is written, whatever is in the view.
func TestEntryIsTheViewInJSON(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, row gitstore.Row) {
		view, err := rowView(row)
		if err != nil {
			t.Fatalf("%v", err)
		}
		want, err := json.Marshal(view, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			t.Fatalf("%v", err)
		}
		if got := entryOf(&row).AppendJSON([]byte("before")); string(got) != "before"+string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
	check(t, makeRow(TodoPath("todo_a"), []byte("{}"))) // not readable
	text := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[ -~]{0,3}`), rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		var v View
		members := reflect.ValueOf(&v).Elem()
		for i := range members.NumField() {
			switch m := members.Field(i); m.Kind() {
			case reflect.String:
				m.SetString(text.Draw(t, "text"))
			case reflect.Slice:
				for _, s := range rapid.SliceOfN(text, 0, 2).Draw(t, "list") {
					m.Set(reflect.Append(m, reflect.ValueOf(s).Convert(m.Type().Elem())))
				}
			}
		}
		v.Readable, v.Error = true, ""
		check(t, gitstore.Row{Name: TodoPath("todo_a"), Key: rowKey{bitReadable}, Data: packView(v)})
	})
}

// The first of a list are those that sorting all of it puts first.
func TestFirstOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []Entry
		for _, at := range rapid.SliceOf(rapid.IntRange(0, 99)).Draw(t, "entries") {
			row := gitstore.Row{Name: fmt.Sprintf("todos/%02d/todo_%d.json", len(all), at%10)}
			if at < 90 {
				row.Key = rowKey{bitReadable, byte(at % 6), 6: byte(at % 4)}
			}
			all = append(all, entryOf(&row))
		}
		want := slices.SortedFunc(slices.Values(all), compareEntries)
		limit := rapid.IntRange(0, 9).Draw(t, "limit")
		if limit > 0 {
			want = want[:min(limit, len(want))]
		}
		if got := firstOf(all, limit); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// Rows are ordered as the Todos are: by priority (none after P4), creation and id.
func TestRowsOrderAsTodos(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := todos().Draw(t, "a"), todos().Draw(t, "b")
		rank := func(p string) string { return cmp.Or(p, "P9") }
		want := cmp.Or(
			cmp.Compare(rank(a.Priority), rank(b.Priority)),
			cmp.Compare(a.CreatedAt, b.CreatedAt),
			cmp.Compare(a.ID, b.ID),
		)
		row := func(x Todo) *gitstore.Row { return &gitstore.Row{Name: TodoPath(x.ID), Key: keyOf(x)} }
		if got := compareEntries(entryOf(row(a)), entryOf(row(b))); got != want {
			t.Fatalf("got %d, want %d", got, want)
		}
	})
}

// Data that was damaged never panics, and never passes for another form of the same view.
func TestDamagedRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := packView(ViewOf(todos().Draw(t, "todo")))
		at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
		data[at] = rapid.Byte().Draw(t, "byte")
		data = data[:rapid.IntRange(0, len(data)).Draw(t, "length")]
		v, err := unpackView(string(data))
		e := entryOf(&gitstore.Row{Key: rowKey{bitReadable | bitClaimed | bitConditional}, Data: data})
		if e.intact() != (err == nil) {
			t.Fatalf("intact is %v, and the view %v", e.intact(), err)
		}
		e.Headline()
		e.AppendJSON(nil)
		rowLabels(e.row)
		rowTodo(e.row)
		rowLink(e.row)
		if terms, err := rowTerms(e.row); err == nil {
			textsOf[ID](terms.dependsOn)
		}
		if err == nil && !slices.Equal(packView(v), data) {
			again, err := unpackView(string(packView(v)))
			if d := diff.Diff(v, again); d != "" || err != nil {
				t.Fatal(err, d)
			}
		}
	})
}
