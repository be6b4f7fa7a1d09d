package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// staleAge is how old a lock, temporary or .keep file must be to count as left over: whoever made it needs
// milliseconds.
const staleAge = time.Minute

// LeftoverKind says what a killed process, or another tool, left behind.
type LeftoverKind string

// The kinds of leftovers.
const (
	EmptyRef  LeftoverKind = "empty ref"      // a ref file without content, which makes git fail
	StaleLock LeftoverKind = "stale lock"     // a lock on one of our refs that nobody holds any more
	TempFile  LeftoverKind = "temporary file" // an unfinished object or cache
	KeptPack  LeftoverKind = "kept pack"      // a .keep file of ours
)

// Leftover is one such file. Path is absolute.
type Leftover struct {
	Kind LeftoverKind
	Path string
}

// Leftovers lists what was left behind in the places that this package writes to. It changes nothing.
func (r *Repository) Leftovers(context.Context) ([]Leftover, error) {
	var found []Leftover
	root := filepath.Join(r.commonDir, "refs", "loopx")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		switch info, err := d.Info(); {
		case err != nil:
			return nil // gone since
		case strings.HasSuffix(path, ".lock"):
			if stale(info) {
				found = append(found, Leftover{StaleLock, path})
			}
		case info.Size() == 0 && info.Mode().IsRegular():
			found = append(found, Leftover{EmptyRef, path})
		}
		return nil
	})
	if err != nil {
		return nil, &UnavailableError{What: root, Err: err}
	}
	temps, err := r.tempFiles()
	if err != nil {
		return nil, err
	}
	kept, err := r.keptPacks()
	if err != nil {
		return nil, &UnavailableError{What: "packs", Err: err}
	}
	for _, path := range temps {
		found = append(found, Leftover{TempFile, path})
	}
	for _, path := range kept {
		if info, err := os.Lstat(path); err == nil && stale(info) {
			found = append(found, Leftover{KeptPack, path})
		}
	}
	return found, nil
}

// stale goes by the clock of the system, as the times of files do.
func stale(info fs.FileInfo) bool { return time.Since(info.ModTime()) > staleAge }

// tempFiles lists stale temporary files of ours among the objects and caches.
func (r *Repository) tempFiles() ([]string, error) {
	dirs := []string{r.ownDir("cache")}
	names, err := os.ReadDir(r.objectDir)
	if err != nil {
		return nil, &UnavailableError{What: r.objectDir, Err: err}
	}
	for _, n := range names {
		if n.IsDir() && len(n.Name()) == 2 {
			dirs = append(dirs, filepath.Join(r.objectDir, n.Name()))
		}
	}
	var found []string
	for _, dir := range dirs {
		files, err := os.ReadDir(dir)
		if err != nil {
			continue // no such directory, or gone since
		}
		for _, f := range files {
			if !isTempName(f.Name(), tempPrefix) && !isTempName(f.Name(), tableTempPrefix) {
				continue
			}
			if info, err := f.Info(); err == nil && stale(info) {
				found = append(found, filepath.Join(dir, f.Name()))
			}
		}
	}
	return found, nil
}

// Mend takes one leftover away, after looking again that it still is one. An empty ref gets back the newest commit that
// it can have held.
func (r *Repository) Mend(ctx context.Context, l Leftover) error {
	info, err := os.Lstat(l.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &UnavailableError{What: l.Path, Err: err}
	}
	switch {
	case l.Kind == EmptyRef && info.Size() != 0:
		return nil
	case l.Kind == EmptyRef:
		return r.restoreRef(ctx, l.Path)
	case !stale(info):
		return nil
	}
	if err := os.Remove(l.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &WriteError{Err: err}
	}
	return nil
}

// Fault is something in a ref's history that this package would not have written.
type Fault struct {
	Commit ObjectID
	Path   string // "" where the commit itself is meant
	Err    error
}

// CheckChain walks the history of a snapshot: one parent each, exactly one new receipt a commit, which names the parent
// that the commit has, and none changed or removed.
func (r *Repository) CheckChain(ctx context.Context, s *Snapshot) ([]Fault, error) {
	out, err := r.git.run(ctx, nil, "-c", deltaCache, "rev-list", "--parents", string(s.revision), "--")
	if err != nil {
		return nil, &UnavailableError{What: string(s.ref), Err: err}
	}
	var faults []Fault
	for line := range strings.SplitSeq(strings.TrimSpace(string(out)), "\n") {
		ids := strings.Fields(line)
		if len(ids) > 2 {
			faults = append(faults, Fault{Commit: ObjectID(ids[0]), Err: errors.New("the commit is a merge")})
			continue
		}
		parent := r.At(s.ref, "")
		if len(ids) == 2 {
			parent = r.At(s.ref, ObjectID(ids[1]))
		}
		fault, err := r.checkStep(ctx, r.At(s.ref, ObjectID(ids[0])), parent)
		if err != nil {
			return nil, err
		}
		if fault != nil {
			faults = append(faults, *fault)
		}
	}
	return faults, nil
}

// checkStep compares the receipts of a commit with those of its parent.
func (r *Repository) checkStep(ctx context.Context, s, parent *Snapshot) (*Fault, error) {
	old, err := parent.treeID(ctx, "receipts")
	if err != nil {
		return nil, err
	}
	now, err := s.treeID(ctx, "receipts")
	if err != nil {
		return nil, err
	}
	diff := map[string]ObjectID{}
	if err := r.difference(ctx, old, now, "receipts", diff); err != nil {
		return nil, err
	}
	if len(diff) != 1 {
		return &Fault{Commit: s.revision, Err: fmt.Errorf("%d receipts differ from those of its parent instead of one", len(diff))}, nil
	}
	for path := range diff {
		fault := &Fault{Commit: s.revision, Path: path}
		blob, ok, err := s.File(ctx, path)
		if err != nil {
			return nil, err
		}
		if !ok {
			fault.Err = errors.New("a receipt was removed")
			return fault, nil
		}
		if _, had, err := parent.File(ctx, path); err != nil {
			return nil, err
		} else if had {
			fault.Err = errors.New("a receipt was changed")
			return fault, nil
		}
		receipt, err := DecodeReceipt(path, blob)
		if err == nil && receipt.Parent != parent.revision {
			err = fmt.Errorf("the receipt names %q as parent, the commit has %q", receipt.Parent, parent.revision)
		}
		if err != nil {
			fault.Err = err
			return fault, nil
		}
	}
	return nil, nil
}
