package main

import (
	"context"
	"strconv"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/lease"
)

type todoApply struct {
	File string `arg:"" optional:"" name:"file" help:"The changes, in JSON Lines; - is standard input."`
	mutationFlags
}

func (c *todoApply) run(ctx context.Context, j *job) (*answer, error) {
	if c.File == "" {
		return nil, j.usagef("a file is needed: its name, or - for standard input")
	}
	lines, err := j.read(ctx, "FILE", c.File, lease.MaxBatchBytes)
	if err != nil {
		return nil, err
	}
	call, err := j.goalCall(ctx, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	a, err := j.leases().ApplyBatch(ctx, call, lines)
	if err != nil {
		return nil, err
	}
	said := j.mutated(a.Answer)
	said.members.set("results", append([]lease.LineResult{}, a.Lines...))
	var rows [][]string
	for _, l := range a.Lines {
		what := "no change"
		if l.Changed {
			what = "changed"
		}
		rows = append(rows, []string{"  " + strconv.Itoa(l.Line), l.Op, handoff.Visible(string(l.TodoID)), what})
	}
	said.table(rows)
	return said, nil
}
