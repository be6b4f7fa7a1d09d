package lease

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// ClaimWithLease takes a Todo for an agent, the actor unless named, in one commit with a lease where r asks for one
// (continuation.md, section 4). Without r it is [todo.Ledger.Claim]. Malformed values of r are invalid_idempotency_key,
// invalid_ttl, invalid_expected_version; all else is invalid_coordination_todo_claim.
//
// A replay is judged again: Refused of the answer says why the claim, or the lease that came with it, no longer holds.
func (l *Ledger) ClaimWithLease(ctx context.Context, c todo.Call, claimedBy todo.AgentID, r *Request) (ClaimAnswer, error) {
	if claimedBy == "" {
		claimedBy = c.Agent
	}
	step, err := l.claimStep(c, claimedBy, r)
	if err != nil {
		return ClaimAnswer{}, err
	}
	a, err := l.Run(ctx, c, step)
	if err != nil {
		return ClaimAnswer{}, err
	}
	return l.claimed(ctx, c, claimedBy, a)
}

// claimStep is the step of [Ledger.ClaimWithLease].
func (l *Ledger) claimStep(c todo.Call, claimedBy todo.AgentID, r *Request) (todo.Step, error) {
	if err := checkNoProof(c, todo.CodeInvalidClaim); err != nil {
		return todo.Step{}, err
	}
	step, err := l.ClaimStep(c, claimedBy)
	if err != nil || r == nil {
		return step, err
	}
	if err := r.Check(todo.CodeInvalidClaim); err != nil {
		return todo.Step{}, err
	}
	step.Args = r.withRequest(step.Args)
	step.Decide = func(ctx context.Context, s *gitstore.Snapshot, at todo.Instant) (todo.Decision, error) {
		return l.decideClaim(ctx, s, c, todo.ClaimRequest{
			Command: "todo claim", Todo: c.Todo, Actor: c.Agent, Claimant: claimedBy, Expected: c.Expected, At: at,
		}, r)
	}
	return step, nil
}

// decideClaim gathers for the claim decision and takes it. Leases of other Todos are read only once it comes to that.
func (l *Ledger) decideClaim(ctx context.Context, s *gitstore.Snapshot, c todo.Call, claim todo.ClaimRequest, r *Request) (todo.Decision, error) {
	state, err := l.ReadMutable(ctx, s, c.Goal, claim.Todo, claim.At)
	if err != nil {
		return todo.Decision{}, err
	}
	if r != nil {
		claim.Acquire = func(moved todo.State) (todo.Acquired, error) {
			return l.acquired(ctx, s, moved, claim.Todo, claim.Claimant, *r, claim.At)
		}
	}
	return todo.DecideClaim(state, claim)
}

// errNothing ends an operation that found no Todo to take: nothing is sealed, and its id stays unused.
var errNothing = errors.New("nothing is ready")

// ClaimReady takes the first Todo that is ready for the actor and nobody's, in one commit with a lease where r asks for
// one (continuation.md, section 5). It chooses anew whenever another writer was faster, so that every Todo has one winner.
// Under hard_lease r is needed. Nothing of the answer is sealed where Nothing is set: the same operation id may be used again.
func (l *Ledger) ClaimReady(ctx context.Context, c todo.Call, r *Request) (ClaimAnswer, error) {
	c.Todo = ""
	if err := todo.First(checkNoProof(c, todo.CodeInvalidClaim), todo.CheckCall(c, todo.CodeInvalidClaim)); err != nil {
		return ClaimAnswer{}, err
	}
	step := todo.Step{Kind: "todo ready", Args: map[string]any{"claim": true}}
	if r != nil {
		if err := r.Check(todo.CodeInvalidClaim); err != nil {
			return ClaimAnswer{}, err
		}
		step.Args = r.withRequest(step.Args)
	}
	var seen *gitstore.Snapshot
	step.Decide = func(ctx context.Context, s *gitstore.Snapshot, at todo.Instant) (todo.Decision, error) {
		seen = s
		return l.decideReady(ctx, s, c, r, at)
	}
	a, err := l.Run(ctx, c, step)
	if errors.Is(err, errNothing) {
		return ClaimAnswer{Nothing: true, Answer: todo.Answer{
			Kind: step.Kind, Goal: c.Goal, Operation: c.Operation, Status: gitstore.NoChange, Revision: seen.Revision(), Tip: seen,
		}}, nil
	}
	if err != nil {
		return ClaimAnswer{}, err
	}
	return l.claimed(ctx, c, c.Agent, a)
}

// decideReady finds the first Todo that is ready and takes the claim decision on it. A Todo whose lease cannot be had now,
// because somebody writes where its work would, or because of a lease on it, is passed over: only where there is no other
// is it the refusal.
func (l *Ledger) decideReady(ctx context.Context, s *gitstore.Snapshot, c todo.Call, r *Request, at todo.Instant) (d todo.Decision, err error) {
	goal, err := todo.ReadGoal(ctx, s, c.Goal)
	if err != nil {
		return todo.Decision{}, err
	}
	if err := checkReady(goal, r); err != nil {
		return todo.Decision{}, err
	}
	var passed *todo.Refusal
	id, err := l.FirstReady(ctx, s, c.Goal, c.Agent, at, func(id todo.ID) (bool, error) {
		var err error
		d, err = l.decideClaim(ctx, s, c, todo.ClaimRequest{
			Command: "todo ready", Todo: id, Actor: c.Agent, Claimant: c.Agent, Expected: c.Expected, At: at,
		}, r)
		refusal := todo.AsRefusal(err)
		if refusal == nil {
			return true, err
		}
		refusal = refusal.With("todo_id", id)
		if !passable(refusal.Code) {
			return true, refusal
		}
		if passed == nil {
			passed = refusal
		}
		return false, nil
	})
	switch {
	case err != nil:
		return todo.Decision{}, err
	case id == "" && passed != nil:
		return todo.Decision{}, passed
	case id == "":
		return todo.Decision{}, errNothing
	}
	d.Todo, d.Subject = id, "todo ready "+string(id)
	return d, nil
}

// claimed says what a claim came to, as it is read back.
func (l *Ledger) claimed(ctx context.Context, c todo.Call, claimedBy todo.AgentID, a todo.Answer) (ClaimAnswer, error) {
	answer := ClaimAnswer{Answer: a}
	var result struct {
		Lease *View `json:"lease"`
	}
	if err := json.Unmarshal(a.Receipt.Result, &result); err != nil {
		return ClaimAnswer{}, err
	}
	ctx, cancel := todo.ReadBack(ctx)
	defer cancel()
	at := todo.At(l.Now())
	state, err := l.ReadState(ctx, a.Tip, c.Goal, a.Todo, at)
	if err == nil {
		if state.Todo != nil {
			answer.DependencyState = state.Dependencies(at)
		}
		err = verifyClaim(state, a.Todo, claimedBy, result.Lease)
	}
	answer.Verified = err == nil && a.Status != gitstore.Planned
	if a.Status == gitstore.Replayed || a.Status == gitstore.Recovered {
		answer.Refused = todo.Unread(err)
	}
	return answer, nil
}
