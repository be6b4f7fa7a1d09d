package main

import (
	"context"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// The order in which a command learns what was not said (cli.md): flag, environment, the branch's binding (goal), git
// config, .loopx.toml (goal), and for commands on Todos the only goal of the repository. What it finds counts as given.

// agentNamed returns the agent of a command, "" where nothing names one. The repository must be open unless the flag
// or the environment names it.
func (j *job) agentNamed(ctx context.Context, flag string) (todo.AgentID, error) {
	if v := j.id(flag); v != "" {
		return todo.AgentID(v), nil
	}
	if v := j.id(j.Getenv("LOOPX_AGENT")); v != "" {
		return todo.AgentID(v), nil
	}
	v, _, err := j.repo.Setting(ctx, "loopx.agent")
	return todo.AgentID(j.id(v)), err
}

// sessionNamed returns the session of a command, "" where nothing names one.
func (j *job) sessionNamed(flag string) string {
	if flag != "" {
		return flag
	}
	return j.Getenv("LOOPX_SESSION")
}

// said tells whether flag or environment name the value, so that no configuration is needed.
func (j *job) said(flag, variable string) bool { return flag != "" || j.Getenv(variable) != "" }

// goalNamed returns the goal of a command, "" where nothing names one. only says that the only goal of the repository
// will do. The repository must be open unless the flag or the environment names the goal.
func (j *job) goalNamed(ctx context.Context, flag string, only bool) (todo.GoalID, error) {
	if v := j.id(flag); v != "" {
		return todo.GoalID(v), nil
	}
	if v := j.id(j.Getenv("LOOPX_GOAL")); v != "" {
		return todo.GoalID(v), nil
	}
	goal, err := j.goalBound(ctx)
	if goal != "" || err != nil {
		return goal, err
	}
	v, _, err := j.repo.Setting(ctx, "loopx.goal")
	if v = strings.TrimSpace(v); v != "" || err != nil {
		return todo.GoalID(v), err
	}
	file, err := readConfigFile(j.repo.WorkTree())
	if file.Goal != "" || err != nil {
		return todo.GoalID(file.Goal), err
	}
	if !only {
		return "", nil
	}
	refs, err := j.repo.Refs(ctx, todo.GoalRefs)
	if err != nil || len(refs) != 1 {
		return "", err
	}
	return todo.GoalID(strings.TrimPrefix(string(refs[0].Name), string(todo.GoalRefs))), nil
}

// goalBound returns the goal that the current branch is bound to, "" for none. A binding that names the scope id of
// another goal of the same name is an error and not skipped: the work it was made for is not here.
func (j *job) goalBound(ctx context.Context) (todo.GoalID, error) {
	settings, err := j.repo.Settings(ctx)
	if err != nil || !bindsAny(settings) {
		return "", err
	}
	branch, value, err := j.repo.BranchGoal(ctx)
	if value == "" || err != nil {
		return "", err
	}
	name, scope, full := strings.Cut(value, "@")
	goal := todo.GoalID(name)
	if !full {
		return goal, nil
	}
	view, err := j.ledger().Goal(ctx, goal)
	if err != nil {
		return "", err
	}
	if view.Readable && view.ScopeID != scope {
		return "", usagef("usage_error", "branch %q is bound to goal %q of scope %s, and the goal here has scope %s",
			branch, name, scope, view.ScopeID).
			hintf("name the goal with --goal-id, or bind the branch anew: git loopx goal bind %s", name)
	}
	return goal, nil
}

// bindsAny tells whether any branch is bound: only then it matters which one is checked out, which costs a process.
func bindsAny(settings gitstore.Settings) bool {
	for key := range settings {
		if strings.HasPrefix(key, "branch.") && strings.HasSuffix(key, ".loopxgoal") {
			return true
		}
	}
	return false
}

// missingGoal is the answer where no goal was named.
func (j *job) missingGoal(ctx context.Context) error {
	e := j.usagef("--goal-id is needed")
	if refs, err := j.repo.Refs(ctx, todo.GoalRefs); err == nil && len(refs) == 0 {
		return e.hintf("there is no goal here yet: git loopx init creates one")
	}
	return e.hintf("--goal-id, LOOPX_GOAL, git loopx goal bind or git config loopx.goal name the goal")
}
