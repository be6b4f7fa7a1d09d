package todo

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
)

// idsDrawn is how many ids add draws before it starts, so that a taken one costs nothing.
const idsDrawn = 4

// Add makes a Todo. Without c.Todo its id is drawn.
func (l *Ledger) Add(ctx context.Context, c Call, a AddArgs) (Answer, error) {
	a, err := a.check()
	if err != nil {
		return Answer{}, err
	}
	if err := CheckCall(c, CodeInvalidAdd); err != nil {
		return Answer{}, err
	}
	ids := []ID{c.Todo}
	if c.Todo == "" {
		ids = make([]ID, idsDrawn)
		for i := range ids {
			if ids[i], err = NewID(l.Random); err != nil {
				return Answer{}, err
			}
		}
	}
	return l.apply(ctx, c, "todo add", a.request(), func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		id, err := firstFree(ctx, s, ids)
		if err != nil {
			return Decision{}, err
		}
		state, err := ReadState(ctx, s, c.Goal, id)
		if err != nil {
			return Decision{}, err
		}
		r := addRequest{Args: a, ID: id, Given: c.Todo != "", Actor: c.Agent, At: at}
		if state.Todo == nil {
			if r.Siblings, err = l.siblings(ctx, s, a.Role, a.Text); err != nil {
				return Decision{}, err
			}
		}
		return decideAdd(state, r)
	})
}

// firstFree returns the first of the ids that no file of the snapshot belongs to, or the last one.
func firstFree(ctx context.Context, s *gitstore.Snapshot, ids []ID) (ID, error) {
	for _, id := range ids[:len(ids)-1] {
		free := true
		for _, file := range []string{TodoPath(id), NotePath(id), LeasePath(id)} {
			_, there, err := s.File(ctx, file)
			if err != nil {
				return "", err
			}
			free = free && !there
		}
		if free {
			return id, nil
		}
	}
	return ids[len(ids)-1], nil
}

