package main

import (
	"context"

	"github.com/git-loopx/git-loopx/todo"
)

func todoVerbs() []verb {
	add, update, claim := string(todo.CodeInvalidAdd), string(todo.CodeInvalidUpdate), string(todo.CodeInvalidClaim)
	finish, archive, batch := string(todo.CodeInvalidLifecycle), string(todo.CodeInvalidArchive), string(todo.CodeInvalidBatch)
	return []verb{
		{words: "add", family: add, flags: func() command { return &todoAdd{} },
			about:   "add a Todo",
			detail:  "An open Todo of the same role and text is not added twice.",
			example: "git loopx todo add 'Bound the retry loop by time' --priority P1 --claimed-by agent-a"},
		{words: "list", flags: func() command { return &todoList{} },
			about: "list Todos", detail: "Done and archived ones only with --all or --status.", example: "git loopx todo list --label ci"},
		{words: "show", flags: func() command { return &todoShow{} },
			about: "show a Todo with its note, its lease and what holds it", example: "git loopx todo show todo_a"},
		{words: "ready", family: claim, flags: func() command { return &todoReady{} },
			about:   "list what can be worked on now, the most urgent first",
			detail:  "With --claim the first of them that is nobody's is claimed in the same step: of many who ask at once, each gets another. Nothing ready is no failure.",
			example: "git loopx todo ready --claim --agent-id agent-a"},
		{words: "claim", family: claim, flags: func() command { return &todoClaim{} },
			about:   "claim a Todo for the agent that acts",
			detail:  "Another's Todo is not claimed but handed over: git loopx handoff. Where the goal's mode is hard_lease the claim needs a lease, which the flags take in the same step.",
			example: "git loopx todo claim todo_a --agent-id agent-a --task-lease-idempotency-key execution-a"},
		{words: "release", family: claim, flags: func() command { return &todoRelease{} },
			about:   "give a claim back",
			detail:  "Another's claim is released with --override and a reason only.",
			example: "git loopx todo release todo_a"},
		{words: "update", family: update, flags: func() command { return &todoUpdate{} },
			about: "change members of a Todo", example: "git loopx todo update todo_a --priority P0 --clear-title"},
		{words: "note", family: update, flags: func() command { return &todoNote{} },
			about:   "show, replace or clear the free-text note on a Todo",
			example: "git loopx todo note todo_a --text 'The flake is in the fixture'"},
		{words: "complete", family: finish, flags: func() command { return &todoComplete{} },
			about: "complete a Todo", example: "git loopx todo complete todo_a --evidence 'commit 1f3c, tests pass'"},
		{words: "reopen", family: finish, flags: func() command { return &todoReopen{} },
			about: "make a Todo open again", example: "git loopx todo reopen todo_a --reason 'it came back'"},
		{words: "supersede", family: finish, flags: func() command { return &todoSupersede{} },
			about: "end a Todo in favour of another", example: "git loopx todo supersede todo_a --by todo_b"},
		{words: "archive", family: archive, flags: func() command { return &todoArchive{} },
			about:   "put a finished Todo away",
			detail:  "With --completed: all done Todos but the newest; it only tells which, until --execute.",
			example: "git loopx todo archive --completed --max-active-done 10 --execute"},
		{words: "apply", family: batch, flags: func() command { return &todoApply{} },
			about:   "apply a file of changes in one step, all or nothing",
			detail:  "One JSON object per line, with op (add, update, note, claim, release, complete, reopen, supersede or archive) and the flags of that verb as members, in snake case; later lines see earlier ones.",
			example: "git loopx todo apply ./plan.jsonl --agent-id agent-a --operation-id plan-1"},
		{words: "receipt", flags: func() command { return &todoReceipt{} },
			about:   "tell what an operation id did",
			detail:  "Found or missing, both are fine; a receipt is history and grants nothing.",
			example: "git loopx todo receipt handoff-1"},
		{words: "history", flags: func() command { return &todoHistory{} },
			about: "show who did what, newest first", example: "git loopx todo history todo_a"},
		{words: "project-markdown", flags: func() command { return &todoProjectMarkdown{} },
			about:   "write the Todos into the Markdown file that git config loopx.projection names",
			detail:  "Every change does so by itself; this repairs the file after something was in the way. Without --execute it only tells what would be written.",
			example: "git loopx todo project-markdown --provider-revision \"$REVISION\" --execute"},
	}
}

// todoCall is call for a verb on one Todo: the goal and the Todo must be named, the only goal will do.
func (j *job) todoCall(ctx context.Context, t todoFlags, m mutationFlags) (todo.Call, error) {
	id, err := j.needTodo(t)
	if err != nil {
		return todo.Call{}, err
	}
	call, err := j.goalCall(ctx, m)
	call.Todo = id
	return call, err
}

