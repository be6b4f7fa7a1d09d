package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sort"
	"strings"
	"sync"
)

// Snapshot is the tree of one commit. It reads what is asked for and no more, may be used by many at once, and never
// changes.
type Snapshot struct {
	r        *Repository
	ref      RefName
	revision ObjectID
	over     *overlay // nil for the tree as it was committed

	mu     sync.Mutex
	loaded bool
	commit commit
	err    error // *DamagedError: what else kept it from being read may be over next time
}

// Bucket returns the directory of a name below dir: "todos", "todo_a" gives "todos/<bb>", <bb> being the first two hex
// digits of the SHA-256 of the name.
func Bucket(dir, name string) string {
	sum := sha256.Sum256([]byte(name))
	return dir + "/" + hex.EncodeToString(sum[:1])
}

// Load returns the snapshot at the tip of a ref. ErrRefMissing only after git confirmed it; else *UnavailableError.
func (r *Repository) Load(ctx context.Context, ref RefName) (*Snapshot, error) {
	id, err := r.Resolve(ctx, ref)
	if err != nil {
		return nil, err
	}
	return r.At(ref, id), nil
}

// At returns the snapshot of a commit that a ref is known to have held.
func (r *Repository) At(ref RefName, revision ObjectID) *Snapshot {
	return &Snapshot{r: r, ref: ref, revision: revision}
}

// Revision is the full commit id; "" for a ref that does not exist yet.
func (s *Snapshot) Revision() ObjectID { return s.revision }

