package main

import (
	"context"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

type todoClaim struct {
	todoFlags
	ClaimedBy string `nonempty:"" placeholder:"AGENT" help:"Who shall own it: the agent that acts, which is the default."`
	requestFlags
	mutationFlags
}

func (c *todoClaim) run(ctx context.Context, j *job) (*answer, error) {
	request, err := j.leaseRequest(&c.requestFlags)
	if err != nil {
		return nil, err
	}
	call, err := j.todoCall(ctx, c.todoFlags, c.mutationFlags)
	if err != nil {
		return nil, err
	}
	by := todo.AgentID(j.id(c.ClaimedBy))
	if by == "" {
		by = call.Agent
	}
	a, err := onTodo(ctx, j, call.Goal, call.Todo, func(id todo.ID) (lease.ClaimAnswer, error) {
		call.Todo = id
		return j.leases().ClaimWithLease(ctx, call, by, request)
	})
	if err != nil {
		return nil, err
	}
	return j.claimed(a), nil
}

// claimed is the answer of a claim, whoever chose the Todo.
func (j *job) claimed(a lease.ClaimAnswer) *answer {
	said := j.mutated(a.Answer)
	said.members.set("current_authority_verified", a.Verified)
	said.members.setGiven("dependency_state", string(a.DependencyState))
	if a.DependencyState == todo.DependenciesPending || a.DependencyState == todo.DependenciesInvalid {
		said.printf("  depends    %s\n", a.DependencyState)
	}
	var result struct {
		Lease *lease.View `json:"lease"`
	}
	if a.Refused != nil || json.Unmarshal(a.Receipt.Result, &result) != nil || result.Lease == nil {
		return said // a claim without a lease, or one of the past
	}
	if a.Status == gitstore.Replayed { // the lease may have been renewed since
		said.leaseOfThen(a.Todo)
	} else if a.Verified {
		said.proofHint(*result.Lease)
	}
	said.leaseText("  ", *result.Lease)
	return said
}

type todoRelease struct {
	todoFlags
	Override bool   `help:"Release another's claim; needs --reason."`
	Reason   string `placeholder:"TEXT" help:"Why."`
	proofFlags
	mutationFlags
}

func (c *todoRelease) run(ctx context.Context, j *job) (*answer, error) {
	return j.changeTodo(ctx, c.todoFlags, c.mutationFlags, func(call todo.Call) (todo.Answer, error) {
		call.Proof = c.proof()
		return j.ledger().Release(ctx, call, todo.ReleaseArgs{Override: c.Override, Reason: c.Reason})
	})
}
