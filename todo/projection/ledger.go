package projection

import (
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Ledger delivers views of the goals of one repository into its work tree. It may be used by many at once, in this and in
// other processes.
type Ledger struct{ todo.Ledger }

// Request asks for the view of a goal.
type Request struct {
	Goal    todo.GoalID
	Trigger gitstore.ObjectID // the revision of the operation that asks
	// Expected is the revision that must be the tip; "" is none.
	Expected gitstore.ObjectID
	// Report only tells what would be done.
	Report bool
}

const (
	// deliveryTime bounds one delivery, with the wait for its turn.
	deliveryTime = 10 * time.Second
	// rounds is how often a view is made anew because the tip, or the file, changed meanwhile. Who moves the tip delivers
	// a view too, so that the last one is never missing for long.
	rounds = 8
)

// Deliver writes the view of the goal's tip after a mutation. It never fails: what could not be done is pending, and the
// operation stands.
func (l *Ledger) Deliver(ctx context.Context, goal todo.GoalID, trigger gitstore.ObjectID) Delivery {
	d, _ := l.Project(ctx, Request{Goal: goal, Trigger: trigger}) // only an expected revision can fail
	return d
}

// Project writes the view of the goal's tip, or tells what would be written. The error is a *[gitstore.MismatchError]: the
// tip is not the one expected, and the file was left alone. All else that goes wrong is a pending delivery.
func (l *Ledger) Project(ctx context.Context, r Request) (Delivery, error) {
	o := Outbox{Schema: OutboxSchema, Trigger: r.Trigger}
	key, name, err := l.configured(ctx, r.Goal)
	if err != nil {
		return o.pending(r.Goal, r.Trigger, refused(CodeAuthorityUnavailable, todo.Failed, "%s", err), "mend git's configuration"), nil
	}
	if name == "" {
		return Delivery{State: NotRequired}, nil
	}
	limited, cancel := context.WithTimeout(ctx, deliveryTime)
	defer cancel()
	d, err := l.project(limited, r, name, &o)
	if refusal := todo.AsRefusal(err); refusal != nil {
		tip := o.Revision
		if tip == "" {
			tip, _ = l.Store.Resolve(ctx, r.Goal.Ref()) // without it the repair names none
		}
		return o.pending(r.Goal, tip, refusal, remedy(err, refusal.Code, key)), nil
	}
	return d, err
}

// configured returns the name of the file for a goal, "" where there shall be none, and the key that says so. The goal's
// own setting is the stronger, an empty one too.
func (l *Ledger) configured(ctx context.Context, goal todo.GoalID) (key, name string, err error) {
	key = ownKey(goal)
	name, ok, err := l.Store.Setting(ctx, key)
	if err == nil && !ok {
		key = "loopx.projection"
		name, _, err = l.Store.Setting(ctx, key)
	}
	return key, name, err
}

// ownKey is the configuration key of one goal's file.
func ownKey(goal todo.GoalID) string { return "loopx.goal." + string(goal) + ".projection" }

// project delivers. The outbox says how far it came. Errors: *todo.Refusal with a code of this package, the one error of
// [Ledger.Project].
func (l *Ledger) project(ctx context.Context, r Request, name string, o *Outbox) (Delivery, error) {
	t, err := findTarget(l.Store, name)
	if err != nil {
		return Delivery{}, err
	}
	if !r.Report {
		release, err := l.takeTurn(ctx, &t)
		if err != nil {
			return Delivery{}, err
		}
		defer release()
	}
	looked := false
	for range rounds {
		region, err := l.gather(ctx, r, o)
		if err != nil {
			return Delivery{}, err
		}
		done, err := t.put(r.Goal, region, r.Report)
		if errors.Is(err, errFileMoved) {
			continue
		}
		if err != nil {
			return Delivery{}, err
		}
		looked = true
		o.Changed = o.Changed || done.changed
		if done.created {
			o.Recovery = TodoSectionsOnly
		}
		if r.Report || r.Expected != "" {
			break
		}
		if tip, err := l.Store.Resolve(ctx, r.Goal.Ref()); err != nil || tip == o.Revision {
			break
		}
	}
	switch {
	case !looked:
		return Delivery{}, mended{unwritable(name, errors.New("it keeps changing")), "wait until nobody else writes it"}
	case !o.Changed:
		o.Status = Current
	case r.Report:
		return o.planned(r.Goal), nil
	default:
		o.Status = Delivered
	}
	return Delivery{State: o.Status, Outbox: o}, nil
}

// gather reads the tip and makes the view of it, and notes in the outbox what it is a view of.
func (l *Ledger) gather(ctx context.Context, r Request, o *Outbox) ([]byte, error) {
	unavailable := func(err error) error {
		if ctx.Err() != nil { // which says nothing of the goal
			return mended{refused(CodeWriteUnavailable, todo.Failed, "the Markdown view of goal %s: no time was left for it", r.Goal), "wait a little"}
		}
		return refused(CodeAuthorityUnavailable, todo.Failed, "goal %s cannot be read: %s", r.Goal, err)
	}
	list, err := l.List(ctx, r.Goal, todo.Filter{All: true})
	if err != nil {
		return nil, unavailable(err)
	}
	if r.Expected != "" && r.Expected != list.Revision {
		return nil, &gitstore.MismatchError{Expected: r.Expected, Current: list.Revision}
	}
	s := l.Store.At(r.Goal.Ref(), list.Revision)
	goal, err := todo.ReadGoal(ctx, s, r.Goal)
	if err != nil {
		return nil, unavailable(err)
	}
	notes, stray, err := l.notes(ctx, s)
	if err != nil {
		return nil, unavailable(err)
	}
	region := Compose(goal, list, notes, stray)
	o.Revision, o.Todos = list.Revision, region.Count()
	text, err := region.Text()
	if err != nil {
		return nil, err
	}
	o.SHA256 = digest(text)
	return text, nil
}

// noteVersion names the form of the rows below; another form needs another name.
const noteVersion = "projection.note/1"

// notes returns what is kept of all notes of a snapshot, through the store's cache. A note in a wrong place is stray.
func (l *Ledger) notes(ctx context.Context, s *gitstore.Snapshot) (map[todo.ID]StoredNote, []Unreadable, error) {
	rows, err := l.Store.Table(ctx, s, "notes", noteVersion, noteRow)
	if err != nil {
		return nil, nil, err
	}
	notes := make(map[todo.ID]StoredNote, len(rows))
	var stray []Unreadable
	for _, row := range rows {
		id := todo.ID(strings.TrimSuffix(path.Base(row.Name), ".json"))
		if row.Name != todo.NotePath(id) {
			stray = append(stray, Unreadable{Record: "note", ID: id, Code: todo.CodeInvalidProjection})
			continue
		}
		var n StoredNote
		if err := json.Unmarshal(row.Data, &n); err != nil {
			return nil, nil, err
		}
		notes[id] = n
	}
	return notes, stray, nil
}

// noteRow is the row of a file below "notes".
func noteRow(file string, blob []byte) gitstore.Row {
	id := todo.ID(strings.TrimSuffix(path.Base(file), ".json"))
	b, err := json.Marshal(storedNote(id, blob))
	if err != nil {
		b = nil // no text of a judged note is not UTF-8; a row that cannot be read stops the view
	}
	return gitstore.Row{Name: file, Data: b}
}