// siblings returns the open, active Todos of a role and text, by id. The table says where they may be.
func (l *Ledger) siblings(ctx context.Context, s *gitstore.Snapshot, role Role, text string) ([]Todo, error) {
	rows, err := l.Store.Keys(ctx, s, "todos", rowVersion, makeRow)
	if err != nil {
		return nil, err
	}
	var found []Todo
	hash := sameHash(role, text)
	for _, r := range rows {
		k := rowKey(r.Key)
		if !k.readable() || !k.same(hash) || k.status() != Open || k.archived() {
			continue
		}
		t, err := readTodo(ctx, s, idOf(r.Name))
		if err != nil {
			return nil, err
		}
		if t != nil && t.Role == role && t.Text == text && t.Status == Open && t.ArchiveState == Active {
			found = append(found, *t)
		}
	}
	slices.SortFunc(found, func(a, b Todo) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return found, nil
}

// Update changes members of a Todo.
func (l *Ledger) Update(ctx context.Context, c Call, a UpdateArgs) (Answer, error) {
	if err := a.check(); err != nil {
		return Answer{}, err
	}
	return l.change(ctx, c, CodeInvalidUpdate, "todo update", a.request(), func(s State, at Instant) (Decision, error) {
		return decideUpdate(s, c.Todo, a, c.Agent, at)
	})
}

// SetNote replaces or removes the note on a Todo.
func (l *Ledger) SetNote(ctx context.Context, c Call, a NoteArgs) (Answer, error) {
	if err := a.check(); err != nil {
		return Answer{}, err
	}
	return l.change(ctx, c, CodeInvalidUpdate, "todo note", a.request(), func(s State, at Instant) (Decision, error) {
		return decideNote(s, c.Todo, a, c.Agent, at)
	})
}

// Claim takes a Todo for an agent, which is the actor. A replay is judged again: Refused of the answer says why the claim
// no longer holds.
func (l *Ledger) Claim(ctx context.Context, c Call, claimedBy AgentID) (Answer, error) {
	if claimedBy == "" {
		claimedBy = c.Agent // none at all is actor_required, in its turn
	}
	if !utf8.ValidString(string(claimedBy)) {
		return Answer{}, failed(CodeInvalidClaim, "the agent that claims must be given in UTF-8")
	}
	a, err := l.change(ctx, c, CodeInvalidClaim, "todo claim", map[string]any{"claimed_by": claimedBy}, func(s State, at Instant) (Decision, error) {
		return DecideClaim(s, ClaimRequest{
			Command: "todo claim", Todo: c.Todo, Actor: c.Agent, Claimant: claimedBy, Expected: c.Expected, At: at,
		})
	})
	if err != nil || a.Status != gitstore.Replayed && a.Status != gitstore.Recovered {
		return a, err
	}
	ctx, cancel := ReadBack(ctx)
	defer cancel()
	state, err := ReadState(ctx, a.Tip, c.Goal, c.Todo)
	if err == nil {
		err = VerifyClaim(state, c.Todo, claimedBy)
	}
	a.Refused = Unread(err)
	return a, nil
}

// Release frees a Todo.
func (l *Ledger) Release(ctx context.Context, c Call, a ReleaseArgs) (Answer, error) {
	if err := a.check(); err != nil {
		return Answer{}, err
	}
	return l.change(ctx, c, CodeInvalidClaim, "todo release", a.request(), func(s State, at Instant) (Decision, error) {
		return decideRelease(s, c.Todo, a, c.Agent, at)
	})
}

// Complete ends the work on a Todo.
func (l *Ledger) Complete(ctx context.Context, c Call, a CompleteArgs) (Answer, error) {
	a, err := a.check()
	if err != nil {
		return Answer{}, err
	}
	return l.end(ctx, c, "todo complete", a.request(), a.Successors, func(s State, after Following, at Instant) (Decision, error) {
		return decideComplete(s, c.Todo, a, after, c.Agent, at)
	})
}

// Supersede ends a Todo because another takes its place.
func (l *Ledger) Supersede(ctx context.Context, c Call, a SupersedeArgs) (Answer, error) {
	if err := a.check(); err != nil {
		return Answer{}, err
	}
	return l.end(ctx, c, "todo supersede", a.request(), []ID{a.By}, func(s State, after Following, at Instant) (Decision, error) {
		return decideSupersede(s, c.Todo, a, after, c.Agent, at)
	})
}

// Reopen opens a Todo again.
func (l *Ledger) Reopen(ctx context.Context, c Call, a ReopenArgs) (Answer, error) {
	if err := a.check(); err != nil {
		return Answer{}, err
	}
	return l.change(ctx, c, CodeInvalidLifecycle, "todo reopen", a.request(), func(s State, at Instant) (Decision, error) {
		return decideReopen(s, c.Todo, a, c.Agent, at)
	})
}

// Archive puts a Todo away.
func (l *Ledger) Archive(ctx context.Context, c Call) (Answer, error) {
	return l.change(ctx, c, CodeInvalidArchive, "todo archive", nil, func(s State, at Instant) (Decision, error) {
		return decideArchive(s, c.Todo, c.Agent, at)
	})
}

// ArchiveCompleted puts all but the newest done Todos away; without Execute it is a dry run.
func (l *Ledger) ArchiveCompleted(ctx context.Context, c Call, a ArchiveCompletedArgs) (ArchiveCompletedAnswer, error) {
	c.Todo, c.DryRun = "", c.DryRun || !a.Execute
	if err := a.check(); err != nil {
		return ArchiveCompletedAnswer{}, err
	}
	if err := CheckCall(c, CodeInvalidArchive); err != nil {
		return ArchiveCompletedAnswer{}, err
	}
	answer, err := l.apply(ctx, c, "todo archive", a.request(), func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		todos, err := l.surplus(ctx, s, c.Goal, a.MaxActiveDone)
		if err != nil {
			return Decision{}, err
		}
		return decideArchiveCompleted(a, todos, c.Agent, at), nil
	})
	if err != nil {
		return ArchiveCompletedAnswer{}, err
	}
	var result ArchiveCompletedResult
	if err := json.Unmarshal(answer.Receipt.Result, &result); err != nil {
		return ArchiveCompletedAnswer{}, err
	}
	return ArchiveCompletedAnswer{Answer: answer, Todos: result.Todos}, nil
}

