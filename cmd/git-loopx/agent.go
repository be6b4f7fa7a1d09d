package main

import (
	"context"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func agentVerbs() []verb {
	family := string(todo.CodeInvalidGoalRequest)
	return []verb{
		{words: "add", family: family, flags: func() command { return &agentAdd{} },
			about: "register an agent with a goal", example: "git loopx agent add agent-a --label 'Anna'"},
		{words: "list", family: family, flags: func() command { return &agentList{} },
			about: "list the agents of a goal", example: "git loopx agent list"},
		{words: "remove", family: family, flags: func() command { return &agentRemove{} },
			about:   "take an agent off a goal",
			detail:  "What the agent has claimed stays claimed, and its leases count no more; the answer lists both.",
			example: "git loopx agent remove agent-a"},
	}
}

// agentNameFlags name the agent that is added or removed; these verbs have no actor.
type agentNameFlags struct {
	AgentArg  string `arg:"" optional:"" name:"agent" help:"The agent."`
	AgentID   string `name:"agent-id" nonempty:"" placeholder:"AGENT" help:"The same as a flag; else LOOPX_AGENT, git config loopx.agent."`
	SessionID string `name:"session-id" nonempty:"" placeholder:"SESSION" help:"The session that acts; else LOOPX_SESSION."`
}

// agentCall is call for the verbs on agents.
func (j *job) agentCall(ctx context.Context, f agentNameFlags, goal goalFlags, op operationFlags, dryRun bool) (todo.Call, error) {
	name := f.AgentID
	switch {
	case name == "":
		name = f.AgentArg
	case f.AgentArg != "" && j.id(f.AgentArg) != j.id(name):
		return todo.Call{}, j.usagef("two agents are named: %q and %q", f.AgentArg, name)
	}
	call, err := j.call(ctx, goal, agentFlags{AgentID: name, SessionID: f.SessionID}, op, dryRun, true)
	switch {
	case err != nil:
		return call, err
	case call.Agent == "":
		return call, j.usagef("an agent is needed: its name, or --agent-id")
	case call.Goal == "":
		return call, j.missingGoal(ctx)
	}
	return call, nil
}

type agentAdd struct {
	agentNameFlags
	Label string `placeholder:"TEXT" help:"What people call the agent."`
	goalFlags
	operationFlags
	dryRunFlag
	outputFlags
}

func (c *agentAdd) run(ctx context.Context, j *job) (*answer, error) {
	call, err := j.agentCall(ctx, c.agentNameFlags, c.goalFlags, c.operationFlags, c.DryRun)
	if err != nil {
		return nil, err
	}
	a, err := j.ledger().AddAgent(ctx, call, c.Label)
	if err != nil {
		return nil, err
	}
	return j.agentMutated(a, call), nil
}

type agentRemove struct {
	agentNameFlags
	goalFlags
	operationFlags
	dryRunFlag
	outputFlags
}

func (c *agentRemove) run(ctx context.Context, j *job) (*answer, error) {
	call, err := j.agentCall(ctx, c.agentNameFlags, c.goalFlags, c.operationFlags, c.DryRun)
	if err != nil {
		return nil, err
	}
	a, err := j.ledger().RemoveAgent(ctx, call)
	if err != nil {
		return nil, err
	}
	return j.agentMutated(a, call), nil
}

// agentMutated is mutated with the agent beside the goal.
func (j *job) agentMutated(a todo.Answer, call todo.Call) *answer {
	said := j.mutatedWhat(a, string(call.Agent))
	said.members.set("agent_id", call.Agent)
	said.printf("  goal       %s\n", handoff.Visible(string(a.Goal)))
	told := telling(a.Receipt.Result)
	for _, list := range []struct {
		name string
		rows jsontext.Value
	}{{"claims", told.ClaimedTodos}, {"leases", told.ActiveLeases}} {
		var kept []struct {
			TodoID string `json:"todo_id"`
		}
		if len(list.rows) == 0 || json.Unmarshal(list.rows, &kept) != nil {
			continue
		}
		for _, k := range kept {
			said.printf("  %-10s %s\n", list.name, handoff.Visible(k.TodoID))
		}
	}
	return said
}

type agentList struct {
	goalArg
	goalFlags
	limitFlag
	outputFlags
}

func (c *agentList) run(ctx context.Context, j *job) (*answer, error) {
	if err := j.checkLimit(c.Limit); err != nil {
		return nil, err
	}
	v, err := j.goalShown(ctx, c.goalArg, c.goalFlags)
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"goal_id", v.GoalID}, {"provider_revision", v.Revision}}}
	var rows [][]string
	for _, a := range listed(said, "agents", v.Agents, len(v.Agents), c.Limit) {
		rows = append(rows, []string{handoff.Visible(string(a.AgentID)), string(a.AddedAt), handoff.Visible(a.Label)})
	}
	said.table(rows)
	return said, nil
}
