package todo

import (
	"context"

	"github.com/git-loopx/git-loopx/gitstore"
)

// dependencies judges the ids that a Todo, which need not be there, is to depend on. One whose record cannot be read is
// refused with the record's own code. The table tells what leads where: the search for a cycle reads no records.
func (l *Ledger) dependencies(ctx context.Context, s *gitstore.Snapshot, id ID, dependsOn []ID) (Dependencies, error) {
	if len(dependsOn) == 0 {
		return Dependencies{}, nil
	}
	rows, err := l.table(ctx, s)
	if err != nil {
		return Dependencies{}, err
	}
	todos := roster{rows: rows}
	d := judgeDependencies(id, todos.find([]byte(id)) != nil, dependsOn, todos.link)
	if todos.err != nil || d.refusal == nil {
		return d, todos.err
	}
	for _, id := range dependsOn { // not understood is not unknown
		if todos.find([]byte(id)) == nil {
			if _, err := ReadTodo(ctx, s, id); err != nil {
				return Dependencies{}, err
			}
		}
	}
	return d, nil
}
