package todo

import (
	"context"

	"github.com/git-loopx/git-loopx/gitstore"
)

// ReadyList is what todo ready says of one revision.
type ReadyList struct {
	Revision gitstore.ObjectID
	Total    int // before the limit
	Rows     []ReadyEntry
	Held     []Held // where asked for
}

// ReadyEntry is a Todo that can be worked on. Mine: its owner is the agent that asks.
type ReadyEntry struct {
	Entry
	Mine bool
}

// Held is a Todo that cannot be worked on by who asks, and why.
type Held struct {
	TodoID ID   `json:"todo_id"`
	Code   Code `json:"reason_code"`
}

// Ready lists the Todos that an agent ("": nobody in particular) can work on (continuation.md, section 5), at most limit
// (0: all), by priority (none after P4), creation and id; and with explain all others that are neither done nor archived,
// in the same order, those that cannot be read last. Malformed arguments are invalid_coordination_todo_claim, an agent that
// the goal does not know is actor_not_registered.
func (l *Ledger) Ready(ctx context.Context, g GoalID, agent AgentID, limit int, explain bool) (ReadyList, error) {
	if err := CheckCall(Call{Goal: g, Agent: agent}, CodeInvalidClaim); err != nil {
		return ReadyList{}, err
	}
	if limit < 0 {
		return ReadyList{}, Fail(CodeInvalidClaim, "the limit must not be negative")
	}
	at, err := l.Instant()
	if err != nil {
		return ReadyList{}, err
	}
	s, err := l.Load(ctx, g)
	if err != nil {
		return ReadyList{}, err
	}
	q, err := l.queue(ctx, s, g, agent, at)
	if err != nil {
		return ReadyList{}, err
	}
	ready, rest, err := q.split(explain)
	if err != nil {
		return ReadyList{}, err
	}
	list := ReadyList{Revision: s.Revision(), Total: len(ready)}
	for _, e := range firstOf(ready, limit) {
		if !e.intact() {
			return ReadyList{}, errRow
		}
		list.Rows = append(list.Rows, ReadyEntry{e, e.key().claimed()}) // another's would not be ready
	}
	for _, h := range rest {
		list.Held = append(list.Held, Held{h.TodoID(), h.code})
	}
	return list, nil
}

// FirstReady returns the first unclaimed Todo of a snapshot that an agent can take and that take agrees to; "" where there
// is none. take is asked for one after another, in their order; its error ends the search. A Todo that every verb refuses,
// because its note or lease cannot be read, is passed over.
func (l *Ledger) FirstReady(ctx context.Context, s *gitstore.Snapshot, g GoalID, agent AgentID, at Instant, take func(ID) (bool, error)) (ID, error) {
	q, err := l.queue(ctx, s, g, agent, at)
	if err != nil {
		return "", err
	}
	ready, _, err := q.split(false)
	if err != nil {
		return "", err
	}
	for _, e := range firstOf(ready, 0) {
		if e.key().claimed() {
			continue
		}
		if _, err := l.ReadMutable(ctx, s, g, e.TodoID(), at); AsRefusal(err) != nil {
			continue
		} else if err != nil {
			return "", err
		}
		if ok, err := take(e.TodoID()); ok || err != nil {
			return e.TodoID(), err
		}
	}
	return "", nil
}

// queue gathers what is to be known of a snapshot.
func (l *Ledger) queue(ctx context.Context, s *gitstore.Snapshot, g GoalID, agent AgentID, at Instant) (*queue, error) {
	goal, err := ReadGoal(ctx, s, g)
	if err != nil {
		return nil, err
	}
	if agent != "" {
		if err := CheckActor(goal, agent); err != nil {
			return nil, err
		}
	}
	rows, err := l.table(ctx, s)
	if err != nil {
		return nil, err
	}
	leases, unread, err := l.leases(ctx, s, g, at)
	if err != nil {
		return nil, err
	}
	return newQueue(goal, agent, at, rows, leases, unread), nil
}
