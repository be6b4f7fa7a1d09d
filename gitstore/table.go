package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"sort"
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
	tree, err := s.treeID(ctx, dir)
	if err != nil {
		return nil, err
	}
	head := tableHead{version: version, dir: dir, tree: tree}
	path := r.tablePath(s.ref, dir)
	rows, old, err := readTable(path, r.format, head)
	if err == nil && old == tree {
		return rows, nil
	}
	changed := len(rows)
	if err == nil {
		rows, changed, err = r.advance(ctx, rows, old, tree, dir, row)
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
	return rows, r.makeRows(ctx, files, func(i int, path string, blob []byte) { rows[i] = row(path, blob) })
}

// makeRows reads files in one stream.
func (r *Repository) makeRows(ctx context.Context, files []file, each func(i int, path string, blob []byte)) error {
	ids := make([]ObjectID, len(files))
	for i, f := range files {
		ids[i] = f.id
	}
	return r.source().read(ctx, ids, func(i int, a answer) error {
		if a.err == nil && a.kind != blobKind {
			a.err = errors.New("not a file")
		}
		if a.err != nil {
			return &UnavailableError{What: files[i].path, Err: a.err}
		}
		each(i, files[i].path, a.content)
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
	err := r.makeRows(ctx, files, func(i int, path string, blob []byte) { fresh[i] = row(path, blob) })
	if err != nil {
		return nil, 0, err
	}
	merged := make([]Row, 0, len(rows)+len(fresh))
	for _, old := range rows {
		if _, ok := diff[old.Name]; !ok {
			merged = append(merged, old)
		}
	}
	merged = append(merged, fresh...)
	sort.Slice(merged, func(i, j int) bool { return merged[i].Name < merged[j].Name })
	return merged, len(diff), nil
}

// difference collects the files that differ between two trees: the new id, "" for one that is gone.
func (r *Repository) difference(ctx context.Context, old, now ObjectID, dir string, diff map[string]ObjectID) error {
	sides := [2]map[string]entry{}
	for i, id := range []ObjectID{old, now} {
		sides[i] = map[string]entry{}
		if id == "" {
			continue
		}
		entries, err := r.tree(ctx, id)
		if err != nil {
			return err
		}
		for _, e := range entries {
			sides[i][e.sortKey()] = e
		}
	}
	for key, e := range sides[1] {
		was := sides[0][key]
		delete(sides[0], key)
		if was.id == e.id && was.mode == e.mode {
			continue
		}
		if e.isDir() {
			if err := r.difference(ctx, was.id, e.id, dir+"/"+e.name, diff); err != nil {
				return err
			}
			continue
		}
		diff[dir+"/"+e.name] = e.id
	}
	for _, e := range sides[0] {
		if e.isDir() {
			if err := r.difference(ctx, e.id, "", dir+"/"+e.name, diff); err != nil {
				return err
			}
			continue
		}
		diff[dir+"/"+e.name] = ""
	}
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
