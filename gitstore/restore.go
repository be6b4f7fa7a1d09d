package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// restoreDeadline is how long git may look for commits that nothing refers to.
const restoreDeadline = 10 * time.Minute

// restoreRef mends an empty ref file. What the ref held last is still among the objects, where nothing else was lost:
// the deepest line of commits with receipts of this ref's goal that leads to its packed value, or to a beginning. The
// file is replaced by that in one step, under git's own lock. Where there is no such commit, the file is removed, so that
// the packed value counts, or none. Where two are as deep, nothing is done and both are named.
func (r *Repository) restoreRef(ctx context.Context, file string) error {
	rel, err := filepath.Rel(r.commonDir, file)
	if err != nil {
		return &WriteError{Err: err}
	}
	name := RefName(filepath.ToSlash(rel))
	packed, err := r.packedRefs()
	if err != nil {
		return err
	}
	base, err := r.packedRef(packed, name)
	if err != nil && !errors.Is(err, errAbsent) {
		return err
	}
	lines, err := r.lostLines(ctx, path.Base(string(name)), base)
	if err != nil {
		return err
	}
	tips := deepest(lines, base)
	if len(tips) > 1 {
		return &WriteError{Err: fmt.Errorf("%s is empty, and it may have held any of %s", name, strings.Join(tips, ", "))}
	}
	lock, err := os.OpenFile(file+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return &WriteError{Err: err}
	}
	defer os.Remove(lock.Name())
	defer lock.Close()
	if info, err := os.Lstat(file); err != nil || info.Size() != 0 {
		return nil // somebody else was here
	}
	if len(tips) == 0 {
		err = os.Remove(file)
	} else if _, err = fmt.Fprintf(lock, "%s\n", tips[0]); err == nil {
		if err = lock.Sync(); err == nil {
			err = os.Rename(lock.Name(), file)
		}
	}
	if err != nil {
		return &WriteError{Err: err}
	}
	return r.syncRefs([]RefChange{{Ref: name}})
}

// lostLines returns the parents of the operations of a goal that no ref leads to, down to base.
func (r *Repository) lostLines(ctx context.Context, goal string, base ObjectID) (map[ObjectID]ObjectID, error) {
	ctx, cancel := context.WithTimeout(ctx, restoreDeadline)
	defer cancel()
	cmd := r.git.command(ctx, "fsck", "--no-reflogs", "--connectivity-only", "--no-progress")
	out, _ := cmd.Output() // the empty ref is an error to it; what it lists counts
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	lines := map[ObjectID]ObjectID{}
	for line := range strings.SplitSeq(string(out), "\n") {
		tip, _ := strings.CutPrefix(line, "dangling commit ")
		for id := ObjectID(tip); r.format.Valid(id) && id != base; id = lines[id] {
			if _, known := lines[id]; known {
				break
			}
			parent, ok := r.operationOf(ctx, id, goal)
			if !ok {
				break
			}
			lines[id] = parent
		}
	}
	return lines, ctx.Err()
}

// operationOf reports whether a commit is an operation of a goal, with its receipt, and returns its parent. One that
// cannot be read is not.
func (r *Repository) operationOf(ctx context.Context, id ObjectID, goal string) (parent ObjectID, ok bool) {
	s := r.At("", id)
	c, err := s.load(ctx)
	if err != nil {
		return "", false
	}
	d := describe(id, c)
	path := ReceiptPath(d.Operation)
	blob, ok, err := s.File(ctx, path)
	if err != nil || !ok {
		return "", false
	}
	receipt, err := DecodeReceipt(path, blob)
	return d.Parent, err == nil && receipt.Goal == goal && receipt.Parent == d.Parent
}

// deepest returns the ends of the longest lines that lead down to base ("": to a beginning).
func deepest(lines map[ObjectID]ObjectID, base ObjectID) []string {
	var tips []string
	most := 0
	for tip := range lines {
		depth, at := 0, tip
		for at != base {
			parent, ok := lines[at]
			if !ok || depth > len(lines) {
				depth = -1
				break
			}
			at, depth = parent, depth+1
		}
		switch {
		case depth > most:
			tips, most = []string{string(tip)}, depth
		case depth == most && depth > 0:
			tips = append(tips, string(tip))
		}
	}
	return tips
}
