package main

import (
	"context"
	"runtime/debug"
	"slices"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

type todoReady struct {
	Limit   *int `placeholder:"N" help:"Show at most N (200); 0 is all."`
	Explain bool `help:"Tell for each other Todo that is neither done nor archived why it is not ready."`
	Claim   bool `help:"Claim the first one that is nobody's."`
	requestFlags
	goalFlags
	agentFlags
	operationNames
	dryRunFlag
	outputFlags
}

func (c *todoReady) run(ctx context.Context, j *job) (*answer, error) {
	switch {
	case c.Claim && (c.Limit != nil || c.Explain):
		return nil, j.usagef("--claim takes one Todo and shows no list: --limit and --explain do not go with it")
	case c.Claim:
		return c.claim(ctx, j)
	case c.OperationID != "" || c.ExpectedRevision != "" || c.DryRun || c.requestFlags.given():
		return nil, j.usagef("--operation-id, --expected-revision, --dry-run and the flags of a lease belong to --claim")
	}
	return c.list(ctx, j)
}

// claim selects and claims in one step.
func (c *todoReady) claim(ctx context.Context, j *job) (*answer, error) {
	request, err := j.leaseRequest(&c.requestFlags)
	if err != nil {
		return nil, err
	}
	call, err := j.goalCall(ctx, mutationFlags{goalFlags: c.goalFlags, agentFlags: c.agentFlags,
		operationFlags: operationFlags{c.operationNames}, dryRunFlag: c.dryRunFlag})
	if err != nil {
		return nil, err
	}
	a, err := j.leases().ClaimReady(ctx, call, request)
	if err != nil {
		return nil, err
	}
	if !a.Nothing {
		j.about(call.Goal, a.Todo)
		return j.claimed(a), nil
	}
	said := &answer{members: members{{"goal_id", call.Goal}, {"status", gitstore.NoChange}, {"changed", false}}}
	said.members.setGiven("provider_revision", string(a.Revision))
	for _, m := range []member{{"projection_delivery", "not_required"}, {"todo", nil}, {"current_authority_verified", false}} {
		said.members.set(m.name, m.value)
	}
	said.printf("nothing is ready, nothing was claimed\n")
	said.notef("hint: git loopx todo ready --explain tells why")
	return said, nil
}

// list shows what is ready.
func (c *todoReady) list(ctx context.Context, j *job) (*answer, error) {
	debug.SetGCPercent(400) // as for todo list
	limit := 200
	if c.Limit != nil {
		limit = *c.Limit
	}
	if err := j.checkLimit(limit); err != nil {
		return nil, err
	}
	if _, err := j.open(false, !j.said(c.GoalID, "LOOPX_GOAL") || !j.said(c.AgentID, "LOOPX_AGENT")); err != nil {
		return nil, err
	}
	goal, err := j.reading(ctx, c.goalFlags)
	if err != nil {
		return nil, err
	}
	agent, err := j.agentNamed(ctx, c.AgentID)
	if err != nil {
		return nil, err
	}
	list, err := j.ledger().Ready(ctx, goal, agent, limit, c.Explain)
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"goal_id", goal}, {"provider_revision", list.Revision}}}
	said.members.setGiven("agent_id", string(agent))
	said.listed("todos", readyEntries(list.Rows), len(list.Rows), list.Total)
	if c.Explain {
		said.members.set("held", append([]todo.Held{}, list.Held...))
	}
	switch {
	case len(list.Rows) == 0 && !c.Explain:
		said.notef("hint: nothing is ready; --explain tells why")
	case len(list.Rows) == 0 && len(list.Held) == 0:
		said.notef("hint: no Todo is open; git loopx todo list --all shows those done and archived")
	}
	if !j.line.json {
		said.readyText(list)
	}
	return said, nil
}

// readyEntries is the list of ready Todos as the JSON answer has it.
type readyEntries []todo.ReadyEntry

func (l readyEntries) appendJSON(b []byte) []byte {
	size := 2
	for _, e := range l {
		size += e.Size() + len(`"mine":false,`)
	}
	b = append(slices.Grow(b, size), '[')
	for i, e := range l {
		if i > 0 {
			b = append(b, ',')
		}
		b = e.AppendJSON(b)
		b = append(b[:len(b)-1], `,"mine":`...) // in place of the object's end
		if e.Mine {
			b = append(b, `true}`...)
		} else {
			b = append(b, `false}`...)
		}
	}
	return append(b, ']')
}

// readyText prints what is ready, then what is held and why.
func (a *answer) readyText(list todo.ReadyList) {
	rows := make([][]string, len(list.Rows))
	for i, e := range list.Rows {
		rows[i] = appendTodoRow(nil, e.Entry)
	}
	a.table(rows)
	if len(list.Held) == 0 {
		return
	}
	a.printf("held:\n")
	rows = rows[:0]
	for _, h := range list.Held {
		rows = append(rows, []string{"  " + handoff.Visible(string(h.TodoID)), string(h.Code)})
	}
	a.table(rows)
}
