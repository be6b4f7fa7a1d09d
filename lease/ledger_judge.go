package lease

import (
	"context"
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// skewKey is the configuration key of the skew, in seconds.
const skewKey = "loopx.lease.skew"

// judge is what package todo asks about leases.
type judge struct{ store *gitstore.Repository }

// Judge implements [todo.Leases].
func (j judge) Judge(ctx context.Context, g todo.GoalID, id todo.ID, blob []byte, at todo.Instant) (todo.Holding, error) {
	l, err := DecodeLease(g, id, blob)
	if err != nil {
		return todo.Holding{}, err
	}
	if !at.Valid() {
		return todo.Holding{}, badClock(at)
	}
	skew, err := j.skewFor(ctx, l, at)
	if err != nil {
		return todo.Holding{}, err
	}
	return l.Holding(at, skew)
}

// skewFor asks for the skew only where it makes a difference: it may cost a process.
func (j judge) skewFor(ctx context.Context, l Lease, at todo.Instant) (int64, error) {
	if !l.needsSkew(at) {
		return 0, nil
	}
	return j.skew(ctx)
}

// skew reads the configured skew, in seconds; 0 where it is not set.
func (j judge) skew(ctx context.Context) (int64, error) {
	value, ok, err := j.store.Setting(ctx, skewKey)
	if err != nil || !ok {
		return 0, err
	}
	n, err := strconv.ParseUint(value, 10, 32)
	if err != nil || n > MaxSkew {
		return 0, todo.Fail(CodeInvalidSkew, "git config %s is %q, not 0 to %d seconds", skewKey, todo.Clean(value), MaxSkew)
	}
	return int64(n), nil
}

func badClock(at todo.Instant) error {
	return todo.Fail(todo.CodeInvalidClock, "the local clock says %s", at)
}

// All implements [todo.Leases]. Leases that have ended for everybody are left out, and so are the records that a release
// would write.
func (j judge) All(ctx context.Context, s *gitstore.Snapshot, g todo.GoalID, at todo.Instant) (map[todo.ID]todo.Holding, map[todo.ID]*todo.Refusal, error) {
	leases, unread, err := j.active(ctx, s, g, at)
	if err != nil {
		return nil, nil, err
	}
	held := map[todo.ID]todo.Holding{}
	for _, l := range leases {
		skew, err := j.skewFor(ctx, l, at)
		if err != nil {
			return nil, nil, err
		}
		held[l.Todo] = l.judged(at, skew)
	}
	return held, unread, nil
}

// active returns the leases of a snapshot that may be live for somebody, in no order, and what cannot be read. Rows come
// through the store's cache, which knows when each lease ends: what is long over costs nothing.
func (j judge) active(ctx context.Context, s *gitstore.Snapshot, g todo.GoalID, at todo.Instant) ([]Lease, map[todo.ID]*todo.Refusal, error) {
	rows, err := j.store.Table(ctx, s, "leases", rowVersion, rowOf(g))
	if err != nil || len(rows) == 0 {
		return nil, nil, err
	}
	now, ok := at.Time()
	if !ok {
		return nil, nil, badClock(at)
	}
	var leases []Lease
	unread := map[todo.ID]*todo.Refusal{}
	for _, r := range rows {
		id := todo.IDOf(r.Name)
		switch {
		case r.Key[0] == rowUnreadable:
			unread[id] = todo.Fail(todo.Code(r.Data), "lease on %s: cannot be read", todo.Clean(id)).With("record", r.Name)
		case r.Key[0] == rowActive && rowEnd(r)+MaxSkew > now.Unix():
			var l Lease // judged when the row was made
			if json.Unmarshal(r.Data, &l) != nil || l.check() != nil {
				return nil, nil, errRow
			}
			leases = append(leases, l)
		}
	}
	return leases, unread, nil
}

// rowVersion names the form of the rows of the leases; another form needs another name.
const rowVersion = "lease/1"

// What the first byte of a row's key says. Bytes 1 to 8 are the end of an active lease, in seconds since 1970, and the data
// is its record; that of one that cannot be read is the reason code.
const (
	rowUnreadable byte = iota
	rowActive
	rowReleased
)

var errRow = errors.New("a row of the cache of leases is not as this version wrote it")

// rowOf makes the row of a file below "leases" of a goal.
func rowOf(g todo.GoalID) func(string, []byte) gitstore.Row {
	return func(file string, blob []byte) gitstore.Row {
		r := gitstore.Row{Name: file}
		if refusal := CheckFile(g, file, blob); refusal != nil {
			r.Data = []byte(refusal.Code)
			return r
		}
		l, _ := DecodeLease(g, todo.IDOf(file), blob)
		r.Key[0] = rowReleased
		if end, _ := l.ExpiresAt.Time(); l.Status == Active {
			r.Key[0], r.Data = rowActive, blob
			binary.BigEndian.PutUint64(r.Key[1:], uint64(end.Unix()))
		}
		return r
	}
}

func rowEnd(r gitstore.Row) int64 { return int64(binary.BigEndian.Uint64(r.Key[1:])) }
