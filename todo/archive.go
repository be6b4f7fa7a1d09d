package todo

import (
	"slices"
	"strings"
)

// ArchiveSchema is the schema_version of the result of todo archive.
const ArchiveSchema = "loopx_coordination_todo_archive_result_v0"

// DefaultMaxActiveDone is how many done Todos todo archive --completed keeps unless told.
const DefaultMaxActiveDone = 10

// ArchiveCompletedArgs keep the newest MaxActiveDone done Todos and archive the rest; without Execute it only reports.
type ArchiveCompletedArgs struct {
	MaxActiveDone int
	Execute       bool
}

// ArchiveResult is the nested result of todo archive of one Todo.
type ArchiveResult struct {
	Schema  string `json:"schema_version"`
	TodoID  ID     `json:"todo_id"`
	Changed bool   `json:"changed"`
}

// ArchiveCompletedResult is the nested result of todo archive --completed.
type ArchiveCompletedResult struct {
	Schema        string `json:"schema_version"`
	MaxActiveDone int    `json:"max_active_done"`
	Changed       bool   `json:"changed"`
	Todos         []ID   `json:"archived_todo_ids"` // by id
}

func (a ArchiveCompletedArgs) check() error {
	if a.MaxActiveDone < 0 {
		return Fail(CodeInvalidArchive, "the number of done todos to keep must not be negative")
	}
	return nil
}

func (a ArchiveCompletedArgs) request() map[string]any {
	return map[string]any{"completed": true, "max_active_done": a.MaxActiveDone}
}

// decideArchive puts a Todo away: archived already is no change → todo_not_done unless it is done, or deferred and
// unclaimed.
func decideArchive(s State, id ID, actor AgentID, at Instant) (Decision, error) {
	t, err := s.Found(id)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{Subject: "todo archive " + string(id)}
	switch {
	case t.ArchiveState == Archived:
		d.Result = ArchiveResult{Schema: ArchiveSchema, TodoID: id}
		return d, nil
	case t.Status == Done, t.Status == Deferred && t.ClaimedBy == "":
		t.ArchiveState = Archived
		d.Todos = []Todo{t.touched(actor, at)}
		d.Result = ArchiveResult{Schema: ArchiveSchema, TodoID: id, Changed: true}
		return d, nil
	}
	return Decision{}, Reject(CodeTodoNotDone, "todo %s: is %s", id, t.Status)
}

// doneTodo is what archiving needs to know of a done, active Todo.
type doneTodo struct {
	ID   ID
	When string // orders by completed_at
}

// surplus returns the ids of all but the newest keep, by id. Of Todos that were completed at once, those of the
// greater id count as newer.
func surplus(done []doneTodo, keep int) []ID {
	if len(done) <= keep {
		return nil
	}
	newestFirst := slices.SortedFunc(slices.Values(done), func(a, b doneTodo) int {
		if c := strings.Compare(b.When, a.When); c != 0 {
			return c
		}
		return strings.Compare(string(b.ID), string(a.ID))
	})
	var ids []ID
	for _, d := range newestFirst[keep:] {
		ids = append(ids, d.ID)
	}
	slices.Sort(ids)
	return ids
}

// decideArchiveCompleted puts done Todos away.
func decideArchiveCompleted(a ArchiveCompletedArgs, surplus []Todo, actor AgentID, at Instant) Decision {
	result := ArchiveCompletedResult{Schema: ArchiveSchema, MaxActiveDone: a.MaxActiveDone, Changed: len(surplus) > 0, Todos: []ID{}}
	d := Decision{Subject: "todo archive completed"}
	for _, t := range surplus {
		t.ArchiveState = Archived
		d.Todos = append(d.Todos, t.touched(actor, at))
		result.Todos = append(result.Todos, t.ID)
	}
	d.Result = result
	return d
}
