package main

import (
	"context"
	"runtime/debug"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
	"github.com/git-loopx/git-loopx/todo/projection"
)

// projections returns the rules of package projection on the repository that is open.
func (j *job) projections() *projection.Ledger { return &projection.Ledger{Ledger: *j.ledger()} }

// viewOf is the Markdown view that a mutation calls for, and what became of it.
type viewOf struct {
	goal    todo.GoalID
	trigger gitstore.ObjectID // the commit of the operation
	state   projection.State
}

// views says that the view of a goal follows a mutation, and adds what becomes of it to the answer. A dry run has none.
func (a *answer) views(m todo.Answer) {
	v := &viewOf{goal: m.Goal, trigger: m.Receipt.Revision, state: projection.NotRequired}
	if v.trigger == "" {
		v.trigger = m.Revision
	}
	a.members.set("projection_delivery", &v.state)
	if m.Status != gitstore.Planned {
		a.view = v
	}
}

// deliver delivers the view that an answer calls for. What cannot be delivered changes nothing but the answer's words.
func (j *job) deliver(ctx context.Context, said *answer) {
	if said.view == nil {
		return
	}
	debug.SetMemoryLimit(48 << 20) // the view of 10,000 Todos is some megabytes, and is there in several forms at once
	d := j.projections().Deliver(ctx, said.view.goal, said.view.trigger)
	said.view.state = d.State
	if d.Outbox != nil {
		said.members.set("projection_outbox", d.Outbox)
	}
	if d.State == projection.Pending {
		said.notef("hint: what was done stands, but its Markdown view is pending: %s", handoff.Visible(d.Outbox.Action))
	}
}

type todoProjectMarkdown struct {
	goalFlags
	ProviderRevision string `name:"provider-revision" nonempty:"" placeholder:"COMMIT" help:"The goal's revision, in full: another one is refused."`
	Execute          bool   `help:"Write the file; else it is only told what would be written."`
	outputFlags
}

func (c *todoProjectMarkdown) run(ctx context.Context, j *job) (*answer, error) {
	if c.Execute && c.ProviderRevision == "" {
		return nil, j.usagef("--provider-revision is needed: the revision that the view shall show")
	}
	goal, err := j.reading(ctx, c.goalFlags)
	if err != nil {
		return nil, err
	}
	v, err := j.ledger().Goal(ctx, goal)
	if err != nil {
		return nil, err
	}
	request := projection.Request{Goal: goal, Trigger: v.Revision, Expected: gitstore.ObjectID(c.ProviderRevision), Report: !c.Execute}
	if request.Expected != "" && request.Expected != v.Revision {
		return nil, &gitstore.MismatchError{Expected: request.Expected, Current: v.Revision}
	}
	d, err := j.projections().Project(ctx, request)
	if err != nil {
		return nil, err
	}
	return projected(goal, v.Revision, d, request.Report), nil
}

// projected is the answer about a view that was asked for. One that could not be delivered is a failure of this verb,
// which does nothing else.
func projected(goal todo.GoalID, tip gitstore.ObjectID, d projection.Delivery, report bool) *answer {
	said := &answer{}
	m := &said.members
	m.set("goal_id", goal)
	status := string(d.State)
	switch {
	case d.Refused != nil:
		status = string(d.Refused.Status)
		said.refused = explain(d.Refused)
		said.refused.hint = d.Remedy + ", then run the same command again"
	case d.State == projection.Pending:
		status = string(gitstore.Planned)
	}
	m.set("status", status)
	if d.Outbox != nil && d.Outbox.Revision != "" {
		tip = d.Outbox.Revision
	}
	m.set("changed", d.State == projection.Delivered)
	m.set("provider_revision", tip)
	m.set("projection_delivery", d.State)
	if d.Outbox != nil {
		m.set("projection_outbox", d.Outbox)
	}
	if said.refused != nil {
		return said
	}
	said.printf("Markdown view of %s: %s\n  revision   %s\n", handoff.Visible(string(goal)), status, tip)
	switch {
	case d.State == projection.NotRequired:
		said.notef("hint: git config loopx.projection PATH names the file that shall show it")
	case d.Outbox.Action != "":
		said.notef("hint: %s", handoff.Visible(d.Outbox.Action))
	}
	return said
}
