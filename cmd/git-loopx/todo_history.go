package main

import (
	"context"
	"time"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

type todoHistory struct {
	todoFlags
	limitFlag
	goalFlags
	agentFlags
	outputFlags
}

func (c *todoHistory) run(ctx context.Context, j *job) (*answer, error) {
	if err := j.checkLimit(c.Limit); err != nil {
		return nil, err
	}
	id, err := j.todoNamed(c.todoFlags)
	if err != nil {
		return nil, err
	}
	goal, err := j.reading(ctx, c.goalFlags)
	if err != nil {
		return nil, err
	}
	commits, err := onTodo(ctx, j, goal, id, func(full todo.ID) (list []step, err error) {
		id = full
		commits, err := j.ledger().History(ctx, goal, full, 0)
		for _, k := range commits {
			list = append(list, step{string(k.ID), string(k.Parent), k.Subject, k.Time.UTC().Format(time.RFC3339), k.Operation, k.Agent, k.Session})
		}
		return list, err
	})
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"goal_id", goal}}}
	said.members.setGiven("todo_id", string(id))
	var rows [][]string
	for _, s := range listed(said, "history", commits, len(commits), c.Limit) {
		rows = append(rows, []string{s.At, s.Revision[:min(12, len(s.Revision))], orDash(s.Agent), handoff.Visible(s.Subject), handoff.Visible(s.Operation)})
	}
	said.table(rows)
	return said, nil
}

// step is one line of a history.
type step struct {
	Revision  string `json:"provider_revision"`
	Parent    string `json:"parent_revision,omitzero"`
	Subject   string `json:"subject"`
	At        string `json:"at"`
	Operation string `json:"operation_id,omitzero"`
	Agent     string `json:"agent_id,omitzero"`
	Session   string `json:"session_id,omitzero"`
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return handoff.Visible(s)
}

type todoReceipt struct {
	OperationArg string `arg:"" optional:"" name:"operation" help:"The operation id."`
	OperationID  string `name:"operation-id" nonempty:"" placeholder:"ID" help:"The same as a flag."`
	goalFlags
	agentFlags
	outputFlags
}

func (c *todoReceipt) run(ctx context.Context, j *job) (*answer, error) {
	id := c.OperationID
	switch {
	case id == "":
		id = c.OperationArg
	case c.OperationArg != "" && c.OperationArg != id:
		return nil, j.usagef("two operations are named: %q and %q", c.OperationArg, id)
	}
	if id = j.id(id); id == "" {
		return nil, j.usagef("an operation id is needed")
	}
	goal, err := j.reading(ctx, c.goalFlags)
	if err != nil {
		return nil, err
	}
	r, err := j.ledger().FindReceipt(ctx, goal, id)
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"goal_id", goal}}}
	if r == nil {
		said.members.set("status", "missing")
		said.members.set("operation_id", id)
		said.printf("missing: goal %s has no operation %s\n", handoff.Visible(string(goal)), handoff.Visible(id))
		return said, nil
	}
	said.members.setGiven("todo_id", r.Todo)
	said.members.set("status", "found")
	said.members.set("operation_id", id)
	said.members.set("original_receipt", receiptMembers(*r))
	said.printf("found: %s %s\n  operation  %s\n  revision   %s\n", handoff.Visible(r.Kind), handoff.Visible(r.Todo),
		handoff.Visible(id), r.Revision)
	if !r.At.IsZero() {
		said.printf("  at         %s\n", r.At.UTC().Format(time.RFC3339))
	}
	return said, nil
}
