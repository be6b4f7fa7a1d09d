package main

import (
	"context"
	"strings"

	"github.com/git-loopx/git-loopx/todo"
)

type todoUpdate struct {
	todoFlags
	Text               *string  `placeholder:"TEXT" help:"What there is to do."`
	Title              *string  `placeholder:"TEXT" help:"A short name, in one line."`
	Status             *string  `placeholder:"STATUS" help:"open, blocked or deferred."`
	Priority           *string  `placeholder:"P0…P4" help:"P0 is the most urgent."`
	TaskClass          *string  `placeholder:"WORD" help:"What kind of work it is."`
	Label              []string `sep:"none" placeholder:"LABEL" help:"Labels instead of those there are; repeatable."`
	RequiredWriteScope []string `sep:"none" placeholder:"PATH" help:"What the work will write, instead of what is there; repeatable."`
	BoundAgent         *string  `placeholder:"AGENT" help:"The only agent that may take it."`
	ExcludedAgent      []string `sep:"none" placeholder:"AGENT" help:"Agents that may not take it, instead of those there are; repeatable."`
	DependsOn          []string `sep:"none" placeholder:"TODO" help:"Todos that must be done first, instead of those there are, by their complete ids; repeatable."`
	ResumeAt           *string  `placeholder:"TIME" help:"Not before this time, as 2026-09-13T10:00:00+02:00."`
	Evidence           *string  `placeholder:"TEXT" help:"What shows how far it is."`
	Reason             *string  `placeholder:"TEXT" help:"Why it is as it is."`
	Note               *string  `placeholder:"TEXT" help:"A free-text note instead of the one there is."`

	ClearTitle               bool `help:"Clear the title."`
	ClearPriority            bool `help:"Clear the priority."`
	ClearTaskClass           bool `help:"Clear the task class."`
	ClearLabels              bool `aliases:"clear-label" help:"Clear the labels."`
	ClearRequiredWriteScopes bool `aliases:"clear-required-write-scope" help:"Clear the write scopes."`
	ClearBoundAgent          bool `help:"Let any agent take it."`
	ClearExcludedAgents      bool `aliases:"clear-excluded-agent" help:"Exclude no agent."`
	ClearDependsOn           bool `help:"Depend on no Todo."`
	ClearResumeAt            bool `help:"Wait for no time."`
	ClearEvidence            bool `help:"Clear the evidence."`
	ClearReason              bool `help:"Clear the reason."`
	ClearNote                bool `help:"Clear the note."`

	proofFlags
	mutationFlags
}

// args are the arguments as the rules take them.
func (c *todoUpdate) args(j *job) (todo.UpdateArgs, error) {
	a := todo.UpdateArgs{Text: c.Text, Title: c.Title, Priority: c.Priority, TaskClass: c.TaskClass,
		Evidence: c.Evidence, Reason: c.Reason, Note: c.Note}
	if c.Label != nil {
		a.Labels = &c.Label
	}
	if c.RequiredWriteScope != nil {
		a.RequiredWriteScopes = &c.RequiredWriteScope
	}
	if c.BoundAgent != nil {
		agent := todo.AgentID(j.id(*c.BoundAgent))
		a.BoundAgent = &agent
	}
	if c.ExcludedAgent != nil {
		agents := j.agentIDs(c.ExcludedAgent)
		a.ExcludedAgents = &agents
	}
	if c.DependsOn != nil {
		ids := j.todoIDs(c.DependsOn)
		a.DependsOn = &ids
	}
	if c.ResumeAt != nil {
		var at todo.Instant // empty clears, as with the other members
		var err error
		if *c.ResumeAt != "" {
			at, err = j.instant("--resume-at", *c.ResumeAt)
		}
		if err != nil {
			return a, err
		}
		a.ResumeAt = &at
	}
	if c.Status != nil {
		status := todo.WorkStatus(*c.Status)
		a.Status = &status
	}
	for _, f := range []struct {
		set  bool
		name string
	}{
		{c.ClearTitle, "title"}, {c.ClearPriority, "priority"}, {c.ClearTaskClass, "task_class"}, {c.ClearLabels, "labels"},
		{c.ClearRequiredWriteScopes, "required_write_scopes"}, {c.ClearBoundAgent, "bound_agent"},
		{c.ClearExcludedAgents, "excluded_agents"}, {c.ClearDependsOn, "depends_on"}, {c.ClearResumeAt, "resume_at"},
		{c.ClearEvidence, "evidence"}, {c.ClearReason, "reason"}, {c.ClearNote, "note"},
	} {
		if f.set {
			a.Clear = append(a.Clear, f.name)
		}
	}
	return a, nil
}

func (c *todoUpdate) run(ctx context.Context, j *job) (*answer, error) {
	args, err := c.args(j)
	if err != nil {
		return nil, err
	}
	call, err := j.todoCall(ctx, c.todoFlags, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	call.Proof = c.proof()
	return j.mutateTodo(ctx, call, func(call todo.Call) (todo.Answer, error) { return j.ledger().Update(ctx, call, args) })
}

type todoNote struct {
	todoFlags
	Text  *string `placeholder:"TEXT" help:"The new note."`
	File  string  `nonempty:"" placeholder:"FILE" help:"Read the new note from a file; - is standard input."`
	Clear bool    `help:"Take the note away."`
	proofFlags
	mutationFlags
}

// maxNoteFile is the most that is read of a note's file, in bytes: more than the 8000 characters a note may have.
const maxNoteFile = 8000*4 + 1

func (c *todoNote) run(ctx context.Context, j *job) (*answer, error) {
	given := 0
	for _, is := range []bool{c.Text != nil, c.File != "", c.Clear} {
		if is {
			given++
		}
	}
	switch {
	case given > 1:
		return nil, j.usagef("--text, --file and --clear exclude each other")
	case given == 0 && (c.OperationID != "" || c.ExpectedRevision != "" || c.DryRun || c.LeaseKey != nil || c.LeaseVersion != nil):
		return nil, j.usagef("--text, --file or --clear is needed to change the note")
	case given == 0:
		return showTodo(ctx, j, c.todoFlags, c.goalFlags, true)
	}
	args := todo.NoteArgs{Clear: c.Clear}
	switch {
	case c.Text != nil:
		args.Text = *c.Text
	case c.File != "":
		b, err := j.read(ctx, "--file", c.File, maxNoteFile)
		if err != nil {
			return nil, err
		}
		// A file ends in a line end that is none of the note's.
		args.Text = strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	}
	return j.changeTodo(ctx, c.todoFlags, c.mutationFlags, func(call todo.Call) (todo.Answer, error) {
		call.Proof = c.proof()
		return j.ledger().SetNote(ctx, call, args)
	})
}
