package gitstore

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing/format/objfile"
)

// tempPrefix begins the names of our temporary files in the object directory. Git's own prune removes what begins with
// tmp_obj_ once it is old.
const tempPrefix = "tmp_obj_loopx"

var errNotDir error = syscall.ENOTDIR

// loosePath is the file of a loose object.
func (r *Repository) loosePath(id ObjectID) string {
	return filepath.Join(r.objectDir, string(id[:2]), string(id[2:]))
}

// readLoose reads a loose object natively. errAbsent: there is none, or none that reads well; git is asked next.
func (r *Repository) readLoose(id ObjectID) (kind, []byte, error) {
	f, err := os.Open(r.loosePath(id))
	if err != nil {
		return "", nil, errAbsent
	}
	defer f.Close()
	z, err := objfile.NewReader(f)
	if err != nil {
		return "", nil, errAbsent
	}
	defer z.Close()
	t, size, err := z.Header()
	if err != nil || size < 0 || size > maxObject {
		return "", nil, errAbsent
	}
	var b bytes.Buffer
	if n, err := io.Copy(&b, io.LimitReader(z, size+1)); err != nil || n != size {
		return "", nil, errAbsent
	}
	o := newObject(r.format, kind(t.String()), b.Bytes())
	if o.id != id {
		return "", nil, errAbsent
	}
	return o.kind, o.content, nil
}

// writeLoose stores objects as loose files: complete and synced under a temporary name, then renamed. An object that is
// there already gets its time refreshed, so that a running gc keeps it. With sync, what syncDirs returns must be called
// before the objects are acknowledged; it may run beside other work.
func (r *Repository) writeLoose(objects []object, sync bool) (syncDirs func() error, err error) {
	type pending struct{ temp, path string }
	var (
		todo []pending
		dirs = map[string]bool{}
	)
	fail := func(err error) (func() error, error) {
		for _, p := range todo {
			os.Remove(p.temp)
		}
		return nil, &WriteError{Err: err}
	}
	errs := make([]error, len(objects))
	todo = make([]pending, 0, len(objects))
	var tasks []func() error
	for _, o := range objects {
		path := r.loosePath(o.id)
		dir := filepath.Dir(path)
		dirs[dir] = true
		if r.freshen(path) {
			continue
		}
		if made, err := makeDir(dir); err != nil {
			return fail(err)
		} else if made {
			dirs[r.objectDir] = true
		}
		name, err := r.tempName(tempPrefix)
		if err != nil {
			return fail(err)
		}
		temp := filepath.Join(dir, name)
		todo = append(todo, pending{temp: temp, path: path})
		tasks = append(tasks, func() error { return writeObjectFile(temp, o, sync) })
	}
	together(tasks, errs)
	for i := range tasks {
		if errs[i] != nil {
			return fail(errs[i])
		}
	}
	for _, p := range todo {
		if err := os.Rename(p.temp, p.path); err != nil {
			return fail(err)
		}
	}
	return func() error {
		if !sync {
			return nil
		}
		return syncAll(dirs)
	}, nil
}

// together runs tasks at once and keeps their errors by index. Syncs that overlap share one journal commit.
func together(tasks []func() error, errs []error) {
	var wait sync.WaitGroup
	for i, task := range tasks {
		wait.Go(func() { errs[i] = task() })
	}
	wait.Wait()
}

// syncAll syncs directories at once.
func syncAll(dirs map[string]bool) error {
	tasks := make([]func() error, 0, len(dirs))
	for d := range dirs {
		tasks = append(tasks, func() error { return syncDir(d) })
	}
	errs := make([]error, len(tasks))
	together(tasks, errs)
	if err := errors.Join(errs...); err != nil {
		return &WriteError{Err: err}
	}
	return nil
}

// freshen refreshes the time stamp of an object that is stored already.
func (r *Repository) freshen(path string) bool {
	if _, err := os.Lstat(path); err != nil {
		return false
	}
	return touch(path) == nil
}

// makeDir makes one directory; true if it was not there.
func makeDir(dir string) (bool, error) {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// writeObjectFile writes a complete loose object to a new file of mode 0444.
func writeObjectFile(path string, o object, sync bool) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			os.Remove(path)
		}
	}()
	var b bytes.Buffer
	w := objfile.NewWriter(&b)
	if err := w.WriteHeader(o.kind.plumbingType(), int64(len(o.content))); err != nil {
		return err
	}
	if _, err := w.Write(o.content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	if _, err := f.Write(b.Bytes()); err != nil {
		return err
	}
	if sync {
		return f.Sync()
	}
	return nil
}

// syncDir makes the names in a directory durable. A file system that cannot sync a directory says EINVAL.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// tempName returns a name that holds the process id and randomness; files of that name are created exclusively.
func (r *Repository) tempName(prefix string) (string, error) {
	var b [8]byte
	r.randomMu.Lock()
	defer r.randomMu.Unlock()
	if _, err := io.ReadFull(r.random, b[:]); err != nil {
		return "", fmt.Errorf("no random bytes: %w", err)
	}
	return fmt.Sprintf("%s_%d_%s", prefix, os.Getpid(), hex.EncodeToString(b[:])), nil
}

// isTempName recognises what tempName made.
func isTempName(name, prefix string) bool { return strings.HasPrefix(name, prefix+"_") }
