package gitstore

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/adler32"
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

// unfinished is a loose object under its temporary name.
type unfinished struct {
	file       *os.File
	temp, path string
}

// writeLoose stores objects as loose files: complete and synced under a temporary name, then renamed. An object that is
// there already gets its time refreshed, so that a running gc keeps it. With sync, what syncDirs returns must be called
// before the objects are acknowledged; it may run beside other work.
func (r *Repository) writeLoose(objects []object, sync bool) (syncDirs func() error, err error) {
	var (
		files []unfinished
		dirs  = map[string]bool{}
		z     deflater
		ends  errgroup
	)
	defer func() {
		if err == nil {
			return
		}
		ends.wait()
		err = &WriteError{Err: err}
		for _, f := range files {
			f.file.Close()
			os.Remove(f.temp)
		}
	}()
	for _, o := range objects {
		path := r.loosePath(o.id)
		dir := filepath.Dir(path)
		dirs[dir], dirs[r.objectDir] = true, true // another process may just have made the directory
		if r.freshen(o, path, sync) {
			continue
		}
		if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		name, err := r.tempName(tempPrefix)
		if err != nil {
			return nil, err
		}
		temp := filepath.Join(dir, name)
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
		if err != nil {
			return nil, err
		}
		files = append(files, unfinished{f, temp, path})
		b, err := z.deflate(o)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(b); err != nil {
			return nil, err
		}
		ends.run(func() error { return finishFile(f, sync) })
	}
	if err := ends.wait(); err != nil {
		return nil, err
	}
	for _, f := range files {
		if err := os.Rename(f.temp, f.path); err != nil {
			return nil, err
		}
	}
	return func() error {
		if !sync {
			return nil
		}
		return syncAll(dirs)
	}, nil
}

// finishFile makes a file complete on disk; the next one is written meanwhile. Syncs that overlap share journal commits.
func finishFile(f *os.File, sync bool) error {
	if sync {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	return f.Close()
}

// errgroup runs functions at once, not too many, and joins their errors.
type errgroup struct {
	group sync.WaitGroup
	slots chan struct{}
	mu    sync.Mutex
	errs  []error
}

func (g *errgroup) run(f func() error) {
	if g.slots == nil {
		g.slots = make(chan struct{}, 32) // each may hold a file and a thread
	}
	g.slots <- struct{}{}
	g.group.Go(func() {
		defer func() { <-g.slots }()
		if err := f(); err != nil {
			g.mu.Lock()
			g.errs = append(g.errs, err)
			g.mu.Unlock()
		}
	})
}

// wait waits for all that was run; it may be called again.
func (g *errgroup) wait() error {
	g.group.Wait()
	return errors.Join(g.errs...)
}

// smallObject is the size in bytes below which the content of a loose object is stored and not compressed: a file takes a
// block of the disk whatever it holds, and most of the time of writing such an object would go into its compression. Git
// compresses it when it packs it.
const smallObject = 3 << 10

// deflater makes the content of loose objects, one after another. The compressor is a megabyte, which a process that lives
// for milliseconds should touch once, if at all. Its level is what git itself uses for loose objects.
type deflater struct {
	b bytes.Buffer
	z *zlib.Writer
}

// deflate returns the bytes of a loose object, valid until the next call.
func (d *deflater) deflate(o object) ([]byte, error) {
	d.b.Reset()
	if len(o.content) < smallObject {
		return d.stored(o), nil
	}
	if d.z == nil {
		d.z, _ = zlib.NewWriterLevel(&d.b, zlib.BestSpeed) // the level is a valid one
	}
	d.z.Reset(&d.b)
	fmt.Fprintf(d.z, "%s %d\x00", o.kind, len(o.content)) // an error stays with the writer
	d.z.Write(o.content)
	if err := d.z.Close(); err != nil {
		return nil, err
	}
	return d.b.Bytes(), nil
}

// stored is the zlib stream (RFC 1950) of one block that is not compressed (RFC 1951, section 3.2.4).
func (d *deflater) stored(o object) []byte {
	const head, block = 2, 5
	d.b.Write([]byte{0x78, 0x01, 0x01, 0, 0, 0, 0})
	fmt.Fprintf(&d.b, "%s %d\x00", o.kind, len(o.content))
	d.b.Write(o.content)
	b := d.b.Bytes()
	size := uint16(len(b) - head - block)
	binary.LittleEndian.PutUint16(b[head+1:], size)
	binary.LittleEndian.PutUint16(b[head+3:], ^size)
	return binary.BigEndian.AppendUint32(b, adler32.Checksum(b[head+block:]))
}

// syncAll syncs directories at once.
func syncAll(dirs map[string]bool) error {
	var g errgroup
	for d := range dirs {
		g.run(func() error { return syncPath(d) })
	}
	if err := g.wait(); err != nil {
		return &WriteError{Err: err}
	}
	return nil
}

// freshen refreshes the time stamp of an object that is stored already, and whole, and makes it durable.
func (r *Repository) freshen(o object, path string, sync bool) bool {
	if _, _, err := r.readLoose(o.id); err != nil {
		return false
	}
	return touch(path) == nil && (!sync || syncPath(path) == nil)
}

// syncPath makes a file, or the names in a directory, durable. A file system that cannot sync a directory says EINVAL.
func syncPath(path string) error {
	f, err := os.Open(path)
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
