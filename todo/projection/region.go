package projection

import (
	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Region is what the owned part of a file shows: one goal at one revision. Each list is in the order of a list of Todos.
type Region struct {
	Goal     todo.GoalID
	Title    string
	Mode     todo.Mode
	Revision gitstore.ObjectID

	Queue   []Item // role user, neither done nor archived
	Work    []Item // role agent, neither done nor archived
	Archive []Item // done or archived
	// Unreadable are the records that cannot be read. Nobody can say where they belong.
	Unreadable []Unreadable
}

// Item is one Todo of a region with what is shown of its note.
type Item struct {
	todo.View // readable
	Note      Note
}

// Note is what is shown of a note: never more than a line. The zero value is "there is none".
type Note struct {
	State todo.NoteState // missing for free text, of which nothing is shown
	Code  todo.Code      // of an unsupported note
	Line  string         // the first line of the work summary, else of the rationale
}

// Unreadable is a record that cannot be read.
type Unreadable struct {
	Record string    // "todo", "note"
	ID     todo.ID   // as the name of its file says; not checked
	Code   todo.Code // why
}

// Compose makes the region of a goal from one revision: all its Todos in their order, and the notes on them.
func Compose(g todo.Goal, list todo.List, notes map[todo.ID]StoredNote, stray []Unreadable) Region {
	r := Region{Goal: g.ID, Title: g.Title, Mode: g.HandoffMode, Revision: list.Revision}
	there := make(map[todo.ID]bool, len(list.Rows))
	for _, v := range list.Rows {
		there[v.TodoID] = true
		if !v.Readable {
			r.Unreadable = append(r.Unreadable, Unreadable{Record: "todo", ID: v.TodoID, Code: v.Error})
			continue
		}
		item := Item{View: v}
		if n, ok := notes[v.TodoID]; ok {
			item.Note = n.on(v)
		}
		section := r.section(item)
		*section = append(*section, item)
	}
	for _, id := range sortedIDs(notes) {
		if !there[id] {
			stray = append(stray, Unreadable{Record: "note", ID: id, Code: todo.CodeInvalidProjection})
		}
	}
	r.Unreadable = append(r.Unreadable, stray...)
	return r
}

// section is the list of the region that an item belongs to.
func (r *Region) section(i Item) *[]Item {
	switch {
	case i.Status == todo.Done || i.Archive == todo.Archived:
		return &r.Archive
	case i.Role == todo.RoleUser:
		return &r.Queue
	}
	return &r.Work
}

// heading is a section of a region by the line above it.
type heading struct {
	line string
	list func(*Region) *[]Item
}

// headings are the sections in their order (continuation.md, section 11).
var headings = [...]heading{
	{"## User Todo / Owner Review Reading Queue", func(r *Region) *[]Item { return &r.Queue }},
	{"## Agent Todo", func(r *Region) *[]Item { return &r.Work }},
	{"## Completed Work Archive", func(r *Region) *[]Item { return &r.Archive }},
}

// Count is the number of Todos that the region shows.
func (r Region) Count() int { return len(r.Queue) + len(r.Work) + len(r.Archive) }
