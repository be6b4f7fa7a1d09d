package lease

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// verb is one mutation of a lease, its arguments well formed.
type verb struct {
	name      string // acquire, renew, transfer, release
	call      todo.Call
	operation string
	owner     todo.AgentID
	args      map[string]any // of the request digest
	decide    func(context.Context, *gitstore.Snapshot, todo.Instant) (todo.Decision, error)
}

// operationOf makes the operation of a verb. It has no actor: any goal that can be read admits, since a release must
// always work; whether its owner is registered is a rule of the verb.
func (l *Ledger) operationOf(v verb) (gitstore.Operation, error) {
	if _, err := l.Instant(); err != nil {
		return gitstore.Operation{}, err
	}
	v.call.Operation = v.operation
	op, err := l.Operation(v.call, "lease "+v.name, v.args)
	if err != nil {
		return gitstore.Operation{}, err
	}
	op.Agent = string(v.owner)
	op.Admit = func(ctx context.Context, s *gitstore.Snapshot) error {
		_, err := todo.ReadGoal(ctx, s, v.call.Goal)
		return err
	}
	op.Decide = func(ctx context.Context, s *gitstore.Snapshot) (gitstore.Change, error) {
		at, err := l.Instant() // after s was read: whoever found the lease over by then and acted on it is in s
		if err != nil {
			return gitstore.Change{}, err
		}
		return todo.ChangeOf(v.decide(ctx, s, at))
	}
	return op, nil
}

// run applies a verb and reads back what is true now.
func (l *Ledger) run(ctx context.Context, v verb) (Answer, error) {
	op, err := l.operationOf(v)
	if err != nil {
		return Answer{}, err
	}
	out, err := l.Apply(ctx, v.call, op)
	if err != nil {
		return Answer{}, err
	}
	return l.answer(ctx, out)
}

// answer says what a verb came to: the lease as the operation left it, and whether that is the effective one now.
func (l *Ledger) answer(ctx context.Context, out todo.Answer) (Answer, error) {
	var result Result
	if err := json.Unmarshal(out.Receipt.Result, &result); err != nil {
		return Answer{}, &gitstore.DamagedError{Path: "receipt of " + out.Operation, Err: err}
	}
	a := Answer{
		Answer: out, Mode: result.HandoffMode, Lease: &result.Lease, Idempotent: result.Idempotent || replay(out.Status),
		Done: out.Status != gitstore.Planned, TransferClaim: result.TransferClaim, ClaimedBy: result.ClaimedBy,
		TodoChanged: result.TodoChanged != nil && *result.TodoChanged,
	}
	if out.Status == gitstore.Planned {
		return a, nil
	}
	ctx, cancel := todo.ReadBack(ctx)
	defer cancel()
	s, err := l.ReadState(ctx, out.Tip, out.Goal, result.TodoID, todo.At(l.Now()))
	if err == nil {
		a.Mode = s.Goal.HandoffMode
	}
	a.Verified = err == nil && result.Lease.Status == Active && s.Lease.Version == result.Lease.Version &&
		checkOwn(s, result.TodoID, result.Lease.Owner, result.Lease.IdempotencyKey) == nil && s.EffectiveFor(result.Lease.Owner)
	return a, nil
}

// replay says whether the answer is that of an earlier call, or of this one whose answer was lost.
func replay(s gitstore.Status) bool { return s == gitstore.Replayed || s == gitstore.Recovered }

// RenewLease prolongs a lease. Errors are *todo.Refusal and those of gitstore. A replay shows the lease as it was then.
func (l *Ledger) RenewLease(ctx context.Context, r RenewRequest) (Answer, error) {
	v, err := l.heldVerb("renew", r.Held, r, func(s todo.State, record *Lease, at todo.Instant) (todo.Decision, error) {
		return decideRenew(s, r, record, at)
	})
	if err != nil {
		return Answer{}, err
	}
	return l.run(ctx, v)
}

// TransferLease hands a lease to another agent, with TransferClaim the claim and the note too, in one commit. Errors are
// *todo.Refusal and those of gitstore. A replay shows the lease as it was then.
func (l *Ledger) TransferLease(ctx context.Context, r TransferRequest) (Answer, error) {
	v, err := l.transferVerb(r)
	if err != nil {
		return Answer{}, err
	}
	a, err := l.run(ctx, v)
	if r.TransferClaim && todo.CodeOf(err) == todo.CodeGoalNotFound {
		return Answer{}, todo.Fail(CodeTransferNeedsAuthority, "goal %s: not in this repository", r.Goal)
	}
	return a, err
}

func (l *Ledger) transferVerb(r TransferRequest) (verb, error) {
	return l.heldVerb("transfer", r.Held, r, func(s todo.State, record *Lease, at todo.Instant) (todo.Decision, error) {
		return decideTransfer(s, r, record, at)
	})
}

// ReleaseLease gives a lease back. Errors are *todo.Refusal and those of gitstore. A replay shows the lease as it was
// then. Where there is none, and none was expected, nothing is written, not even a receipt.
func (l *Ledger) ReleaseLease(ctx context.Context, r ReleaseRequest) (Answer, error) {
	none := Answer{Missing: true, Answer: todo.Answer{Kind: "lease release", Goal: r.Goal, Todo: r.Todo, Status: gitstore.NoChange}}
	v, err := l.heldVerb("release", r.Held, r, func(s todo.State, record *Lease, at todo.Instant) (todo.Decision, error) {
		none.Mode, none.Revision = s.Goal.HandoffMode, s.Revision
		return decideRelease(s, r, record, at)
	})
	if err != nil {
		return Answer{}, err
	}
	a, err := l.run(ctx, v)
	if errors.Is(err, errMissing) {
		none.Operation = v.operation
		if r.DryRun {
			none.Status = gitstore.Planned
		}
		return none, nil
	}
	return a, err
}

// heldRequest are the arguments of a verb that proves a lease.
type heldRequest interface {
	check() error
	args() map[string]any
}

// heldVerb makes the verb of such a request, with the rule that decides it.
func (l *Ledger) heldVerb(name string, h Held, r heldRequest, rule func(todo.State, *Lease, todo.Instant) (todo.Decision, error)) (verb, error) {
	if err := r.check(); err != nil {
		return verb{}, err
	}
	operation, err := h.lifecycleID(name)
	return verb{
		name: name, call: h.call(), operation: operation, owner: h.Owner, args: r.args(),
		decide: l.onLease(h.call(), rule),
	}, err
}

// onLease makes the decision of a verb on the lease of one Todo, which the rule is told as it is stored; nil: none.
func (l *Ledger) onLease(c todo.Call, rule func(todo.State, *Lease, todo.Instant) (todo.Decision, error)) func(context.Context, *gitstore.Snapshot, todo.Instant) (todo.Decision, error) {
	return func(ctx context.Context, s *gitstore.Snapshot, at todo.Instant) (todo.Decision, error) {
		state, record, err := l.read(ctx, s, c.Goal, c.Todo, at)
		if err != nil {
			return todo.Decision{}, err
		}
		return rule(state, record, at)
	}
}

// read gathers what a verb may know of one Todo, with the record of its lease; nil: none.
func (l *Ledger) read(ctx context.Context, s *gitstore.Snapshot, g todo.GoalID, id todo.ID, at todo.Instant) (todo.State, *Lease, error) {
	state, err := l.ReadState(ctx, s, g, id, at)
	if err != nil {
		return todo.State{}, nil, err
	}
	record, err := readLease(ctx, s, g, id)
	return state, record, err
}
