package main

import (
	"context"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

// acceptanceVerbs are those on the hold that work may be under until somebody confirms it.
func acceptanceVerbs(family string) []verb {
	return []verb{
		{words: "acceptance enable", family: family, flags: func() command { return &acceptanceEnable{} },
			about:   "hold work until it is confirmed",
			detail:  "Every Todo of role agent, or those that are named, may then be claimed and completed only as it was confirmed. Claims and leases that exist stay.",
			example: "git loopx goal acceptance enable --todo todo_a"},
		{words: "acceptance bind", family: family, flags: func() command { return &acceptanceBind{} },
			about:   "confirm a Todo as it reads now",
			detail:  "When its text, title, role, task class, write scopes or dependencies change afterwards, it has to be confirmed again.",
			example: "git loopx goal acceptance bind --todo todo_a"},
		{words: "acceptance disable", family: family, flags: func() command { return &acceptanceDisable{} },
			about:   "lift the hold; what was confirmed stays so",
			example: "git loopx goal acceptance disable"},
		{words: "acceptance show", family: family, flags: func() command { return &acceptanceShow{} },
			about: "show what is held and what is confirmed", example: "git loopx goal acceptance show"},
	}
}

type acceptanceEnable struct {
	Todo []string `sep:"none" placeholder:"TODO" help:"Hold only this Todo, named by its complete id; repeatable."`
	mutationFlags
}

func (c *acceptanceEnable) run(ctx context.Context, j *job) (*answer, error) {
	call, err := j.goalCall(ctx, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	a, err := j.ledger().EnableAcceptance(ctx, call, j.todoIDs(c.Todo))
	if err != nil {
		return nil, err
	}
	said := j.mutated(a)
	said.notef("hint: git loopx goal acceptance bind --todo TODO confirms a Todo")
	return said, nil
}

type acceptanceBind struct {
	Todo []string `sep:"none" placeholder:"TODO" help:"The Todo, by its complete id; repeatable."`
	mutationFlags
}

func (c *acceptanceBind) run(ctx context.Context, j *job) (*answer, error) {
	if len(c.Todo) == 0 {
		return nil, j.usagef("--todo is needed: what is confirmed")
	}
	call, err := j.goalCall(ctx, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	a, err := j.ledger().BindAcceptance(ctx, call, j.todoIDs(c.Todo))
	if err != nil {
		return nil, err
	}
	said := j.mutated(a)
	for _, id := range c.Todo {
		said.printf("  confirmed  %s\n", handoff.Visible(j.id(id)))
	}
	return said, nil
}

type acceptanceDisable struct{ mutationFlags }

func (c *acceptanceDisable) run(ctx context.Context, j *job) (*answer, error) {
	call, err := j.goalCall(ctx, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	a, err := j.ledger().DisableAcceptance(ctx, call)
	if err != nil {
		return nil, err
	}
	return j.mutated(a), nil
}

type acceptanceShow struct {
	goalArg
	goalFlags
	outputFlags
}

func (c *acceptanceShow) run(ctx context.Context, j *job) (*answer, error) {
	f, err := j.withArg(c.goalArg, c.goalFlags)
	if err != nil {
		return nil, err
	}
	goal, err := j.reading(ctx, f)
	if err != nil {
		return nil, err
	}
	v, err := j.ledger().Acceptance(ctx, goal)
	if err != nil {
		return nil, err
	}
	said := &answer{}
	if err := said.members.merge(v); err != nil {
		return nil, err
	}
	said.printf("acceptance %s\n", acceptanceWords(v.Configured, todo.AcceptanceSettings{Enabled: v.Enabled, Scope: v.Scope, TodoIDs: v.TodoIDs}))
	var rows [][]string
	for _, g := range v.Guards {
		state := string(g.State)
		if !g.Applicable {
			state += ", not held"
		}
		rows = append(rows, []string{"  " + handoff.Visible(string(g.TodoID)), state})
	}
	said.table(rows)
	return said, nil
}

// acceptanceWords is the hold of a goal in a few words.
func acceptanceWords(configured bool, v todo.AcceptanceSettings) string {
	switch {
	case !configured:
		return "never enabled"
	case !v.Enabled:
		return "off"
	case v.Scope == todo.HoldSelected:
		return "on, for " + counted(len(v.TodoIDs), "Todo")
	}
	return "on, for every Todo of role agent"
}
