package main

import (
	"context"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

func initVerbs() []verb {
	return []verb{{
		family: string(todo.CodeInvalidGoalRequest), flags: func() command { return &initCommand{} },
		about:   "create a goal here and install nothing else",
		detail:  "Where the goal exists already nothing is changed, and that is fine.",
		example: "git loopx init",
	}}
}

func goalVerbs() []verb {
	family := string(todo.CodeInvalidGoalRequest)
	return append([]verb{
		{words: "create", family: family, flags: func() command { return &goalCreate{} },
			about: "create a goal", example: "git loopx goal create payments --title 'Payments rewrite'"},
		{words: "list", family: family, flags: func() command { return &goalList{} },
			about: "list the goals of this repository", example: "git loopx goal list"},
		{words: "show", family: family, flags: func() command { return &goalShow{} },
			about: "show one goal with its agents and its revision", example: "git loopx goal show payments"},
		{words: "mode show", family: family, flags: func() command { return &goalModeShow{} },
			about: "show what taking work of a goal needs", example: "git loopx goal mode show"},
		{words: "mode set", family: family, flags: func() command { return &goalModeSet{} },
			about:   "set what taking work of a goal needs",
			detail:  "soft_claim, the default: claims only. hard_lease: taking, changing and finishing claimed work needs a lease that is in force. It is refused while claimed work is open or a lease is in force.",
			example: "git loopx goal mode set hard_lease"},
		{words: "bind", family: family, flags: func() command { return &goalBind{} },
			about:   "make a goal the default of the current branch",
			detail:  "Writes branch.<name>.loopxGoal into this repository's configuration, nothing else.",
			example: "git loopx goal bind payments"},
		{words: "unbind", family: family, flags: func() command { return &goalUnbind{} },
			about: "take the current branch's default goal away", example: "git loopx goal unbind"},
	}, acceptanceVerbs(family)...)
}

type goalArg struct {
	GoalArg string `arg:"" optional:"" name:"goal" help:"The goal."`
}

// withArg lets a goal given as an argument stand for the flag.
func (j *job) withArg(arg goalArg, f goalFlags) (goalFlags, error) {
	switch {
	case arg.GoalArg == "":
		return f, nil
	case f.GoalID != "" && j.id(f.GoalID) != j.id(arg.GoalArg):
		return f, j.usagef("two goals are named: %q and %q", arg.GoalArg, f.GoalID)
	}
	return goalFlags{GoalID: arg.GoalArg}, nil
}

// newGoalFlags are those of the two verbs that make a goal.
type newGoalFlags struct {
	goalArg
	Title string `placeholder:"TEXT" help:"What the goal is, in one line."`
	Mode  string `nonempty:"" placeholder:"MODE" help:"What taking its work needs: soft_claim, the default, or hard_lease."`
	mutationFlags
}

// call is the call that makes the goal; its goal is "" where none was named.
func (f *newGoalFlags) call(ctx context.Context, j *job) (todo.Call, error) {
	goal, err := j.withArg(f.goalArg, f.goalFlags)
	if err != nil {
		return todo.Call{}, err
	}
	return j.call(ctx, goal, f.agentFlags, f.operationFlags, f.DryRun, false)
}

type initCommand struct{ newGoalFlags }

func (c *initCommand) run(ctx context.Context, j *job) (*answer, error) {
	call, err := c.call(ctx, j)
	if err != nil {
		return nil, err
	}
	if call.Goal == "" {
		call.Goal = "main"
	}
	j.about(call.Goal, "")
	a, err := j.ledger().CreateGoal(ctx, call, c.Title, todo.Mode(c.Mode))
	switch {
	case todo.CodeOf(err) == todo.CodeGoalExists:
		return c.existing(ctx, j, call.Goal)
	case err != nil:
		return nil, err
	}
	said := j.mutated(a)
	said.notef("hint: register who works on it: git loopx agent add NAME")
	return said, nil
}

// existing is the answer where the goal is there already: ok, if it can be read.
func (c *initCommand) existing(ctx context.Context, j *job, id todo.GoalID) (*answer, error) {
	v, err := j.ledger().Goal(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := unreadableGoal(v); err != nil {
		return nil, err
	}
	said := &answer{members: members{{"goal_id", id}, {"status", gitstore.NoChange}, {"changed", false},
		{"provider_revision", v.Revision}, {"projection_delivery", "not_required"}}}
	said.printf("goal %s is here already, nothing changed\n  revision   %s\n", handoff.Visible(string(id)), v.Revision)
	return said, nil
}

func unreadableGoal(v todo.GoalView) error {
	if v.Readable {
		return nil
	}
	return todo.Fail(v.Error, "goal %s: its record cannot be read", v.GoalID)
}

type goalCreate struct{ newGoalFlags }

func (c *goalCreate) run(ctx context.Context, j *job) (*answer, error) {
	call, err := c.call(ctx, j)
	if err != nil {
		return nil, err
	}
	if call.Goal == "" {
		return nil, j.missingGoal(ctx)
	}
	a, err := j.ledger().CreateGoal(ctx, call, c.Title, todo.Mode(c.Mode))
	if err != nil {
		return nil, err
	}
	return j.mutated(a), nil
}

type goalList struct {
	limitFlag
	outputFlags
}

func (c *goalList) run(ctx context.Context, j *job) (*answer, error) {
	if err := j.checkLimit(c.Limit); err != nil {
		return nil, err
	}
	if _, err := j.open(false, false); err != nil {
		return nil, err
	}
	goals, err := j.ledger().Goals(ctx)
	if err != nil {
		return nil, err
	}
	said := &answer{}
	shown := listed(said, "goals", goals, len(goals), c.Limit)
	var rows [][]string
	for _, g := range shown {
		row := []string{handoff.Visible(string(g.GoalID)), string(g.Mode), counted(len(g.Agents), "agent"), firstLine(g.Title, 60)}
		if !g.Readable {
			row = []string{handoff.Visible(string(g.GoalID)), "unreadable: " + string(g.Error)}
		}
		rows = append(rows, row)
	}
	said.table(rows)
	return said, nil
}

type goalShow struct {
	goalArg
	goalFlags
	outputFlags
}

func (c *goalShow) run(ctx context.Context, j *job) (*answer, error) {
	v, err := j.goalShown(ctx, c.goalArg, c.goalFlags)
	if err != nil {
		return nil, err
	}
	said := &answer{}
	if err := said.members.merge(v); err != nil {
		return nil, err
	}
	said.printf("goal       %s\n", handoff.Visible(string(v.GoalID)))
	if v.Title != "" {
		said.printf("title      %s\n", handoff.Visible(v.Title))
	}
	said.printf("mode       %s\nscope      %s\ncreated    %s\nrevision   %s\n", v.Mode, v.ScopeID, v.Created, v.Revision)
	if v.Acceptance != nil && v.Acceptance.Enabled {
		said.printf("acceptance %s\n", acceptanceWords(true, *v.Acceptance))
	}
	for _, a := range v.Agents {
		said.printf("agent      %s%s\n", handoff.Visible(string(a.AgentID)), labelled(a.Label))
	}
	return said, nil
}

// goalShown reads the goal that a verb names.
func (j *job) goalShown(ctx context.Context, arg goalArg, f goalFlags) (todo.GoalView, error) {
	f, err := j.withArg(arg, f)
	if err != nil {
		return todo.GoalView{}, err
	}
	id, err := j.reading(ctx, f)
	if err != nil {
		return todo.GoalView{}, err
	}
	v, err := j.ledger().Goal(ctx, id)
	if err != nil {
		return v, err
	}
	return v, unreadableGoal(v)
}
