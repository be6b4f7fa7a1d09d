package main

import (
	"context"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
)

type goalBind struct {
	goalArg
	goalFlags
	outputFlags
}

func (c *goalBind) run(ctx context.Context, j *job) (*answer, error) {
	f, err := j.withArg(c.goalArg, c.goalFlags)
	if err != nil {
		return nil, err
	}
	if !j.said(f.GoalID, "LOOPX_GOAL") {
		return nil, j.usagef("a goal is needed: git loopx goal bind GOAL")
	}
	v, err := j.goalShown(ctx, goalArg{}, f)
	if err != nil {
		return nil, err
	}
	value := string(v.GoalID) + "@" + v.ScopeID
	branch, before, err := j.repo.BranchGoal(ctx)
	if err != nil {
		return nil, err
	}
	if branch == "" {
		return nil, gitstore.ErrNoBranch
	}
	changed := before != value
	if changed {
		if branch, err = j.repo.SetBranchGoal(ctx, value); err != nil {
			return nil, err
		}
	}
	said := &answer{members: members{{"goal_id", v.GoalID}, {"scope_id", v.ScopeID}, {"branch", branch},
		{"status", bindStatus(changed)}, {"changed", changed}, {"provider_revision", v.Revision}}}
	said.printf("branch %s works for goal %s\n", handoff.Visible(branch), v.GoalID)
	return said, nil
}

type goalUnbind struct {
	outputFlags
}

func (c *goalUnbind) run(ctx context.Context, j *job) (*answer, error) {
	if _, err := j.open(true, true); err != nil {
		return nil, err
	}
	branch, before, err := j.repo.BranchGoal(ctx)
	if err != nil {
		return nil, err
	}
	if branch == "" {
		return nil, gitstore.ErrNoBranch
	}
	changed := before != ""
	if changed {
		if _, err := j.repo.SetBranchGoal(ctx, ""); err != nil {
			return nil, err
		}
	}
	said := &answer{members: members{{"branch", branch}, {"status", bindStatus(changed)}, {"changed", changed}}}
	said.printf("branch %s works for no particular goal\n", handoff.Visible(branch))
	return said, nil
}

func bindStatus(changed bool) string {
	if changed {
		return "applied"
	}
	return "no_change"
}