// load reads the commit, once where it can be read at all.
func (s *Snapshot) load(ctx context.Context) (commit, error) {
	if s.over != nil {
		return s.over.base.load(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loaded || s.revision == "" {
		return s.commit, s.err
	}
	b, err := s.r.readObject(ctx, s.revision, commitKind)
	if err != nil {
		return commit{}, err
	}
	s.loaded = true
	if s.commit, err = parseCommit(s.r.format, b); err != nil {
		s.err = &DamagedError{Path: "commit " + string(s.revision), Err: err}
	}
	return s.commit, s.err
}

// dir returns the entries of a directory; nil where there is none. "" is the root.
func (s *Snapshot) dir(ctx context.Context, path string) ([]entry, error) {
	c, err := s.load(ctx)
	if err != nil || c.tree == "" {
		return nil, err
	}
	entries, err := s.r.tree(ctx, c.tree)
	if err != nil || path == "" {
		return entries, err
	}
	for name := range strings.SplitSeq(path, "/") {
		e, ok := find(entries, name, true)
		if !ok {
			return nil, misfit(entries, name, false, path)
		}
		if entries, err = s.r.tree(ctx, e.id); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

// find looks an entry up by name and sort.
func find(entries []entry, name string, dir bool) (entry, bool) {
	want := entry{mode: modeFile, name: name}
	if dir {
		want.mode = modeDir
	}
	i := sort.Search(len(entries), func(i int) bool { return entries[i].sortKey() >= want.sortKey() })
	if i < len(entries) && entries[i].name == name && entries[i].isDir() == dir {
		return entries[i], true
	}
	return entry{}, false
}

// tree reads a tree object, through a small memory of the process.
func (r *Repository) tree(ctx context.Context, id ObjectID) ([]entry, error) {
	entries, ok := r.memory.tree(id)
	if ok {
		return entries, nil
	}
	b, err := r.readObject(ctx, id, treeKind)
	if err != nil {
		return nil, err
	}
	if entries, err = parseTree(r.format, b); err != nil {
		return nil, &DamagedError{Path: "tree " + string(id), Err: err}
	}
	r.memory.keepTree(id, entries)
	return entries, nil
}

// blobID returns the id of the file at a path; "" where there is none.
func (s *Snapshot) blobID(ctx context.Context, path string) (ObjectID, error) {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	entries, err := s.dir(ctx, dir)
	if err != nil {
		return "", err
	}
	e, ok := find(entries, name, false)
	if !ok {
		return "", misfit(entries, name, true, path)
	}
	return e.id, nil
}

// misfit is the error of an entry that is there and of the wrong sort, which must not pass for absent.
func misfit(entries []entry, name string, dir bool, path string) error {
	if _, ok := find(entries, name, dir); ok {
		return &DamagedError{Path: path, Err: errors.New("a directory stands where a file belongs, or the reverse")}
	}
	return nil
}

// File returns the blob at a path like "todos/ab/todo_a.json"; false where there is none. Errors: *UnavailableError,
// *DamagedError.
func (s *Snapshot) File(ctx context.Context, path string) ([]byte, bool, error) {
	if content, ok := s.written(path); ok {
		return content, content != nil, nil
	}
	id, err := s.blobID(ctx, path)
	if err != nil || id == "" {
		return nil, false, err
	}
	b, err := s.r.readObject(ctx, id, blobKind)
	return b, err == nil, err
}

// Walk hands every file of the snapshot to each, in any order. It reads them in one stream: each must not read itself.
func (s *Snapshot) Walk(ctx context.Context, each func(path string, blob []byte) error) error {
	files, err := s.files(ctx, "")
	if err != nil {
		return err
	}
	if s.over != nil {
		if files, err = s.over.walk(files, each); err != nil {
			return err
		}
	}
	return s.r.readFiles(ctx, files, func(i int, blob []byte) error { return each(files[i].path, blob) })
}

// readFiles hands every file to each, by index and in any order, in one stream: each must not read itself.
func (r *Repository) readFiles(ctx context.Context, files []file, each func(i int, blob []byte) error) error {
	ids := make([]ObjectID, len(files))
	for i, f := range files {
		ids[i] = f.id
	}
	return r.source().read(ctx, ids, func(i int, a answer) error {
		if a.err != nil {
			return &UnavailableError{What: files[i].path, Err: a.err}
		}
		if a.kind != blobKind {
			return &DamagedError{Path: files[i].path, Err: errors.New("not a file")}
		}
		return each(i, a.content)
	})
}

// Bounds of a tree that is listed: ours are three levels deep. A few objects of a hostile one could name millions.
const (
	maxDepth = 4
	maxFiles = 2_000_000
)

var errTooDeep = errors.New("more files or deeper directories than a tree of ours has")

// file is a file of a snapshot by its path.
type file struct {
	path string
	id   ObjectID
}

// files lists the files below a directory, by path.
func (s *Snapshot) files(ctx context.Context, dir string) ([]file, error) {
	entries, err := s.dir(ctx, dir)
	if err != nil {
		return nil, err
	}
	if strings.Count(dir, "/") > maxDepth {
		return nil, &DamagedError{Path: dir, Err: errTooDeep}
	}
	var all []file
	for _, e := range entries {
		path := strings.TrimPrefix(dir+"/"+e.name, "/")
		if !e.isDir() {
			all = append(all, file{path: path, id: e.id})
			continue
		}
		below, err := s.files(ctx, path)
		if err != nil {
			return nil, err
		}
		all = append(all, below...)
		if len(all) > maxFiles {
			return nil, &DamagedError{Path: path, Err: errTooDeep}
		}
	}
	return all, nil
}

// edit returns the root tree with files replaced (nil: removed), and the new blobs and trees. What is not named stays
// as it is, also what this program would not have written.
func (s *Snapshot) edit(ctx context.Context, files map[string][]byte) (root ObjectID, objects []object, err error) {
	root, objects, err = s.editDir(ctx, "", files)
	if err == nil && root == "" {
		var b []byte
		if b, err = encodeTree(nil); err == nil {
			o := newObject(s.r.format, treeKind, b)
			root, objects = o.id, append(objects, o)
		}
	}
	return root, objects, err
}

func (s *Snapshot) editDir(ctx context.Context, dir string, files map[string][]byte) (ObjectID, []object, error) {
	entries, err := s.dir(ctx, dir)
	if err != nil {
		return "", nil, err
	}
	byKey := make(map[string]entry, len(entries)+len(files))
	for _, e := range entries {
		byKey[e.sortKey()] = e
	}
	var objects []object
	below := map[string]map[string][]byte{}
	for path, content := range files {
		name, rest, deeper := strings.Cut(path, "/")
		if name == "" || deeper && rest == "" {
			return "", nil, fmt.Errorf("invalid path %q", path)
		}
		if deeper {
			if below[name] == nil {
				below[name] = map[string][]byte{}
			}
			below[name][rest] = content
			continue
		}
		if content == nil {
			delete(byKey, name)
			continue
		}
		if _, dir := byKey[name+"/"]; dir {
			return "", nil, misfit(entries, name, true, path)
		}
		o := newObject(s.r.format, blobKind, content)
		objects = append(objects, o)
		byKey[name] = entry{mode: modeFile, name: name, id: o.id}
	}
	for name, changes := range below {
		if _, file := byKey[name]; file {
			return "", nil, misfit(entries, name, false, name)
		}
		id, more, err := s.editDir(ctx, strings.TrimPrefix(dir+"/"+name, "/"), changes)
		if err != nil {
			return "", nil, err
		}
		objects = append(objects, more...)
		if id == "" {
			delete(byKey, name+"/")
			continue
		}
		byKey[name+"/"] = entry{mode: modeDir, name: name, id: id}
	}
	if len(byKey) == 0 {
		return "", objects, nil
	}
	edited := make([]entry, 0, len(byKey))
	for _, e := range byKey {
		edited = append(edited, e)
	}
	sort.Slice(edited, func(i, j int) bool { return edited[i].sortKey() < edited[j].sortKey() })
	b, err := encodeTree(edited)
	if err != nil {
		return "", nil, err
	}
	o := newObject(s.r.format, treeKind, b)
	return o.id, append(objects, o), nil
}
