package todo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
)

// CreateGoal makes a goal with its authority ref. mode "" is soft_claim. A goal that is there is goal_exists, unless it
// holds this operation's receipt.
func (l *Ledger) CreateGoal(ctx context.Context, c Call, title string, mode Mode) (Answer, error) {
	c.Todo, c.Agent = "", ""
	if mode == "" {
		mode = SoftClaim
	}
	if err := First(CheckCall(c, CodeInvalidGoalRequest), checkGoalTitle(title), checkMode(mode)); err != nil {
		return Answer{}, err
	}
	at, err := l.Instant()
	if err != nil {
		return Answer{}, err
	}
	scope, err := newScopeID(l.Random)
	if err != nil {
		return Answer{}, err
	}
	args := map[string]any{"mode": mode}
	given(args, "title", title)
	op, err := l.operation(c, "goal create", args)
	if err != nil {
		return Answer{}, err
	}
	goal := Goal{Schema: GoalSchema, ID: c.Goal, ScopeID: scope, Title: title, HandoffMode: mode, CreatedAt: at}
	op.Creates, op.Admit = true, nil
	op.Decide = func(_ context.Context, s *gitstore.Snapshot) (gitstore.Change, error) {
		d, err := decideCreate(s.Revision() != "", goal)
		return ChangeOf(d, err)
	}
	return l.Apply(ctx, c, op)
}

// Goals lists the goals of the repository by id. One that cannot be read is a row too.
func (l *Ledger) Goals(ctx context.Context) ([]GoalView, error) {
	refs, err := l.Store.Refs(ctx, GoalRefs)
	if err != nil {
		return nil, err
	}
	views := make([]GoalView, 0, len(refs))
	for _, ref := range refs {
		id := GoalID(strings.TrimPrefix(string(ref.Name), string(GoalRefs)))
		var v GoalView
		err := ref.Err
		if err == nil {
			v, err = goalView(ctx, l.Store.At(ref.Name, ref.ID), id)
		}
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			v = GoalView{GoalID: id, Error: storedCode(err), Agents: []AgentView{}, Revision: ref.ID}
		}
		views = append(views, v)
	}
	return views, nil
}

// Goal shows one goal.
func (l *Ledger) Goal(ctx context.Context, id GoalID) (GoalView, error) {
	s, err := l.open(ctx, id)
	if err != nil {
		return GoalView{}, err
	}
	return goalView(ctx, s, id)
}

func goalView(ctx context.Context, s *gitstore.Snapshot, id GoalID) (GoalView, error) {
	if !id.Valid() {
		return GoalView{}, Fail(CodeInvalidProjection, "goal id %q: not well formed", Clean(string(id)))
	}
	g, err := ReadGoal(ctx, s, id)
	if err != nil {
		return GoalView{}, err
	}
	v := GoalView{
		GoalID: g.ID, Readable: true, ScopeID: g.ScopeID, Title: g.Title, Mode: g.HandoffMode,
		Agents: make([]AgentView, 0, len(g.Agents)), Created: g.CreatedAt, Revision: s.Revision(),
	}
	for _, a := range g.Agents {
		v.Agents = append(v.Agents, AgentView{AgentID: a.ID, Label: a.Label, AddedAt: a.AddedAt})
	}
	if a := g.Acceptance; a != nil {
		v.Acceptance = &AcceptanceSettings{Enabled: a.Enabled, Scope: a.Scope, TodoIDs: a.TodoIDs, Bound: len(a.Bindings)}
	}
	return v, nil
}

// storedCode is the code of stored data that cannot be read.
func storedCode(err error) Code {
	var damaged *gitstore.DamagedError
	switch {
	case AsRefusal(err) != nil:
		return CodeOf(err)
	case errors.As(err, &damaged) && damaged.Schema != "":
		return CodeUnsupportedSchema
	case errors.As(err, &damaged):
		return CodeInvalidProjection
	}
	return CodeAuthorityUnavailable
}

// SetMode changes what taking work in a goal needs.
func (l *Ledger) SetMode(ctx context.Context, c Call, m Mode) (Answer, error) {
	c.Todo, c.Agent = "", ""
	if err := First(CheckCall(c, CodeInvalidGoalRequest), checkMode(m)); err != nil {
		return Answer{}, err
	}
	return l.goal(ctx, c, "goal mode set", map[string]any{"mode": m}, func(ctx context.Context, s *gitstore.Snapshot, g Goal, at Instant) (Decision, error) {
		if g.HandoffMode == m {
			return decideMode(g, m, nil, nil)
		}
		held, err := l.held(ctx, s, c.Goal, at)
		if err != nil {
			return Decision{}, err
		}
		if ids := slices.Sorted(maps.Keys(held.unreadable)); len(ids) > 0 { // it may be claimed or leased
			return Decision{}, held.unreadable[ids[0]]
		}
		return decideMode(g, m, held.claimed, held.live)
	})
}

