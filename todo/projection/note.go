package projection

import (
	"maps"
	"slices"
	"strings"

	"github.com/git-loopx/git-loopx/todo"
)

// StoredNote is what is kept of a note without its Todo. Whether a note is current depends on the Todo; all else that
// [todo.JudgeNote] says of it does not.
type StoredNote struct {
	Note Note `json:"note"`
	// Facts is the fingerprint of the Todo on which the note is current; "" where it is current on none.
	Facts string `json:"facts,omitzero"`
}

// storedNote judges the bytes of a note.
func storedNote(id todo.ID, blob []byte) StoredNote {
	j := todo.JudgeNote(blob, todo.Todo{ID: id})
	n := StoredNote{Note: Note{State: j.State}}
	switch {
	case j.Refusal != nil:
		n.Note.Code = j.Refusal.Code
	case j.Note == nil: // free text
		return n
	default:
		n.Note.State = todo.NoteStale
		if n.Note.Line = firstLine(j.Note.WorkSummary); n.Note.Line == "" {
			n.Note.Line = firstLine(j.Note.Rationale)
		}
		if len(j.Findings) == 0 || len(j.Findings) == 1 && j.Findings[0].Code == todo.FindingFactsChanged {
			n.Facts = j.Note.TodoFacts
		}
	}
	return n
}

// on is the note as it stands on its Todo.
func (n StoredNote) on(v todo.View) Note {
	if n.Facts != "" && n.Facts == todo.TodoFacts(record(v)) {
		n.Note.State = todo.NoteCurrent
	}
	return n.Note
}

// record is the Todo of a view that could be read.
func record(v todo.View) todo.Todo {
	return todo.Todo{
		SchemaVersion: todo.TodoSchema, ID: v.TodoID,
		Role: v.Role, Status: v.Status, ArchiveState: v.Archive,
		Priority: v.Priority, Title: v.Title, Text: v.Text, TaskClass: v.TaskClass, Labels: v.Labels,
		ClaimedBy: v.ClaimedBy, BoundAgent: v.BoundAgent, ExcludedAgents: v.ExcludedAgents,
		DependsOn: v.DependsOn, ResumeAt: v.ResumeAt, RequiredWriteScopes: v.RequiredWriteScopes,
		Evidence: v.Evidence, Reason: v.Reason, SupersededBy: v.SupersededBy, SuccessorTodoIDs: v.SuccessorTodoIDs,
		CreatedBy: v.CreatedBy, LastActorAgentID: v.LastActorAgentID,
		CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, CompletedAt: v.CompletedAt,
	}
}

// firstLine is the first line of a text that is not blank, without its line end.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if !todo.Blank(line) {
			return strings.TrimRight(line, "\r\n")
		}
	}
	return ""
}

func sortedIDs(notes map[todo.ID]StoredNote) []todo.ID { return slices.Sorted(maps.Keys(notes)) }
