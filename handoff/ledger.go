package handoff

import (
	"context"
	"errors"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// Ledger applies the rules of this package to one repository. It may be used by many at once.
type Ledger struct {
	lease.Ledger
}

// Prepare leaves a continuation note on a Todo of the agent's (continuation.md, section 7.3).
//
// A refusal is a [*todo.Refusal]; a lost race, a busy, ambiguous or failed end are the errors of gitstore. On a replay
// that stands no longer the error is nil and Answer.Refused is set. The same call may be repeated with the same operation
// id after any error.
func (l *Ledger) Prepare(ctx context.Context, r PrepareRequest) (PrepareAnswer, error) {
	op, err := l.prepareOperation(r)
	if err != nil {
		return PrepareAnswer{}, err
	}
	out, err := l.Store.Apply(ctx, op)
	if err != nil {
		return PrepareAnswer{}, noAuthority(r.Goal, err)
	}
	return l.prepareAnswer(ctx, r, op, out)
}

func (l *Ledger) prepareOperation(r PrepareRequest) (gitstore.Operation, error) {
	if err := CheckPrepare(r); err != nil {
		return gitstore.Operation{}, err
	}
	c, err := contextOf(r)
	if err != nil {
		return gitstore.Operation{}, err
	}
	if _, err := l.Instant(); err != nil {
		return gitstore.Operation{}, err
	}
	op, err := l.Operation(r.Call, "handoff prepare", r.args(c))
	if err != nil {
		return gitstore.Operation{}, err
	}
	op.ExpectedLast = true
	op.Decide = func(ctx context.Context, tip *gitstore.Snapshot) (gitstore.Change, error) {
		at, err := l.Instant() // not before: a lease may end while the operation waits for its turn
		if err != nil {
			return gitstore.Change{}, err
		}
		s, err := l.ReadState(ctx, tip, r.Goal, r.Todo, at)
		if err != nil {
			return gitstore.Change{}, err
		}
		return todo.ChangeOf(Prepare(s, r, at))
	}
	return op, nil
}

func (l *Ledger) prepareAnswer(ctx context.Context, r PrepareRequest, op gitstore.Operation, out gitstore.Outcome) (a PrepareAnswer, err error) {
	if a.Answer, err = l.Answer(ctx, r.Call, op, out); err != nil {
		return PrepareAnswer{}, err
	}
	if a.Result, err = resultOf[todo.UpdateResult](out.Receipt); err != nil {
		return PrepareAnswer{}, err
	}
	ctx, cancel := todo.ReadBack(ctx)
	defer cancel()
	s, err := l.ReadState(ctx, out.Tip, r.Goal, r.Todo, todo.At(l.Now()))
	if a.Refused = todo.Unread(err); err == nil {
		a.NoteState, a.Refused = ReadBack(s, r, a.Result)
		a.NoteVerified = a.Refused == nil
	}
	return a, nil
}

// Inspect says what a receiver would find (continuation.md, section 7.4). It writes nothing at all. A refusal is a
// [*todo.Refusal].
func (l *Ledger) Inspect(ctx context.Context, r InspectRequest) (Packet, error) {
	if err := CheckInspect(r); err != nil {
		return Packet{}, err
	}
	tip, err := l.Store.Load(ctx, r.Goal.Ref())
	if err != nil {
		return Packet{}, noAuthority(r.Goal, err)
	}
	g, err := todo.ReadGoal(ctx, tip, r.Goal)
	if err != nil {
		return Packet{}, err
	}
	if err := todo.CheckActor(g, r.Agent); err != nil {
		return Packet{}, err
	}
	at := todo.At(l.Now())
	s, err := l.ReadState(ctx, tip, r.Goal, r.Todo, at)
	if err != nil {
		return Packet{}, err
	}
	if err := inspectable(s, r.Todo); err != nil {
		return Packet{}, err
	}
	v, err := look(r.Workspace, r.Artifacts)
	if err != nil {
		return Packet{}, err
	}
	return Inspect(s, r, v, at)
}

// Adopt takes a Todo over by its note (continuation.md, section 7.5). Errors and repetition are as with
// [Ledger.Prepare].
func (l *Ledger) Adopt(ctx context.Context, r AdoptRequest) (AdoptAnswer, error) {
	// One look serves all attempts. A replay asks for it only to show, so that its failure must not stop one.
	seen := sync.OnceValues(func() (Availability, error) { return look(r.Workspace, r.Artifacts) })
	op, err := l.adoptOperation(r, seen)
	if err != nil {
		return AdoptAnswer{}, err
	}
	out, err := l.Store.Apply(ctx, op)
	if err != nil {
		return AdoptAnswer{}, noAuthority(r.Goal, err)
	}
	return l.adoptAnswer(ctx, r, op, out, seen)
}

func (l *Ledger) adoptOperation(r AdoptRequest, seen func() (Availability, error)) (gitstore.Operation, error) {
	if err := CheckAdopt(r); err != nil {
		return gitstore.Operation{}, err
	}
	if _, err := l.Instant(); err != nil {
		return gitstore.Operation{}, err
	}
	op, err := l.Operation(r.Call, "handoff adopt", r.args())
	if err != nil {
		return gitstore.Operation{}, err
	}
	op.ExpectedLast = true
	op.Admit = func(ctx context.Context, tip *gitstore.Snapshot) error {
		g, err := todo.ReadGoal(ctx, tip, r.Goal)
		if err != nil {
			return err
		}
		return AdmitAdopt(g, r)
	}
	op.Decide = func(ctx context.Context, tip *gitstore.Snapshot) (gitstore.Change, error) {
		at, err := l.Instant() // not before: a lease may end while the operation waits for its turn
		if err != nil {
			return gitstore.Change{}, err
		}
		s, err := l.ReadState(ctx, tip, r.Goal, r.Todo, at)
		if err != nil {
			return gitstore.Change{}, err
		}
		if err := workable(s, r.Todo); err != nil {
			return gitstore.Change{}, err
		}
		v, err := seen()
		if err != nil {
			return gitstore.Change{}, err
		}
		return todo.ChangeOf(Adopt(s, r, v, at))
	}
	return op, nil
}

func (l *Ledger) adoptAnswer(ctx context.Context, r AdoptRequest, op gitstore.Operation, out gitstore.Outcome, seen func() (Availability, error)) (a AdoptAnswer, err error) {
	a.Target = r.target()
	if a.Answer, err = l.Answer(ctx, r.Call, op, out); err != nil {
		return AdoptAnswer{}, err
	}
	if err := a.readReceipt(); err != nil {
		return AdoptAnswer{}, err
	}
	ctx, cancel := todo.ReadBack(ctx)
	defer cancel()
	at := todo.At(l.Now())
	s, err := l.ReadState(ctx, out.Tip, r.Goal, r.Todo, at)
	unreadable := todo.Unread(err)
	v, err := seen()
	if err != nil {
		v = unseen(r.Artifacts, Unread)
	}
	a.verify(s, r, v, at, unreadable)
	return a, nil
}

// readReceipt reads the nested result of the receipt; its schema tells which of the two it is.
func (a *AdoptAnswer) readReceipt() error {
	result, err := resultOf[struct {
		Schema string `json:"schema_version"`
	}](a.Receipt)
	if err != nil {
		return err
	}
	if result.Schema == AdoptionSchema {
		adoption, err := resultOf[Adoption](a.Receipt)
		a.Adoption = &NestedAdoption{Adoption: adoption}
		return err
	}
	claim, err := resultOf[Claim](a.Receipt)
	a.Claim = &NestedClaim{Claim: claim}
	return err
}

// noAuthority says that a goal is unknown in the words of the handoff verbs. Unreadable is not unknown.
func noAuthority(g todo.GoalID, err error) error {
	if !errors.Is(err, gitstore.ErrRefMissing) {
		return err
	}
	return todo.Fail(CodeNoAuthority, "goal %s: not in this repository", g)
}

// resultOf reads the result of a receipt that this package wrote.
func resultOf[T any](receipt gitstore.Receipt) (T, error) {
	var result T
	err := json.Unmarshal(receipt.Result, &result)
	if err != nil {
		return result, &gitstore.DamagedError{Path: "receipt of " + receipt.OperationID, Err: err}
	}
	return result, nil
}
