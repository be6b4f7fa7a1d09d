package main

import (
	"context"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

type todoClaim struct {
	todoFlags
	ClaimedBy string `nonempty:"" placeholder:"AGENT" help:"Who shall own it: the agent that acts, which is the default."`
	mutationFlags
}

func (c *todoClaim) run(ctx context.Context, j *job) (*answer, error) {
	call, err := j.todoCall(ctx, c.todoFlags, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	by := todo.AgentID(j.id(c.ClaimedBy))
	if by == "" {
		by = call.Agent
	}
	var verified bool
	said, err := j.mutateTodo(ctx, call, func(call todo.Call) (todo.Answer, error) {
		a, err := j.ledger().Claim(ctx, call, by)
		verified = a.Refused == nil && a.Status != gitstore.Planned
		return a, err
	})
	if err == nil {
		said.members.set("current_authority_verified", verified)
	}
	return said, err
}

type todoRelease struct {
	todoFlags
	Override bool   `help:"Release another's claim; needs --reason."`
	Reason   string `placeholder:"TEXT" help:"Why."`
	mutationFlags
}

func (c *todoRelease) run(ctx context.Context, j *job) (*answer, error) {
	return j.changeTodo(ctx, c.todoFlags, c.mutationFlags, func(call todo.Call) (todo.Answer, error) {
		return j.ledger().Release(ctx, call, todo.ReleaseArgs{Override: c.Override, Reason: c.Reason})
	})
}
