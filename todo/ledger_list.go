package todo

import (
	"context"
	"slices"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
)

// table returns the rows of all Todos of a snapshot, through the store's cache.
func (l *Ledger) table(ctx context.Context, s *gitstore.Snapshot) ([]gitstore.Row, error) {
	return l.Store.Table(ctx, s, "todos", rowVersion, makeRow)
}

// open loads a goal for reading; a malformed id is usage_error.
func (l *Ledger) open(ctx context.Context, g GoalID) (*gitstore.Snapshot, error) {
	if err := CheckCall(Call{Goal: g}, CodeUsage); err != nil {
		return nil, err
	}
	return l.Load(ctx, g)
}

// List lists Todos by priority (none after P4), creation and id. Records that cannot be read come last, whatever the
// filter, since nobody can say what they are.
func (l *Ledger) List(ctx context.Context, g GoalID, f Filter) (List, error) {
	entries, err := l.Entries(ctx, g, f)
	if err != nil {
		return List{}, err
	}
	list := List{Revision: entries.Revision, Total: entries.Total, Rows: make([]View, len(entries.Rows))}
	for i, e := range entries.Rows {
		if list.Rows[i], err = rowView(*e.row); err != nil {
			return List{}, err
		}
	}
	return list, nil
}

// Entries is what [Ledger.List] lists, for callers that print it and need no [View] of each row.
func (l *Ledger) Entries(ctx context.Context, g GoalID, f Filter) (Entries, error) {
	s, err := l.open(ctx, g)
	if err != nil {
		return Entries{}, err
	}
	if _, err := ReadGoal(ctx, s, g); err != nil {
		return Entries{}, err
	}
	rows, err := l.table(ctx, s)
	if err != nil {
		return Entries{}, err
	}
	chosen, err := f.choose(rows)
	if err != nil {
		return Entries{}, err
	}
	list := Entries{Revision: s.Revision(), Total: len(chosen), Rows: firstOf(chosen, f.Limit)}
	for _, e := range list.Rows {
		if !e.intact() {
			return Entries{}, errRow
		}
	}
	return list, nil
}

// choose returns the rows that a list shows, in no order. Only rows that may have all labels are looked into.
func (f Filter) choose(rows []gitstore.Row) ([]Entry, error) {
	chosen := make([]Entry, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		if k := rowKey(r.Key); k.readable() {
			if !f.chooses(k) {
				continue
			}
			if len(f.Labels) > 0 {
				labels, err := rowLabels(r)
				if err != nil {
					return nil, err
				}
				if slices.ContainsFunc(f.Labels, func(l string) bool { return !slices.Contains(labels, l) }) {
					continue
				}
			}
		}
		chosen = append(chosen, entryOf(r))
	}
	return chosen, nil
}

func (f Filter) chooses(k rowKey) bool {
	switch {
	case f.Role != "" && k.role() != f.Role, f.Status != "" && k.status() != f.Status:
		return false
	case !f.All && (k.archived() || f.Status == "" && k.status() == Done):
		return false
	}
	return k.mayHave(f.Labels)
}

// Show shows one Todo with all that is beside it, in any status. A note that is not understood is shown as such.
func (l *Ledger) Show(ctx context.Context, g GoalID, id ID) (ShowView, error) {
	s, err := l.openTodo(ctx, g, id)
	if err != nil {
		return ShowView{}, err
	}
	at := At(l.Now())
	state, err := l.ReadState(ctx, s, g, id, at)
	if err != nil {
		return ShowView{}, err
	}
	if _, err := state.Found(id); err != nil {
		return ShowView{}, err
	}
	return ShowViewOf(state, at), nil
}

func (l *Ledger) openTodo(ctx context.Context, g GoalID, id ID) (*gitstore.Snapshot, error) {
	if err := checkTodoCall(Call{Goal: g, Todo: id}, CodeUsage); err != nil {
		return nil, err
	}
	return l.Load(ctx, g)
}

// Resolve finds the one Todo that a prefix of at least [MinPrefix] characters names; an exact id wins, and several are
// todo_id_ambiguous with candidates. Where no Todo answers, and where the goal is not there, the prefix comes back as it
// is, so that the verb that asked refuses in its own words and order.
func (l *Ledger) Resolve(ctx context.Context, g GoalID, prefix string) (ID, error) {
	id := ID(prefix)
	if !g.Valid() || len(prefix) < MinPrefix || !id.Valid() {
		return id, nil
	}
	s, err := l.Load(ctx, g)
	if CodeOf(err) == CodeGoalNotFound {
		return id, nil
	} else if err != nil {
		return "", err
	}
	if _, there, err := s.File(ctx, TodoPath(id)); err != nil || there {
		return id, err
	}
	rows, err := l.table(ctx, s)
	if err != nil {
		return "", err
	}
	var candidates []ID
	for _, r := range rows {
		if c := IDOf(r.Name); strings.HasPrefix(string(c), prefix) {
			candidates = append(candidates, c)
		}
	}
	switch len(candidates) {
	case 0:
		return id, nil
	case 1:
		return candidates[0], nil
	}
	slices.Sort(candidates)
	return "", Fail(CodeTodoIDAmbiguous, "todo id %q: %d todos begin so", prefix, len(candidates)).With("candidates", candidates)
}

// FindReceipt looks up the receipt of an operation; nil, nil: there is none.
func (l *Ledger) FindReceipt(ctx context.Context, g GoalID, operation string) (*gitstore.Receipt, error) {
	s, err := l.open(ctx, g)
	if err != nil {
		return nil, err
	}
	if _, err := ReadGoal(ctx, s, g); err != nil {
		return nil, err
	}
	return l.Store.FindReceipt(ctx, s, operation)
}

// History lists commits, newest first, at most limit (0: all), of the operations on one Todo, its note and its lease, or
// ("") on the goal.
func (l *Ledger) History(ctx context.Context, g GoalID, id ID, limit int) ([]gitstore.Commit, error) {
	if id == "" {
		s, err := l.open(ctx, g)
		if err != nil {
			return nil, err
		}
		return l.Store.History(ctx, s, limit)
	}
	s, err := l.openTodo(ctx, g, id)
	if err != nil {
		return nil, err
	}
	files := []string{TodoPath(id), NotePath(id), LeasePath(id)}
	there := false
	for _, file := range files {
		_, ok, err := s.File(ctx, file)
		if err != nil {
			return nil, err
		}
		there = there || ok
	}
	if !there {
		return nil, Fail(CodeTodoNotFound, "todo %s: not in goal %s", id, g)
	}
	return l.Store.HistoryOf(ctx, s, limit, string(id), files...)
}
