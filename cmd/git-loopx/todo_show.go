package main

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

type todoList struct {
	Role   string   `nonempty:"" placeholder:"ROLE" help:"Only those of this role: agent or user."`
	Status string   `nonempty:"" placeholder:"STATUS" help:"Only those of this status: open, done, blocked or deferred."`
	Label  []string `sep:"none" placeholder:"LABEL" help:"Only those with this label; repeatable, all must be there."`
	All    bool     `help:"Done and archived ones too."`
	limitFlag
	goalFlags
	agentFlags
	outputFlags
}

func (c *todoList) run(ctx context.Context, j *job) (*answer, error) {
	debug.SetGCPercent(400) // the list is over before most of its memory could be of use again
	switch todo.Role(c.Role) {
	case "", todo.RoleAgent, todo.RoleUser:
	default:
		return nil, j.usagef("--role: %q is neither agent nor user", c.Role)
	}
	switch todo.WorkStatus(c.Status) {
	case "", todo.Open, todo.Done, todo.Blocked, todo.Deferred:
	default:
		return nil, j.usagef("--status: %q is none of open, done, blocked, deferred", c.Status)
	}
	if err := j.checkLimit(c.Limit); err != nil {
		return nil, err
	}
	goal, err := j.reading(ctx, c.goalFlags)
	if err != nil {
		return nil, err
	}
	list, err := j.ledger().Entries(ctx, goal, todo.Filter{
		Role: todo.Role(c.Role), Status: todo.WorkStatus(c.Status), Labels: c.Label, All: c.All, Limit: c.Limit})
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"goal_id", goal}, {"provider_revision", list.Revision}}}
	said.listed("todos", todoEntries(list.Rows), len(list.Rows), list.Total)
	if len(list.Rows) == 0 {
		said.notef("hint: nothing to show; git loopx todo list --all shows done and archived Todos too")
	}
	if j.line.json {
		return said, nil
	}
	const columns = 5
	cells := make([]string, 0, len(list.Rows)*columns)
	rows := make([][]string, len(list.Rows))
	for i, e := range list.Rows {
		cells = appendTodoRow(cells, e)
		rows[i] = cells[i*columns : len(cells) : len(cells)]
	}
	said.table(rows)
	return said, nil
}

// todoEntries is the list of Todos as the JSON answer has it.
type todoEntries []todo.Entry

func (l todoEntries) appendJSON(b []byte) []byte {
	size := 2
	for _, e := range l {
		size += e.Size()
	}
	b = append(slices.Grow(b, size), '[')
	for i, e := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.AppendJSON(b)
	}
	return append(b, ']')
}

// appendTodoRow appends the cells of a Todo as one line of a list.
func appendTodoRow(cells []string, e todo.Entry) []string {
	id := handoff.Visible(string(e.TodoID()))
	if code := e.Code(); code != "" {
		return append(cells, id, "unreadable", "", "", string(code))
	}
	headline, claimedBy := e.Headline()
	status, owner, priority := string(e.Status()), "-", "-"
	if e.Archived() {
		status += ", archived"
	}
	if claimedBy != "" {
		owner = handoff.Visible(string(claimedBy))
	}
	if p := e.Priority(); p != "" {
		priority = p
	}
	text := firstLine(headline, 72)
	if e.Role() == todo.RoleUser {
		text = "(user) " + text
	}
	return append(cells, id, status, priority, owner, text)
}

type todoShow struct {
	todoFlags
	goalFlags
	agentFlags
	outputFlags
}

func (c *todoShow) run(ctx context.Context, j *job) (*answer, error) {
	return showTodo(ctx, j, c.todoFlags, c.goalFlags, false)
}

// showTodo shows a Todo with its note, or only the note.
func showTodo(ctx context.Context, j *job, t todoFlags, g goalFlags, onlyNote bool) (*answer, error) {
	id, err := j.needTodo(t)
	if err != nil {
		return nil, err
	}
	goal, err := j.reading(ctx, g)
	if err != nil {
		return nil, err
	}
	shown, err := onTodo(ctx, j, goal, id, func(id todo.ID) (todo.ShowView, error) { return j.ledger().Show(ctx, goal, id) })
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"goal_id", goal}, {"todo_id", shown.View.TodoID}, {"provider_revision", shown.Revision},
		{"todo", shown.View}, {"note", shown.Note}, {"note_state", shown.Note.State}}}
	said.members.setGiven("todo_facts", shown.TodoFacts)
	said.members.set("lease", shown.Lease)
	said.members.setGiven("dependency_state", string(shown.DependencyState))
	if shown.Acceptance != nil {
		said.members.set("acceptance", shown.Acceptance)
	}
	said.members.set("holds", append([]todo.Code{}, shown.Holds...))
	if !onlyNote {
		said.todoText(shown.View)
		said.holdsText(shown, todo.At(j.Now()))
		said.printf("revision    %s\n", shown.Revision)
	}
	said.noteText(shown.Note, onlyNote)
	return said, nil
}

// todoText prints a Todo for a person.
func (a *answer) todoText(v todo.View) {
	line := func(name string, values ...string) {
		if text := strings.Join(values, " "); text != "" {
			a.printf("%-11s %s\n", name, handoff.Visible(text))
		}
	}
	line("todo", string(v.TodoID))
	if !v.Readable {
		line("unreadable", string(v.Error))
		return
	}
	line("title", v.Title)
	for i, s := range handoff.VisibleLines(v.Text) {
		a.printf("%-11s %s\n", []string{"text", ""}[min(i, 1)], s)
	}
	status := string(v.Status)
	if v.Archive == todo.Archived {
		status += ", archived"
	}
	line("status", status)
	line("role", string(v.Role))
	line("priority", v.Priority)
	line("task class", v.TaskClass)
	line("labels", v.Labels...)
	line("claimed by", string(v.ClaimedBy))
	line("bound to", string(v.BoundAgent))
	line("excluded", texts(v.ExcludedAgents)...)
	line("depends on", texts(v.DependsOn)...)
	line("resume at", string(v.ResumeAt))
	line("writes", v.RequiredWriteScopes...)
	line("evidence", v.Evidence)
	line("reason", v.Reason)
	line("superseded", string(v.SupersededBy))
	line("successors", texts(v.SuccessorTodoIDs)...)
	line("created", timeAndAgent(v.CreatedAt, v.CreatedBy))
	line("updated", timeAndAgent(v.UpdatedAt, v.LastActorAgentID))
	line("completed", string(v.CompletedAt))
}

// holdsText prints for a person who may work on a Todo now, and what keeps the work.
func (a *answer) holdsText(v todo.ShowView, now todo.Instant) {
	if l := v.Lease; l != nil {
		state := "over"
		switch {
		case l.Active && l.ExpiresAt <= now:
			state = overForHolder
		case l.Active:
			state = "in force"
		case !l.Live && l.ExpiresAt > now:
			state = "given back"
		case l.Live:
			state = "not in force: " + string(l.Reason)
		}
		a.printf("lease       %s, version %d, until %s, %s\n", handoff.Visible(string(l.Owner)), l.Version, l.ExpiresAt, state)
	}
	for _, code := range v.Holds {
		a.printf("held by     %s\n", code)
	}
}

func texts[T ~string](values []T) []string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

func timeAndAgent(at todo.Instant, by todo.AgentID) string {
	if by == "" {
		return string(at)
	}
	return strings.TrimSpace(string(at) + " by " + string(by))
}