// surplus reads the done Todos that are too many.
func (l *Ledger) surplus(ctx context.Context, s *gitstore.Snapshot, g GoalID, keep int) ([]Todo, error) {
	rows, err := l.table(ctx, s)
	if err != nil {
		return nil, err
	}
	var done []doneTodo
	for _, r := range rows {
		if k := rowKey(r.Key); k.readable() && k.status() == Done && !k.archived() {
			done = append(done, doneTodo{ID: idOf(r.Name), When: k.completed()})
		}
	}
	var todos []Todo
	for _, id := range surplus(done, keep) {
		state, err := ReadMutable(ctx, s, g, id)
		if err != nil {
			return nil, err
		}
		todos = append(todos, *state.Todo)
	}
	return todos, nil
}

// end applies a verb that ends work, with the Todos that the work goes on in.
func (l *Ledger) end(ctx context.Context, c Call, kind string, args map[string]any, next []ID, decide func(State, Following, Instant) (Decision, error)) (Answer, error) {
	if err := checkTodoCall(c, CodeInvalidLifecycle); err != nil {
		return Answer{}, err
	}
	return l.apply(ctx, c, kind, args, func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		state, err := ReadMutable(ctx, s, c.Goal, c.Todo)
		if err != nil {
			return Decision{}, err
		}
		after, err := follow(ctx, s, next)
		if err != nil {
			return Decision{}, err
		}
		return decide(state, after, at)
	})
}

// follow reads the Todos that can be reached from some ids.
func follow(ctx context.Context, s *gitstore.Snapshot, next []ID) (Following, error) {
	after := Following{}
	for queue := slices.Clone(next); len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		if _, ok := after[id]; ok {
			continue
		}
		t, err := readTodo(ctx, s, id)
		if err != nil {
			return nil, err
		}
		if t != nil {
			after[id] = *t
			queue = append(queue, t.next()...)
		}
	}
	return after, nil
}

// change applies a verb that needs one Todo and nothing else.
func (l *Ledger) change(ctx context.Context, c Call, family Code, kind string, args map[string]any, decide func(State, Instant) (Decision, error)) (Answer, error) {
	if err := checkTodoCall(c, family); err != nil {
		return Answer{}, err
	}
	return l.apply(ctx, c, kind, args, func(ctx context.Context, s *gitstore.Snapshot, at Instant) (Decision, error) {
		state, err := ReadMutable(ctx, s, c.Goal, c.Todo)
		if err != nil {
			return Decision{}, err
		}
		return decide(state, at)
	})
}

func checkTodoCall(c Call, family Code) error {
	if c.Todo == "" {
		return failed(family, "no todo given")
	}
	return CheckCall(c, family)
}

// apply applies a verb of an actor. A dry run answers with the Todo as it would be.
func (l *Ledger) apply(ctx context.Context, c Call, kind string, args map[string]any, decide func(context.Context, *gitstore.Snapshot, Instant) (Decision, error)) (Answer, error) {
	at, err := l.Instant()
	if err != nil {
		return Answer{}, err
	}
	op, err := l.Operation(c, kind, args)
	if err != nil {
		return Answer{}, err
	}
	var last Decision
	op.Decide = func(ctx context.Context, s *gitstore.Snapshot) (gitstore.Change, error) {
		var err error
		last, err = decide(ctx, s, at)
		return ChangeOf(last, err)
	}
	a, err := l.Apply(ctx, c, op)
	if err != nil || a.Status != gitstore.Planned {
		return a, err
	}
	for _, t := range last.Todos {
		if t.ID == a.Todo {
			v := ViewOf(t)
			a.View = &v
		}
	}
	return a, nil
}
