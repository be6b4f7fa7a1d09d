package main

import (
	"context"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

type todoComplete struct {
	todoFlags
	Evidence  string   `placeholder:"TEXT" help:"What shows that it is done."`
	Reason    string   `placeholder:"TEXT" help:"Why it ends."`
	Successor []string `sep:"none" placeholder:"TODO" help:"A Todo that goes on from here; repeatable."`
	proofFlags
	mutationFlags
}

func (c *todoComplete) run(ctx context.Context, j *job) (*answer, error) {
	call, err := j.todoCall(ctx, c.todoFlags, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	call.Proof = c.proof()
	args := todo.CompleteArgs{Evidence: c.Evidence, Reason: c.Reason, Successors: j.todoIDs(c.Successor)}
	return j.mutateTodo(ctx, call, func(call todo.Call) (todo.Answer, error) { return j.ledger().Complete(ctx, call, args) })
}

type todoReopen struct {
	todoFlags
	Reason string `placeholder:"TEXT" help:"Why."`
	mutationFlags
}

func (c *todoReopen) run(ctx context.Context, j *job) (*answer, error) {
	return j.changeTodo(ctx, c.todoFlags, c.mutationFlags, func(call todo.Call) (todo.Answer, error) {
		return j.ledger().Reopen(ctx, call, todo.ReopenArgs{Reason: c.Reason})
	})
}

type todoSupersede struct {
	todoFlags
	By     string `nonempty:"" placeholder:"TODO" help:"The Todo that takes its place."`
	Reason string `placeholder:"TEXT" help:"Why."`
	proofFlags
	mutationFlags
}

func (c *todoSupersede) run(ctx context.Context, j *job) (*answer, error) {
	if c.By == "" {
		return nil, j.usagef("--by is needed: the Todo that takes its place")
	}
	return j.changeTodo(ctx, c.todoFlags, c.mutationFlags, func(call todo.Call) (todo.Answer, error) {
		call.Proof = c.proof()
		return j.ledger().Supersede(ctx, call, todo.SupersedeArgs{By: todo.ID(j.id(c.By)), Reason: c.Reason})
	})
}

type todoArchive struct {
	todoFlags
	Completed     bool `help:"All done Todos but the newest."`
	MaxActiveDone *int `placeholder:"N" help:"With --completed: how many done ones stay (10)."`
	Execute       bool `help:"With --completed: do it."`
	mutationFlags
}

func (c *todoArchive) run(ctx context.Context, j *job) (*answer, error) {
	id, err := j.todoNamed(c.todoFlags)
	switch {
	case err != nil:
		return nil, err
	case c.Completed && id != "":
		return nil, j.usagef("--completed archives many Todos and takes none by name")
	case !c.Completed && (c.MaxActiveDone != nil || c.Execute):
		return nil, j.usagef("--max-active-done and --execute belong to --completed")
	case !c.Completed:
		call, err := j.todoCall(ctx, c.todoFlags, c.mutationFlags)
		if err != nil {
			return nil, err
		}
		return j.mutateTodo(ctx, call, func(call todo.Call) (todo.Answer, error) { return j.ledger().Archive(ctx, call) })
	}
	args := todo.ArchiveCompletedArgs{MaxActiveDone: 10, Execute: c.Execute}
	if c.MaxActiveDone != nil {
		args.MaxActiveDone = *c.MaxActiveDone
	}
	if args.MaxActiveDone < 0 {
		return nil, j.usagef("--max-active-done: %d is negative", args.MaxActiveDone)
	}
	call, err := j.goalCall(ctx, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	a, err := j.ledger().ArchiveCompleted(ctx, call, args)
	if err != nil {
		return nil, err
	}
	said := j.mutated(a.Answer)
	listed(said, "todo_ids", a.Todos, len(a.Todos), 0)
	for _, id := range a.Todos {
		said.printf("  archived   %s\n", handoff.Visible(string(id)))
	}
	if a.Status == gitstore.Planned && !c.Execute {
		said.notef("hint: nothing was written; --execute does it")
	}
	return said, nil
}
