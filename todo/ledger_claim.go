package todo

import (
	"context"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/gitstore"
)

// Claim takes a Todo for an agent, which is the actor. A replay is judged again: Refused of the answer says why the claim
// no longer holds.
func (l *Ledger) Claim(ctx context.Context, c Call, claimedBy AgentID) (Answer, error) {
	step, err := l.ClaimStep(c, claimedBy)
	if err != nil {
		return Answer{}, err
	}
	a, err := l.Run(ctx, c, step)
	if err != nil {
		return a, err
	}
	l.judgeClaim(ctx, claimant(c, claimedBy), &a)
	return a, nil
}

// ClaimStep is the step of [Ledger.Claim], without a lease.
func (l *Ledger) ClaimStep(c Call, claimedBy AgentID) (Step, error) {
	claimedBy = claimant(c, claimedBy)
	var malformed error
	if !utf8.ValidString(string(claimedBy)) {
		malformed = Fail(CodeInvalidClaim, "the agent that claims must be given in UTF-8")
	}
	return l.step(c, malformed, CodeInvalidClaim, "todo claim", map[string]any{"claimed_by": claimedBy}, func(s State, at Instant) (Decision, error) {
		return DecideClaim(s, ClaimRequest{
			Command: "todo claim", Todo: c.Todo, Actor: c.Agent, Claimant: claimedBy, Expected: c.Expected, At: at,
		})
	})
}

// claimant is who shall own the Todo: the actor unless named. None at all is actor_required, in its turn.
func claimant(c Call, claimedBy AgentID) AgentID {
	if claimedBy == "" {
		return c.Agent
	}
	return claimedBy
}

// judgeClaim completes the answer to a claim: where the Todo's dependencies stand, and of a replay whether the claim still
// holds. Its Refused says why not.
func (l *Ledger) judgeClaim(ctx context.Context, claimedBy AgentID, a *Answer) {
	if a.Tip == nil || a.Todo == "" {
		return
	}
	ctx, cancel := ReadBack(ctx)
	defer cancel()
	at := At(l.Now())
	if a.Status != gitstore.Replayed && a.Status != gitstore.Recovered {
		a.DependencyState = DependenciesReady
		if v := a.View; v == nil || !v.Readable || len(v.DependsOn) > 0 || v.ResumeAt != "" {
			a.DependencyState = dependencyState(ctx, a.Tip, a.Todo, at)
		}
		return
	}
	state, err := l.ReadState(ctx, a.Tip, a.Goal, a.Todo, at)
	if err == nil {
		err = VerifyClaim(state, a.Todo, claimedBy)
	}
	if state.Todo != nil {
		a.DependencyState = state.Dependencies(at)
	}
	a.Refused = Unread(err)
}

// dependencyState says where the dependencies of a Todo stand; "" where it cannot be told.
func dependencyState(ctx context.Context, s *gitstore.Snapshot, id ID, at Instant) DependencyState {
	t, err := ReadTodo(ctx, s, id)
	if err != nil || t == nil {
		return ""
	}
	all, err := others(ctx, s, *t)
	if err != nil {
		return ""
	}
	return State{Todo: t, Others: all}.Dependencies(at)
}
