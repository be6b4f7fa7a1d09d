package main

import (
	"context"
	"errors"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// The groups of flags that verbs share (continuation.md, section 4). "nonempty" marks those whose empty value can only
// be a shell variable that was not set: an empty --expected-revision must not mean "not pinned".

type goalFlags struct {
	GoalID string `name:"goal-id" nonempty:"" placeholder:"GOAL" help:"The goal; else LOOPX_GOAL, the branch's binding, git config loopx.goal, .loopx.toml, the only goal here."`
}

// namedGoal and namedTodo tell what will be read, for reading ahead.
func (f goalFlags) namedGoal() string { return f.GoalID }

func (f todoFlags) namedTodo() string { return f.TodoArg + f.TodoID }

type todoFlags struct {
	TodoArg string `arg:"" optional:"" name:"todo" help:"The Todo: its id, or at least 9 characters of it."`
	TodoID  string `name:"todo-id" nonempty:"" placeholder:"TODO" help:"The same as a flag."`
}

type agentFlags struct {
	AgentID   string `name:"agent-id" nonempty:"" placeholder:"AGENT" help:"Who acts; else LOOPX_AGENT, git config loopx.agent."`
	SessionID string `name:"session-id" nonempty:"" placeholder:"SESSION" help:"The session that acts; else LOOPX_SESSION."`
}

// operationNames are operationFlags for a verb that writes only at times.
type operationNames struct {
	OperationID      string `name:"operation-id" nonempty:"" placeholder:"ID" help:"Name of this operation: a retry with the same name changes nothing twice."`
	ExpectedRevision string `name:"expected-revision" nonempty:"" placeholder:"COMMIT" help:"Refuse unless this full commit id is the goal's revision."`
}

type operationFlags struct{ operationNames }

// mutates marks the verbs that write: what they need of git is asked for before their flags are filled.
func (operationFlags) mutates() {}

type dryRunFlag struct {
	DryRun bool `name:"dry-run" help:"Decide and tell, write nothing."`
}

// mutationFlags are those of every verb that changes something but the handoff verbs, which have no dry run.
type mutationFlags struct {
	goalFlags
	agentFlags
	operationFlags
	dryRunFlag
	outputFlags
}

// proofFlags prove a lease.
type proofFlags struct {
	LeaseKey     *string `name:"task-lease-idempotency-key" placeholder:"KEY" help:"Proof of a lease: its key."`
	LeaseVersion *int64  `name:"task-lease-expected-version" placeholder:"N" help:"Proof of a lease: its version."`
}

func (f *proofFlags) proof() todo.Proof {
	return todo.Proof{IdempotencyKey: f.LeaseKey, ExpectedVersion: f.LeaseVersion}
}

// requestFlags ask for a lease together with a claim.
type requestFlags struct {
	LeaseKey     *string `name:"task-lease-idempotency-key" placeholder:"KEY" help:"Take the lease too, under this key of yours."`
	LeaseVersion *string `name:"task-lease-expected-version" placeholder:"N" help:"With a lease: the version it has now; 0 where there never was one."`
	ttlFlag
	writeScopeFlag
}

// given says whether any of the flags is there.
func (f *requestFlags) given() bool {
	return f.LeaseKey != nil || f.LeaseVersion != nil || f.TTLSeconds != nil || f.WriteScope != nil
}

// leaseRequest is the request for a lease that the flags make, nil for none.
func (j *job) leaseRequest(f *requestFlags) (*lease.Request, error) {
	switch {
	case !f.given():
		return nil, nil
	case f.LeaseKey == nil:
		return nil, j.usagef("--task-lease-idempotency-key is needed: a lease is held under a key")
	}
	version, err := j.number(lease.CodeInvalidExpectedVersion, "--task-lease-expected-version", f.LeaseVersion)
	if err != nil {
		return nil, err
	}
	ttl, err := j.seconds(f.ttlFlag)
	return &lease.Request{Key: *f.LeaseKey, ExpectedVersion: version, TTL: ttl, WriteScopes: f.WriteScope}, err
}

type limitFlag struct {
	Limit int `default:"200" placeholder:"N" help:"Show at most N; 0 is all."`
}

// todoNamed returns the Todo that a verb acts on, "" where none was named.
func (j *job) todoNamed(f todoFlags) (todo.ID, error) {
	a, b := j.id(f.TodoArg), j.id(f.TodoID)
	switch {
	case a != "" && b != "" && a != b:
		return "", j.usagef("two Todos are named: %q and %q", a, b)
	case a != "":
		return todo.ID(a), nil
	}
	return todo.ID(b), nil
}

// needTodo is todoNamed for verbs that cannot do without.
func (j *job) needTodo(f todoFlags) (todo.ID, error) {
	id, err := j.todoNamed(f)
	if err == nil && id == "" {
		return "", j.usagef("a Todo is needed: its id, or --todo-id").hintf("git loopx todo list shows the Todos of the goal")
	}
	return id, err
}

// call opens the repository for a mutation and puts together what every mutation is told. The only goal of the
// repository will do where only says so.
func (j *job) call(ctx context.Context, goal goalFlags, agent agentFlags, op operationFlags, dryRun, only bool) (todo.Call, error) {
	if _, err := j.open(true, true); err != nil {
		return todo.Call{}, err
	}
	c := todo.Call{Session: j.sessionNamed(agent.SessionID), Operation: op.OperationID,
		Expected: gitstore.ObjectID(op.ExpectedRevision), DryRun: dryRun}
	var err error
	if c.Goal, err = j.goalNamed(ctx, goal.GoalID, only); err != nil {
		return todo.Call{}, err
	}
	if c.Agent, err = j.agentNamed(ctx, agent.AgentID); err != nil {
		return todo.Call{}, err
	}
	j.about(c.Goal, "")
	return c, nil
}

// reading opens the repository for a verb that only reads and returns its goal.
func (j *job) reading(ctx context.Context, goal goalFlags) (todo.GoalID, error) {
	if _, err := j.open(false, !j.said(goal.GoalID, "LOOPX_GOAL")); err != nil {
		return "", err
	}
	id, err := j.goalNamed(ctx, goal.GoalID, true)
	if err == nil && id == "" {
		return "", j.missingGoal(ctx)
	}
	j.about(id, "")
	return id, err
}

// onTodo runs a verb on the Todo that was named, and in text form once more with the full id if what was named is the
// beginning of one. The exact id is tried first, so that it always wins and costs nothing. An operation id that the verb
// finds taken was sealed with the full id: its receipt says which, and no prefix is resolved again.
func onTodo[T any](ctx context.Context, j *job, goal todo.GoalID, id todo.ID, verb func(todo.ID) (T, error)) (T, error) {
	j.about(goal, id)
	t, err := verb(id)
	if err == nil || j.line.json || goal == "" || id == "" {
		return t, err
	}
	if taken, ok := errors.AsType[*gitstore.IdentityError](err); ok {
		receipt, _ := j.ledger().FindReceipt(ctx, goal, taken.OperationID)
		if receipt == nil || len(id) < todo.MinPrefix || !strings.HasPrefix(receipt.Todo, string(id)) {
			return t, err
		}
		j.about(goal, todo.ID(receipt.Todo))
		return verb(todo.ID(receipt.Todo))
	}
	if todo.CodeOf(err) != todo.CodeTodoNotFound {
		return t, err
	}
	full, resolveErr := j.ledger().Resolve(ctx, goal, string(id))
	switch {
	case todo.CodeOf(resolveErr) == todo.CodeTodoIDAmbiguous:
		return t, resolveErr
	case resolveErr != nil || full == id:
		return t, err
	}
	j.about(goal, full)
	return verb(full)
}