// goalCall is call for a verb on Todos that need not name one.
func (j *job) goalCall(ctx context.Context, m mutationFlags) (todo.Call, error) {
	call, err := j.call(ctx, m.goalFlags, m.agentFlags, m.operationFlags, m.DryRun, true)
	if err == nil && call.Goal == "" {
		err = j.missingGoal(ctx)
	}
	return call, err
}

// changeTodo runs a mutating verb on the one Todo that its flags name.
func (j *job) changeTodo(ctx context.Context, t todoFlags, m mutationFlags, verb func(todo.Call) (todo.Answer, error)) (*answer, error) {
	call, err := j.todoCall(ctx, t, m)
	if err != nil {
		return nil, err
	}
	return j.mutateTodo(ctx, call, verb)
}

// mutateTodo runs a mutating verb on the Todo of a call, which may be the beginning of an id in text form.
func (j *job) mutateTodo(ctx context.Context, call todo.Call, verb func(todo.Call) (todo.Answer, error)) (*answer, error) {
	a, err := onTodo(ctx, j, call.Goal, call.Todo, func(id todo.ID) (todo.Answer, error) {
		call.Todo = id
		return verb(call)
	})
	if err != nil {
		return nil, err
	}
	return j.mutated(a), nil
}

type todoAdd struct {
	TextArg            string   `arg:"" optional:"" name:"text" help:"What there is to do."`
	Text               string   `placeholder:"TEXT" help:"The same as a flag."`
	TodoID             string   `name:"todo-id" nonempty:"" placeholder:"TODO" help:"An id of your own; else one is drawn."`
	Title              string   `placeholder:"TEXT" help:"A short name, in one line."`
	Role               string   `nonempty:"" placeholder:"ROLE" help:"Whose work it is: agent (default) or user."`
	Priority           string   `nonempty:"" placeholder:"P0…P4" help:"P0 is the most urgent."`
	TaskClass          string   `nonempty:"" placeholder:"WORD" help:"What kind of work it is."`
	Label              []string `sep:"none" placeholder:"LABEL" help:"A label; repeatable."`
	RequiredWriteScope []string `sep:"none" placeholder:"PATH" help:"What the work will write, as a path or pattern; repeatable."`
	DependsOn          []string `sep:"none" placeholder:"TODO" help:"A Todo that must be done first, by its complete id; repeatable."`
	ResumeAt           string   `nonempty:"" placeholder:"TIME" help:"Not before this time, as 2026-09-13T10:00:00+02:00."`
	BoundAgent         string   `nonempty:"" placeholder:"AGENT" help:"The only agent that may take it."`
	ExcludedAgent      []string `sep:"none" placeholder:"AGENT" help:"An agent that may not take it; repeatable."`
	ClaimedBy          string   `nonempty:"" placeholder:"AGENT" help:"Claim it at once for this agent."`
	mutationFlags
}

func (c *todoAdd) run(ctx context.Context, j *job) (*answer, error) {
	text := c.Text
	switch {
	case text == "":
		text = c.TextArg
	case c.TextArg != "":
		return nil, j.usagef("the text is given twice")
	}
	if text == "" {
		return nil, j.usagef("a text is needed: what there is to do, or --text")
	}
	var resume todo.Instant
	var err error
	if c.ResumeAt != "" {
		if resume, err = j.instant("--resume-at", c.ResumeAt); err != nil {
			return nil, err
		}
	}
	call, err := j.goalCall(ctx, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	call.Todo = todo.ID(j.id(c.TodoID))
	j.about(call.Goal, call.Todo)
	a, err := j.ledger().Add(ctx, call, todo.AddArgs{
		Role: todo.Role(c.Role), Text: text, Title: c.Title, Priority: c.Priority, TaskClass: c.TaskClass,
		Labels: c.Label, RequiredWriteScopes: c.RequiredWriteScope,
		DependsOn: j.todoIDs(c.DependsOn), ResumeAt: resume, BoundAgent: todo.AgentID(j.id(c.BoundAgent)),
		ExcludedAgents: j.agentIDs(c.ExcludedAgent), ClaimedBy: todo.AgentID(j.id(c.ClaimedBy)),
	})
	if err != nil {
		return nil, err
	}
	return j.mutated(a), nil
}

func (j *job) agentIDs(names []string) []todo.AgentID {
	var ids []todo.AgentID
	for _, name := range names {
		ids = append(ids, todo.AgentID(j.id(name)))
	}
	return ids
}

// todoIDs are the ids of other Todos, which are complete in every form.
func (j *job) todoIDs(names []string) []todo.ID {
	var ids []todo.ID
	for _, name := range names {
		ids = append(ids, todo.ID(j.id(name)))
	}
	return ids
}

// instant reads a time with its zone.
func (j *job) instant(flag, text string) (todo.Instant, error) {
	at, ok := todo.ParseInstant(j.id(text))
	if !ok {
		return "", j.usagef("%s: %q is no time with a zone", flag, text).hintf("as 2026-09-13T10:00:00Z or 2026-09-13T12:00:00+02:00")
	}
	return at, nil
}
