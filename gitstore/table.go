package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// KeySize is the length of a row's key in bytes.
const KeySize = 24

// Row is what a table keeps of one file: a short key to look into without decoding, and data of the caller's choice.
type Row struct {
	Name string // the file's path in the snapshot
	Key  [KeySize]byte
	Data []byte
}

// rewriteAfter is how many changed rows a stored table may lag behind before it is written anew: below that, telling
// the difference costs less than writing all rows.
const rewriteAfter = 8

// Table lists the files below dir ("todos") by path, through a disposable cache keyed by the commit it was made from and
// advanced by tree difference. row makes a file's row; it must be a pure function of its arguments, and version must
// change whenever it does. A cache that is absent, damaged or of another line of history is rebuilt; one that cannot be
// written changes nothing but speed. The rows share memory and must not be changed.
func (r *Repository) Table(ctx context.Context, s *Snapshot, dir, version string, row func(path string, blob []byte) Row) ([]Row, error) {
	return r.rows(ctx, s, dir, version, row, false)
}

// Keys is Table for who needs names and keys alone: Data may be nil.
func (r *Repository) Keys(ctx context.Context, s *Snapshot, dir, version string, row func(path string, blob []byte) Row) ([]Row, error) {
	return r.rows(ctx, s, dir, version, row, true)
}

// rows is the table of a snapshot, whether it was committed or not.
func (r *Repository) rows(ctx context.Context, s *Snapshot, dir, version string, row func(string, []byte) Row, keysOnly bool) ([]Row, error) {
	if s.over != nil {
		return s.over.rows(ctx, dir, version, row, keysOnly)
	}
	return r.table(ctx, s, dir, version, row, keysOnly)
}

func (r *Repository) table(ctx context.Context, s *Snapshot, dir, version string, row func(string, []byte) Row, keysOnly bool) ([]Row, error) {
	tree, err := s.treeID(ctx, dir)
	if err != nil || tree == "" { // nothing to list, and nothing to keep
		return nil, err
	}
	head := tableHead{version: version, dir: dir, tree: tree}
	path := r.tablePath(s.ref, dir)
	rows, old, err := readTable(path, r.format, head, keysOnly)
	if err == nil && old == tree {
		return rows, nil
	}
	changed := len(rows)
	if err == nil {
		rows, changed, err = r.advance(ctx, rows, old, tree, dir, row)
	}
	if err == nil && keysOnly {
		if changed < rewriteAfter {
			return rows, nil
		}
		return r.table(ctx, s, dir, version, row, false) // time to write it anew, which takes the data
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if rows, err = r.fill(ctx, s, dir, row); err != nil {
			return nil, err
		}
		changed = rewriteAfter
	}
	if changed >= rewriteAfter {
		r.writeTable(path, head, rows)
	}
	return rows, nil
}

// tablePath is the cache file of one directory of one ref.
func (r *Repository) tablePath(ref RefName, dir string) string {
	sum := sha256.Sum256([]byte(string(ref) + "\x00" + dir))
	return r.ownDir("cache", hex.EncodeToString(sum[:8])+".table")
}

// treeID returns the tree of a directory; "" where there is none.
func (s *Snapshot) treeID(ctx context.Context, dir string) (ObjectID, error) {
	entries, err := s.dir(ctx, "")
	if err != nil {
		return "", err
	}
	e, ok := find(entries, dir, true)
	if !ok {
		return "", nil
	}
	return e.id, nil
}

// fill makes all rows.
func (r *Repository) fill(ctx context.Context, s *Snapshot, dir string, row func(string, []byte) Row) ([]Row, error) {
	files, err := s.files(ctx, dir)
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(files))
	return rows, r.readFiles(ctx, files, func(i int, blob []byte) error {
		rows[i] = row(files[i].path, blob)
		return nil
	})
}

// advance applies the difference of two trees to rows.
func (r *Repository) advance(ctx context.Context, rows []Row, old, now ObjectID, dir string, row func(string, []byte) Row) ([]Row, int, error) {
	diff := map[string]ObjectID{}
	if err := r.difference(ctx, old, now, dir, diff); err != nil {
		return nil, 0, err
	}
	var files []file
	for path, id := range diff {
		if id != "" {
			files = append(files, file{path: path, id: id})
		}
	}
	fresh := make([]Row, len(files))
	err := r.readFiles(ctx, files, func(i int, blob []byte) error {
		fresh[i] = row(files[i].path, blob)
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return merge(rows, fresh, diff), len(diff), nil
}

// merge puts fresh rows, in any order, in the place of those whose files changed.
func merge[T any](rows, fresh []Row, changed map[string]T) []Row {
	sort.Slice(fresh, func(i, j int) bool { return fresh[i].Name < fresh[j].Name })
	merged := make([]Row, 0, len(rows)+len(fresh))
	for _, old := range rows {
		for len(fresh) > 0 && fresh[0].Name < old.Name {
			merged, fresh = append(merged, fresh[0]), fresh[1:]
		}
		if _, ok := changed[old.Name]; !ok {
			merged = append(merged, old)
		}
	}
	return append(merged, fresh...)
}

// difference collects the files that differ between two trees: the new id, "" for one that is gone.
func (r *Repository) difference(ctx context.Context, old, now ObjectID, dir string, diff map[string]ObjectID) error {
	var sides [2][]entry
	for i, id := range []ObjectID{old, now} {
		if id == "" {
			continue
		}
		var err error
		if sides[i], err = r.tree(ctx, id); err != nil {
			return err
		}
	}
	was, is := sides[0], sides[1]
	for len(was) > 0 || len(is) > 0 {
		switch {
		case len(is) == 0 || len(was) > 0 && was[0].sortKey() < is[0].sortKey():
			if err := r.differ(ctx, was[0], "", dir, diff); err != nil {
				return err
			}
			was = was[1:]
		case len(was) == 0 || is[0].sortKey() < was[0].sortKey():
			before := entry{mode: is[0].mode, name: is[0].name}
			if err := r.differ(ctx, before, is[0].id, dir, diff); err != nil {
				return err
			}
			is = is[1:]
		default:
			if was[0] != is[0] {
				if err := r.differ(ctx, was[0], is[0].id, dir, diff); err != nil {
					return err
				}
			}
			was, is = was[1:], is[1:]
		}
	}
	return nil
}

// differ collects what one entry that differs means: the file, or the files of the directory.
func (r *Repository) differ(ctx context.Context, was entry, now ObjectID, dir string, diff map[string]ObjectID) error {
	path := dir + "/" + was.name
	if strings.Count(path, "/") > maxDepth {
		return &DamagedError{Path: path, Err: errTooDeep}
	}
	if was.isDir() {
		return r.difference(ctx, was.id, now, path, diff)
	}
	diff[path] = now
	return nil
}

// tableTempPrefix begins the names of cache files that are being written.
const tableTempPrefix = "tmp_table"

// writeTable stores rows; where it cannot, nothing is lost.
func (r *Repository) writeTable(path string, head tableHead, rows []Row) {
	if os.MkdirAll(filepath.Dir(path), 0o777) != nil {
		return
	}
	name, err := r.tempName(tableTempPrefix)
	if err != nil {
		return
	}
	temp := filepath.Join(filepath.Dir(path), name)
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return
	}
	_, err = f.Write(encodeTable(head, rows))
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		os.Remove(temp)
	}
}
