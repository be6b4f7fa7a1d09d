package todo

import (
	"context"
	"maps"
	"time"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/gitstore"
)

// CheckCall is step 1 of continuation.md, section 3, for what every mutation is told; family is the code of the verb's
// family. An agent's id is not judged: what is malformed is just not registered.
func CheckCall(c Call, family Code) error {
	switch {
	case !c.Goal.Valid():
		return Fail(family, "goal id %q: not well formed", Clean(string(c.Goal)))
	case c.Todo != "" && !c.Todo.Valid():
		return Fail(family, "todo id %q: not well formed", Clean(string(c.Todo)))
	case c.Session != "" && !ValidSession(c.Session):
		return Fail(family, "session id must be non-empty text of at most %d characters", MaxSession)
	case c.Operation != "" && !ValidOperation(c.Operation):
		return Fail(family, "operation id %q: not well formed", Clean(c.Operation))
	case c.Proof.Check(family) != nil:
		return c.Proof.Check(family)
	case !utf8.ValidString(string(c.Agent)), !utf8.ValidString(string(c.Expected)):
		return Fail(family, "agent id and expected revision must be UTF-8")
	}
	return nil
}

// Instant returns the instant that one decision is judged at; a clock outside the years 2000 to 9999 is invalid_clock.
func (l *Ledger) Instant() (Instant, error) {
	at := At(l.Now())
	if !at.Valid() {
		return "", Fail(CodeInvalidClock, "the local clock says %s", at)
	}
	return at, nil
}

// Operation makes an operation of a call, without its decision: the operation id is drawn where the caller named none,
// the request digest is that of kind, goal, Todo, agent_id, expected_revision and args, and only a registered agent is
// admitted. args holds no absent member. The call must have passed [CheckCall]; text in args that is not UTF-8 is an error.
func (l *Ledger) Operation(c Call, kind string, args map[string]any) (gitstore.Operation, error) {
	op, err := l.operation(c, kind, args)
	if err != nil {
		return gitstore.Operation{}, err
	}
	op.Agent = string(c.Agent)
	op.Admit = func(ctx context.Context, s *gitstore.Snapshot) error {
		g, err := ReadGoal(ctx, s, c.Goal)
		if err != nil {
			return err
		}
		return CheckActor(g, c.Agent)
	}
	return op, nil
}

// operation is [Ledger.Operation] for verbs without an actor: any goal that can be read admits.
func (l *Ledger) operation(c Call, kind string, args map[string]any) (gitstore.Operation, error) {
	members := maps.Clone(args)
	if members == nil {
		members = map[string]any{}
	}
	given(members, "agent_id", c.Agent)
	given(members, "expected_revision", c.Expected)
	c.Proof.request(members)
	request, err := RequestDigest(kind, c.Goal, c.Todo, members)
	if err != nil {
		return gitstore.Operation{}, err
	}
	id := c.Operation
	if id == "" {
		if id, err = NewOperationID(l.Random); err != nil {
			return gitstore.Operation{}, err
		}
	}
	return gitstore.Operation{
		Ref: c.Goal.Ref(), ID: id, Kind: kind, Goal: string(c.Goal), Todo: string(c.Todo),
		Request: request, Expected: c.Expected, DryRun: c.DryRun, Session: c.Session,
		Admit: func(ctx context.Context, s *gitstore.Snapshot) error {
			_, err := ReadGoal(ctx, s, c.Goal)
			return err
		},
	}, nil
}

// given puts a member of a request that is not empty.
func given[T ~string](members map[string]any, name string, value T) {
	if value != "" {
		members[name] = value
	}
}

// givenList puts a list of a request that is not empty.
func givenList[T any](members map[string]any, name string, value []T) {
	if len(value) > 0 {
		members[name] = value
	}
}

// givenFlag puts a flag of a request that is set.
func givenFlag(members map[string]any, name string, value bool) {
	if value {
		members[name] = true
	}
}

// Change returns what a decision writes as files. The error is a defect: a record that would not be read again.
func (d Decision) Change() (gitstore.Change, error) {
	change := gitstore.Change{Subject: d.Subject, Result: d.Result, Todo: string(d.Todo)}
	if d.Changes() {
		change.Files = map[string][]byte{}
	}
	if d.Goal != nil {
		b, err := EncodeGoal(*d.Goal)
		if err != nil {
			return gitstore.Change{}, err
		}
		change.Files[GoalPath] = b
	}
	for _, t := range d.Todos {
		b, err := EncodeTodo(t)
		if err != nil {
			return gitstore.Change{}, err
		}
		change.Files[TodoPath(t.ID)] = b
	}
	for id, b := range d.Notes {
		change.Files[NotePath(id)] = b
	}
	for id, b := range d.Leases {
		change.Files[LeasePath(id)] = b
	}
	return change, nil
}

// Apply applies an operation of this ledger and says what happened: the Todo of the answer is the receipt's, read back
// from the tip. A goal that does not exist is goal_not_found.
func (l *Ledger) Apply(ctx context.Context, c Call, op gitstore.Operation) (Answer, error) {
	out, err := l.Store.Apply(ctx, op)
	if err != nil {
		return Answer{}, goalMissing(c.Goal, err)
	}
	return l.Answer(ctx, c, op, out)
}

// readBackTime is how long reading back may take once an operation stands.
const readBackTime = 5 * time.Second

// ReadBack returns the context to read back with what an operation did. It outlives an interrupt: what was done must be
// answered for.
func ReadBack(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
}

// Unread is the refusal that says why something cannot be read back; nil for no error.
func Unread(err error) *Refusal {
	if r := AsRefusal(err); r != nil || err == nil {
		return r
	}
	return Fail(storedCode(err), "%s", err)
}

// Answer says how an operation ended. Its View is the Todo of the receipt as read back; one that cannot be read is an
// unreadable view, never an error, since the operation stands.
func (l *Ledger) Answer(ctx context.Context, c Call, op gitstore.Operation, out gitstore.Outcome) (Answer, error) {
	a := Answer{
		Kind: op.Kind, Goal: c.Goal, Todo: ID(out.Receipt.Todo), Operation: op.ID,
		Status: out.Status, Changed: out.Changed, Receipt: out.Receipt, Tip: out.Tip,
	}
	if out.Tip == nil {
		return a, nil
	}
	a.Revision = out.Tip.Revision()
	if a.Todo == "" || a.Revision == "" {
		return a, nil
	}
	ctx, cancel := ReadBack(ctx)
	defer cancel()
	t, err := ReadTodo(ctx, out.Tip, a.Todo)
	switch {
	case err != nil:
		a.View = &View{TodoID: a.Todo, Error: Unread(err).Code}
	case t != nil:
		v := ViewOf(*t)
		a.View = &v
	}
	return a, nil
}