// AddAgent registers the agent c.Agent with the goal.
func (l *Ledger) AddAgent(ctx context.Context, c Call, label string) (Answer, error) {
	c.Todo = ""
	if err := First(CheckCall(c, CodeInvalidGoalRequest), checkAgent(c.Agent, label)); err != nil {
		return Answer{}, err
	}
	args := map[string]any{}
	given(args, "label", label)
	return l.goal(ctx, c, "agent add", args, func(_ context.Context, _ *gitstore.Snapshot, g Goal, at Instant) (Decision, error) {
		return decideAddAgent(g, c.Agent, label, at), nil
	})
}

// RemoveAgent takes the agent c.Agent from the goal's list. Its claims stay and are listed in the result.
func (l *Ledger) RemoveAgent(ctx context.Context, c Call) (Answer, error) {
	c.Todo = ""
	if err := First(CheckCall(c, CodeInvalidGoalRequest), checkAgent(c.Agent, "")); err != nil {
		return Answer{}, err
	}
	return l.goal(ctx, c, "agent remove", nil, func(ctx context.Context, s *gitstore.Snapshot, g Goal, at Instant) (Decision, error) {
		held, err := l.held(ctx, s, c.Goal, at)
		if err != nil {
			return Decision{}, err
		}
		claimed := slices.DeleteFunc(held.claimed, func(t ClaimedTodo) bool { return t.ClaimedBy != c.Agent })
		live := slices.DeleteFunc(held.live, func(a ActiveLease) bool { return a.Owner != c.Agent })
		return decideRemoveAgent(g, c.Agent, claimed, live, slices.Sorted(maps.Keys(held.unreadable))), nil
	})
}

// goal applies a verb that changes the goal record alone.
func (l *Ledger) goal(ctx context.Context, c Call, kind string, args map[string]any, decide func(context.Context, *gitstore.Snapshot, Goal, Instant) (Decision, error)) (Answer, error) {
	if _, err := l.Instant(); err != nil {
		return Answer{}, err
	}
	op, err := l.operation(c, kind, args)
	if err != nil {
		return Answer{}, err
	}
	op.Decide = func(ctx context.Context, s *gitstore.Snapshot) (gitstore.Change, error) {
		g, err := ReadGoal(ctx, s, c.Goal)
		if err != nil {
			return gitstore.Change{}, err
		}
		at, err := l.Instant()
		if err != nil {
			return gitstore.Change{}, err
		}
		return ChangeOf(decide(ctx, s, g, at))
	}
	return l.Apply(ctx, c, op)
}

// heldWork is what agents hold in a goal, by id.
type heldWork struct {
	claimed    []ClaimedTodo // neither done nor archived
	live       []ActiveLease
	unreadable map[ID]*Refusal // Todos and leases that cannot be read
}

func (l *Ledger) held(ctx context.Context, s *gitstore.Snapshot, g GoalID, at Instant) (heldWork, error) {
	rows, err := l.table(ctx, s)
	if err != nil {
		return heldWork{}, err
	}
	held := heldWork{unreadable: map[ID]*Refusal{}}
	for _, r := range rows {
		k := rowKey(r.Key)
		if k.readable() && (!k.claimed() || k.archived() || k.status() == Done) {
			continue
		}
		v, err := rowView(r)
		if err != nil {
			return heldWork{}, err
		}
		if !v.Readable {
			held.unreadable[v.TodoID] = Fail(v.Error, "todo %s: cannot be read", v.TodoID).With("record", r.Name)
			continue
		}
		held.claimed = append(held.claimed, ClaimedTodo{TodoID: v.TodoID, ClaimedBy: v.ClaimedBy, Status: v.Status})
	}
	slices.SortFunc(held.claimed, func(a, b ClaimedTodo) int { return strings.Compare(string(a.TodoID), string(b.TodoID)) })
	leases, unread, err := l.leases(ctx, s, g, at)
	if err != nil {
		return heldWork{}, err
	}
	maps.Copy(held.unreadable, unread)
	for _, id := range slices.Sorted(maps.Keys(leases)) {
		if h := leases[id]; h.LiveToOthers {
			held.live = append(held.live, ActiveLease{TodoID: id, Owner: h.Owner, ExpiresAt: h.Expires, Version: h.Version})
		}
	}
	return held, nil
}

// leases judges all leases of a snapshot; without [Ledger.Leases] none of them can be read.
func (l *Ledger) leases(ctx context.Context, s *gitstore.Snapshot, g GoalID, at Instant) (map[ID]Holding, map[ID]*Refusal, error) {
	if l.Leases != nil {
		return l.Leases.All(ctx, s, g, at)
	}
	rows, err := l.Store.Table(ctx, s, "leases", "none/1", func(file string, blob []byte) gitstore.Row {
		return gitstore.Row{Name: file, Data: []byte(checkLease(IDOf(file), blob).Code)}
	})
	unread := map[ID]*Refusal{}
	for _, r := range rows {
		unread[IDOf(r.Name)] = Fail(Code(r.Data), "lease on %s: cannot be read", IDOf(r.Name)).With("record", r.Name)
	}
	return nil, unread, err
}

// ChangeOf turns what a rule said into what is written.
func ChangeOf(d Decision, err error) (gitstore.Change, error) {
	if err != nil {
		return gitstore.Change{}, err
	}
	return d.Change()
}
