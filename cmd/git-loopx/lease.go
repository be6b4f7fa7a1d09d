package main

import (
	"context"
	"strconv"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

func leaseVerbs() []verb {
	const acquire, lifecycle = string(lease.CodeInvalidAcquireRequest), string(lease.CodeInvalidLifecycleRequest)
	return []verb{
		{words: "acquire", family: acquire, flags: func() command { return &leaseAcquire{} },
			about:   "take the lease on a Todo",
			detail:  "Only where the goal's mode is hard_lease; todo claim can take the Todo and its lease in one step.",
			example: "git loopx lease acquire todo_a --owner agent-a --idempotency-key execution-a --ttl-seconds 600"},
		{words: "renew", family: lifecycle, flags: func() command { return &leaseRenew{} },
			about:   "let a lease of yours last longer",
			detail:  "The version goes up by one: from then on the new one proves it.",
			example: "git loopx lease renew todo_a --owner agent-a --idempotency-key execution-a --expected-version 1"},
		{words: "transfer", family: lifecycle, flags: func() command { return &leaseTransfer{} },
			about:   "hand a lease of yours to another agent",
			detail:  "With --transfer-claim the claim goes along in the same step, and a note of yours stays current; without it the lease of a claimed Todo only changes its key. The old key proves nothing afterwards.",
			example: "git loopx lease transfer todo_a --owner agent-a --idempotency-key execution-a --expected-version 3 --new-owner agent-b --new-idempotency-key execution-b --transfer-claim"},
		{words: "release", family: lifecycle, flags: func() command { return &leaseRelease{} },
			about:   "give a lease back",
			detail:  "It works when the lease is over, too. The claim stays.",
			example: "git loopx lease release todo_a --owner agent-a --idempotency-key execution-a --expected-version 1"},
		{words: "inspect", flags: func() command { return &leaseInspect{} },
			about:   "show the lease on a Todo",
			detail:  "It writes nothing and grants nothing.",
			example: "git loopx lease inspect todo_a"},
	}
}

// holderFlags say which lease is meant.
type holderFlags struct {
	todoFlags
	Owner           *string `placeholder:"AGENT" help:"Who holds the lease; else LOOPX_AGENT, git config loopx.agent."`
	IdempotencyKey  string  `placeholder:"KEY" help:"The key that the lease is held under, chosen by its holder."`
	ExpectedVersion *string `placeholder:"N" help:"The version that the lease has; 0 where there never was one."`
}

// leaseFlags are the others of the verbs that change a lease. Their operation ids come from the arguments.
type leaseFlags struct {
	goalFlags
	SessionID string `name:"session-id" nonempty:"" placeholder:"SESSION" help:"The session that acts; else LOOPX_SESSION."`
	dryRunFlag
	outputFlags
}

// mutates marks the verbs that write: see [operationFlags].
func (leaseFlags) mutates() {}

type ttlFlag struct {
	TTLSeconds *string `name:"ttl-seconds" placeholder:"N" help:"How long it lasts from now, 1 to 86400 seconds; 2700 unless given."`
}

type writeScopeFlag struct {
	WriteScope []string `sep:"none" placeholder:"PATH" help:"What will be written, as a path or pattern; repeatable. The Todo's required write scopes unless given."`
}

// leaseCall opens the repository for a verb that changes a lease, and reads how long the lease shall last.
func (j *job) leaseCall(ctx context.Context, of *holderFlags, f *leaseFlags, t ttlFlag) (h lease.Held, ttl *int64, err error) {
	if ttl, err = j.seconds(t); err != nil {
		return h, nil, err
	}
	h.Key, h.DryRun = of.IdempotencyKey, f.DryRun
	if h.ExpectedVersion, err = j.number(lease.CodeInvalidExpectedVersion, "--expected-version", of.ExpectedVersion); err != nil {
		return h, nil, err
	}
	id, err := j.needTodo(of.todoFlags)
	if err != nil {
		return h, nil, err
	}
	agent := agentFlags{SessionID: f.SessionID}
	if of.Owner != nil {
		agent.AgentID = *of.Owner
	}
	call, err := j.call(ctx, f.goalFlags, agent, operationFlags{}, f.DryRun, true)
	switch {
	case err != nil:
		return h, nil, err
	case call.Goal == "":
		return h, nil, j.missingGoal(ctx)
	}
	h.Goal, h.Owner, h.Session = call.Goal, call.Agent, call.Session
	if of.Owner != nil {
		h.Owner = todo.AgentID(j.id(*of.Owner)) // given as empty is not the same as not given
	}
	h.Todo, err = j.fullID(ctx, h.Goal, id)
	return h, ttl, err
}

// fullID returns the full id of a Todo of which, in text form, the beginning may be given. Most verbs try the exact id
// first (see onTodo); those on leases do not all mind that there is no such Todo.
func (j *job) fullID(ctx context.Context, goal todo.GoalID, id todo.ID) (todo.ID, error) {
	j.about(goal, id)
	if j.line.json {
		return id, nil
	}
	full, err := j.ledger().Resolve(ctx, goal, string(id))
	if err != nil {
		return "", err
	}
	j.about(goal, full)
	return full, nil
}

// number reads a whole number, nil where none is given; what is none is refused with a code of its own.
func (j *job) number(code todo.Code, flag string, text *string) (*int64, error) {
	if text == nil {
		return nil, nil
	}
	n, err := strconv.ParseInt(j.id(*text), 10, 64)
	if err != nil {
		return nil, usagef(string(code), "%s: %q is not a whole number in its range", flag, *text).
			hintf("git loopx %s -h explains the flags", j.line.kind())
	}
	return &n, nil
}

// seconds reads how long a lease shall last.
func (j *job) seconds(f ttlFlag) (*int64, error) {
	return j.number(lease.CodeInvalidTTL, "--ttl-seconds", f.TTLSeconds)
}

type leaseAcquire struct {
	holderFlags
	ttlFlag
	writeScopeFlag
	leaseFlags
}

func (c *leaseAcquire) run(ctx context.Context, j *job) (*answer, error) {
	h, ttl, err := j.leaseCall(ctx, &c.holderFlags, &c.leaseFlags, c.ttlFlag)
	if err != nil {
		return nil, err
	}
	a, err := j.leases().AcquireLease(ctx, lease.AcquireRequest{Caller: h.Caller,
		Request: lease.Request{Key: h.Key, ExpectedVersion: h.ExpectedVersion, TTL: ttl, WriteScopes: c.WriteScope}})
	return j.leased(a, "acquired", err)
}

type leaseRenew struct {
	holderFlags
	ttlFlag
	leaseFlags
}

func (c *leaseRenew) run(ctx context.Context, j *job) (*answer, error) {
	h, ttl, err := j.leaseCall(ctx, &c.holderFlags, &c.leaseFlags, c.ttlFlag)
	if err != nil {
		return nil, err
	}
	a, err := j.leases().RenewLease(ctx, lease.RenewRequest{Held: h, TTL: ttl})
	return j.leased(a, "renewed", err)
}

type leaseTransfer struct {
	holderFlags
	NewOwner          string `nonempty:"" placeholder:"AGENT" help:"Who shall hold it; the same agent may go on under a new key."`
	NewIdempotencyKey string `placeholder:"KEY" help:"The key it shall be held under, another than before."`
	TransferClaim     bool   `help:"The claim moves with the lease, in the same step."`
	ttlFlag
	leaseFlags
}

func (c *leaseTransfer) run(ctx context.Context, j *job) (*answer, error) {
	h, ttl, err := j.leaseCall(ctx, &c.holderFlags, &c.leaseFlags, c.ttlFlag)
	if err != nil {
		return nil, err
	}
	a, err := j.leases().TransferLease(ctx, lease.TransferRequest{Held: h, NewOwner: todo.AgentID(j.id(c.NewOwner)),
		NewKey: c.NewIdempotencyKey, TTL: ttl, TransferClaim: c.TransferClaim})
	return j.leased(a, "transferred", err)
}

type leaseRelease struct {
	holderFlags
	leaseFlags
}

func (c *leaseRelease) run(ctx context.Context, j *job) (*answer, error) {
	h, _, err := j.leaseCall(ctx, &c.holderFlags, &c.leaseFlags, ttlFlag{})
	if err != nil {
		return nil, err
	}
	a, err := j.leases().ReleaseLease(ctx, lease.ReleaseRequest{Held: h})
	return j.leased(a, "released", err)
}

type leaseInspect struct {
	todoFlags
	goalFlags
	outputFlags
}

func (c *leaseInspect) run(ctx context.Context, j *job) (*answer, error) {
	id, err := j.needTodo(c.todoFlags)
	if err != nil {
		return nil, err
	}
	goal, err := j.reading(ctx, c.goalFlags)
	if err != nil {
		return nil, err
	}
	v, err := onTodo(ctx, j, goal, id, func(id todo.ID) (lease.Inspection, error) { return j.leases().InspectLease(ctx, goal, id) })
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"schema_version", leaseSchema}}}
	if err := said.members.merge(v); err != nil {
		return nil, err
	}
	said.inspectionText(v)
	return said, nil
}

// overForHolder is a lease within the skew: over, and yet in the way of others (continuation.md, section 1.4).
const overForHolder = "over for its holder, others still wait"

// inspectionText prints the lease on a Todo for a person: whether it counts comes first.
func (a *answer) inspectionText(v lease.Inspection) {
	a.printf("todo       %s\nmode       %s\n", handoff.Visible(string(v.TodoID)), v.Mode)
	switch {
	case v.Lease == nil:
		a.printf("lease      none, there never was one\n")
	case v.Active && v.Lease.ExpiresAt <= v.JudgedAt:
		a.printf("lease      %s\n", overForHolder)
	case v.Active:
		a.printf("lease      in force\n")
	case v.Lease.Status == lease.Released:
		a.printf("lease      given back\n")
	case v.Constraint != nil:
		a.printf("lease      not in force: %s\n", v.Constraint.Reason)
	default:
		a.printf("lease      over\n")
	}
	if v.Lease != nil {
		a.leaseText("", *v.Lease)
	}
	a.printf("judged at  %s\nrevision   %s\n", v.JudgedAt, v.Revision)
}
