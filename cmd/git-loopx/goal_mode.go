package main

import (
	"context"

	"github.com/git-loopx/git-loopx/todo"
)

type goalModeShow struct {
	goalArg
	goalFlags
	outputFlags
}

func (c *goalModeShow) run(ctx context.Context, j *job) (*answer, error) {
	v, err := j.goalShown(ctx, c.goalArg, c.goalFlags)
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"schema_version", "goal_handoff_mode_v0"}, {"goal_id", v.GoalID},
		{"handoff_mode", v.Mode}, {"provider_revision", v.Revision}}}
	said.printf("%s\n", v.Mode)
	return said, nil
}

type goalModeSet struct {
	ModeArg string `arg:"" optional:"" name:"mode" help:"The mode: soft_claim or hard_lease."`
	Mode    string `name:"mode" nonempty:"" placeholder:"MODE" help:"The same as a flag."`
	mutationFlags
}

func (c *goalModeSet) run(ctx context.Context, j *job) (*answer, error) {
	mode := c.Mode
	switch {
	case mode == "":
		mode = c.ModeArg
	case c.ModeArg != "" && c.ModeArg != mode:
		return nil, j.usagef("two modes are named: %q and %q", c.ModeArg, mode)
	}
	if mode == "" {
		return nil, j.usagef("a mode is needed: soft_claim or hard_lease")
	}
	call, err := j.call(ctx, c.goalFlags, c.agentFlags, c.operationFlags, c.DryRun, true)
	if err != nil {
		return nil, err
	}
	if call.Goal == "" {
		return nil, j.missingGoal(ctx)
	}
	a, err := j.ledger().SetMode(ctx, call, todo.Mode(mode))
	if err != nil {
		return nil, err
	}
	return j.mutated(a), nil
}
