package todo

import "github.com/git-loopx/git-loopx/gitstore"

// terms are the members of a row that say who may work on a Todo, and when. They share the row's memory.
type terms struct {
	claimedBy, bound    []byte
	excluded, dependsOn packedList
	resumeAt            []byte
}

// rowTerms finds the terms of a row that can be read.
func rowTerms(r *gitstore.Row) (terms, error) {
	u, _ := unpack(r.Data)
	u.skip(0, atClaimedBy)
	t := terms{claimedBy: u.text(), bound: u.text(), excluded: passList(&u), dependsOn: passList(&u), resumeAt: u.text()}
	if u.bad {
		return terms{}, errRow
	}
	return t, nil
}

// link is what the key knows of a link: all but where it leads.
func (k rowKey) link() link {
	return link{done: k.status() == Done, archived: k.archived(), superseded: k.superseded()}
}

// rowLink is the link of a row that can be read.
func rowLink(r *gitstore.Row) (link, error) {
	l := rowKey(r.Key).link()
	u, _ := unpack(r.Data)
	switch {
	case l.superseded:
		u.skip(0, atSupersededBy)
		l.next = []ID{ID(u.text())}
	case rowKey(r.Key).conditional():
		u.skip(0, atDependsOn)
		list := passList(&u)
		for id := range list.all {
			l.next = append(l.next, ID(id))
		}
	}
	if u.bad {
		return link{}, errRow
	}
	return l, nil
}

// rowTodo is the Todo of a row that can be read.
func rowTodo(r *gitstore.Row) (Todo, error) {
	v, err := unpackView(string(r.Data))
	return Todo{
		SchemaVersion: TodoSchema, ID: v.TodoID, Role: v.Role, Status: v.Status, Text: v.Text, ArchiveState: v.Archive,
		Title: v.Title, Priority: v.Priority, TaskClass: v.TaskClass, Labels: v.Labels, ClaimedBy: v.ClaimedBy,
		CreatedBy: v.CreatedBy, LastActorAgentID: v.LastActorAgentID, BoundAgent: v.BoundAgent, ExcludedAgents: v.ExcludedAgents,
		DependsOn: v.DependsOn, ResumeAt: v.ResumeAt, RequiredWriteScopes: v.RequiredWriteScopes,
		Evidence: v.Evidence, Reason: v.Reason, SupersededBy: v.SupersededBy, SuccessorTodoIDs: v.SuccessorTodoIDs,
		CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, CompletedAt: v.CompletedAt,
	}, err
}

// packedList is a list within a packed view: its texts, each with its length before it, and what comes after them.
type packedList struct {
	length int
	texts  []byte
}

// passList passes over a list and returns it.
func passList(u *unpacker[[]byte]) packedList {
	l := packedList{length: u.number(), texts: u.rest}
	for range l.length {
		u.text()
	}
	return l
}

// all yields the texts of a list.
func (l packedList) all(yield func([]byte) bool) {
	u := unpacker[[]byte]{rest: l.texts}
	for range l.length {
		if !yield(u.text()) {
			return
		}
	}
}

// roster finds the rows of one revision by the id of their Todo. Its index is made when first needed. It is for one caller
// at a time.
type roster struct {
	rows []gitstore.Row
	at   map[string]int32 // by id, of rows that can be read
	err  error            // errRow once a row was met that is damaged: all that was said is then worthless
}

// find returns the row of a Todo; nil where there is none, or where it cannot be read.
func (r *roster) find(id []byte) *gitstore.Row {
	if r.at == nil {
		r.at = make(map[string]int32, len(r.rows))
		for i := range r.rows {
			if rowKey(r.rows[i].Key).readable() && len(r.rows[i].Name) > len("todos/00/.json") { // and so in its place
				name := r.rows[i].Name
				r.at[name[len("todos/00/"):len(name)-len(".json")]] = int32(i)
			}
		}
	}
	if i, ok := r.at[string(id)]; ok {
		return &r.rows[i]
	}
	return nil
}

// link implements [links].
func (r *roster) link(id ID) (link, bool) {
	row := r.find([]byte(id))
	if row == nil {
		return link{}, false
	}
	l, err := rowLink(row)
	if err != nil {
		r.err = err
	}
	return l, err == nil
}
