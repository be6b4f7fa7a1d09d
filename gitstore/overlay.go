package gitstore

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"sync"
)

// overlay is what a snapshot has on top of a commit. It never changes.
type overlay struct {
	base  *Snapshot         // as it was committed
	files map[string][]byte // path to content, nil for one that is removed
	seen  *overlayRows      // shared by all that are stacked on one base
}

// With returns the snapshot as it would be once these files are committed: path to content, nil to remove, as in
// [Change]. File, Walk, [Repository.Table] and [Repository.Keys] see them, and nothing that was read of them is written to
// a cache. Revision stays that of the commit below, and only that commit can be built upon. The files must be such as could
// be committed, and neither they nor the map may be changed afterwards. It reads nothing, and may be stacked.
func (s *Snapshot) With(files map[string][]byte) *Snapshot {
	top := &overlay{base: s, files: files, seen: &overlayRows{}}
	if s.over != nil {
		top.base, top.seen = s.over.base, s.over.seen
		top.files = maps.Clone(s.over.files)
		maps.Copy(top.files, files)
	}
	return &Snapshot{r: s.r, ref: s.ref, revision: s.revision, over: top}
}

// written returns the content of a file that is not the commit's: nil for one that is removed.
func (s *Snapshot) written(path string) ([]byte, bool) {
	if s.over == nil {
		return nil, false
	}
	content, ok := s.over.files[path]
	return content, ok
}

// walk hands over what was written and returns those of the commit's files that are still to be read.
func (o *overlay) walk(files []file, each func(path string, blob []byte) error) ([]file, error) {
	for path, content := range o.files {
		if content == nil {
			continue
		}
		if err := each(path, content); err != nil {
			return nil, err
		}
	}
	var below []file
	for _, f := range files {
		if _, ok := o.files[f.path]; !ok {
			below = append(below, f)
		}
	}
	return below, nil
}

// rows is the table of a directory: the commit's, with the rows of what was written in their place.
func (o *overlay) rows(ctx context.Context, dir, version string, row func(string, []byte) Row, keysOnly bool) ([]Row, error) {
	base, err := o.seen.below(ctx, o.base, dir, version, row, keysOnly)
	if err != nil {
		return nil, err
	}
	changed := map[string][]byte{}
	var fresh []Row
	for path, content := range o.files {
		if !strings.HasPrefix(path, dir+"/") {
			continue
		}
		changed[path] = content
		if content != nil {
			fresh = append(fresh, o.seen.row(path, content, version, row))
		}
	}
	return merge(base, fresh, changed), nil
}

// overlayRows remembers rows while files are stacked on one commit, so that a long stack costs each file once. It may be
// used by many at once.
type overlayRows struct {
	mu     sync.Mutex
	tables map[overlayTable][]Row
	fresh  map[overlayRow]freshRow
}

type (
	overlayTable struct {
		dir, version string
		keysOnly     bool
	}
	overlayRow struct{ path, version string }
	freshRow   struct {
		content []byte
		row     Row
	}
)

// below returns the rows of the commit.
func (m *overlayRows) below(ctx context.Context, s *Snapshot, dir, version string, row func(string, []byte) Row, keysOnly bool) ([]Row, error) {
	key := overlayTable{dir, version, keysOnly}
	m.mu.Lock()
	rows, ok := m.tables[key]
	m.mu.Unlock()
	if ok {
		return rows, nil
	}
	rows, err := s.r.table(ctx, s, dir, version, row, keysOnly)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.tables == nil {
		m.tables = map[overlayTable][]Row{}
	}
	m.tables[key] = rows
	return rows, nil
}

// row returns the row of a file that was written.
func (m *overlayRows) row(path string, content []byte, version string, row func(string, []byte) Row) Row {
	key := overlayRow{path, version}
	m.mu.Lock()
	known, ok := m.fresh[key]
	m.mu.Unlock()
	if ok && bytes.Equal(known.content, content) {
		return known.row
	}
	made := row(path, content)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fresh == nil {
		m.fresh = map[overlayRow]freshRow{}
	}
	m.fresh[key] = freshRow{content, made}
	return made
}
