package lease

import (
	"context"
	"maps"
	"slices"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// AcquireLease takes a lease. Errors are *todo.Refusal and those of gitstore. A replay is judged again: it shows the lease
// of that key as it is now, and where that is no longer the owner's to use, Refused of the answer says why.
func (l *Ledger) AcquireLease(ctx context.Context, r AcquireRequest) (Answer, error) {
	v, err := l.acquireVerb(r)
	if err != nil {
		return Answer{}, err
	}
	a, err := l.run(ctx, v)
	if err != nil {
		return Answer{}, err
	}
	if replay(a.Status) {
		return a, l.judgeAcquired(ctx, r, &a)
	}
	a.Advisories = l.advisories(ctx, r, a.Lease.WriteScopes)
	return a, nil
}

func (l *Ledger) acquireVerb(r AcquireRequest) (verb, error) {
	if err := r.check(); err != nil {
		return verb{}, err
	}
	operation, err := acquireID(r.Goal, r.Todo, r.Owner, r.Key)
	return verb{
		name: "acquire", call: r.call(), operation: operation, owner: r.Owner, args: r.args(),
		decide: func(ctx context.Context, s *gitstore.Snapshot, at todo.Instant) (todo.Decision, error) {
			state, err := l.ReadState(ctx, s, r.Goal, r.Todo, at)
			if err != nil {
				return todo.Decision{}, err
			}
			a, err := l.acquisition(ctx, s, state, r.Todo, r.Owner, r.Request, at)
			if err != nil {
				return todo.Decision{}, err
			}
			taken, idempotent, err := decideAcquire(state, a)
			if err != nil {
				return todo.Decision{}, err
			}
			return decision("acquire", state, taken, idempotent)
		},
	}, err
}

// judgeAcquired judges the replay of an acquire: it shows the lease of that key as it is now. One that was released, is over
// or went on to somebody else is idempotency_key_reuse, one that is live and not effective
// handoff_mode_lease_claim_divergence, and none is shown.
func (l *Ledger) judgeAcquired(ctx context.Context, r AcquireRequest, a *Answer) error {
	ctx, cancel := todo.ReadBack(ctx)
	defer cancel()
	taken := a.Lease
	a.Lease, a.Done, a.Verified = nil, false, false
	state, record, err := l.read(ctx, a.Tip, r.Goal, r.Todo, todo.At(l.Now()))
	if err == nil {
		err = verifyAcquired(state, r.Todo, r.Owner, r.Key, taken.Epoch)
	}
	if a.Refused = todo.Unread(err); a.Refused != nil {
		return nil
	}
	view := ViewOf(*record)
	a.Lease, a.Done, a.Verified = &view, true, true
	return nil
}

// acquired takes a lease with a claim: it gathers what the acquire decision needs from a snapshot, and decides on the state
// once the claim has moved.
func (l *Ledger) acquired(ctx context.Context, s *gitstore.Snapshot, moved todo.State, id todo.ID, owner todo.AgentID, r Request, at todo.Instant) (todo.Acquired, error) {
	a, err := l.acquisition(ctx, s, moved, id, owner, r, at)
	if err != nil {
		return todo.Acquired{}, err
	}
	taken, idempotent, err := decideAcquire(moved, a)
	if err != nil {
		return todo.Acquired{}, err
	}
	view, err := canonical.Marshal(ViewOf(taken))
	if err != nil || idempotent {
		return todo.Acquired{Idempotent: idempotent, Lease: view}, err
	}
	record, err := EncodeLease(taken)
	return todo.Acquired{Record: record, Lease: view}, err
}

// acquisition gathers what the acquire decision is told besides a state of the snapshot.
func (l *Ledger) acquisition(ctx context.Context, s *gitstore.Snapshot, state todo.State, id todo.ID, owner todo.AgentID, r Request, at todo.Instant) (a acquisition, err error) {
	a = acquisition{Todo: id, Owner: owner, Request: r, At: at}
	if a.Record, err = readLease(ctx, s, state.Goal.ID, id); err != nil {
		return a, err
	}
	if a.Spent, err = l.spent(ctx, s, state.Goal.ID, id, owner, r.Key); err != nil || state.Todo == nil {
		return a, err
	}
	if scopes := r.scopes(*state.Todo); state.Goal.HandoffMode == todo.HardLease && len(scopes) > 0 {
		a.Others, a.Unread, err = l.others(ctx, s, state.Goal, id, owner, scopes, at)
	}
	return a, err
}

// spent says whether an owner has acquired a Todo with this key before: the receipt of that stays.
func (l *Ledger) spent(ctx context.Context, s *gitstore.Snapshot, g todo.GoalID, id todo.ID, owner todo.AgentID, key string) (bool, error) {
	operation, err := acquireID(g, id, owner, key)
	if err != nil {
		return false, err
	}
	_, there, err := s.File(ctx, gitstore.ReceiptPath(operation))
	return there, err
}

// others gathers the leases on other Todos that may be live in the eyes of an agent and overlap some scopes. What cannot be
// read may be one of them, and is named.
func (l *Ledger) others(ctx context.Context, s *gitstore.Snapshot, goal todo.Goal, id todo.ID, viewer todo.AgentID, scopes []string, at todo.Instant) (found []Other, unread *todo.Refusal, err error) {
	j := judge{l.Store}
	leases, unreadable, err := j.active(ctx, s, goal.ID, at)
	if err != nil {
		return nil, nil, err
	}
	delete(unreadable, id)
	if ids := slices.Sorted(maps.Keys(unreadable)); len(ids) > 0 {
		unread = unreadable[ids[0]]
	}
	ours := reaches(scopes)
	for _, lease := range leases {
		if _, _, ok := overlap(ours, reaches(lease.WriteScopes)); !ok || lease.Todo == id {
			continue
		}
		skew, err := j.skewFor(ctx, lease, at)
		if err != nil {
			return nil, nil, err
		}
		t, err := todo.ReadTodo(ctx, s, lease.Todo)
		if refusal := todo.AsRefusal(err); refusal != nil {
			unread = refusal
			continue
		} else if err != nil {
			return nil, nil, err
		}
		state := todo.State{Goal: goal, Todo: t, Lease: lease.judged(at, skew)}
		found = append(found, Other{Lease: lease, Effective: state.EffectiveFor(viewer)})
	}
	return found, unread, nil
}

// readLease reads the record of the lease on a Todo; nil where there is none.
func readLease(ctx context.Context, s *gitstore.Snapshot, g todo.GoalID, id todo.ID) (*Lease, error) {
	b, ok, err := s.File(ctx, todo.LeasePath(id))
	if err != nil || !ok {
		return nil, err
	}
	l, err := DecodeLease(g, id, b)
	if err != nil {
		return nil, err
	}
	return &l, nil
}
