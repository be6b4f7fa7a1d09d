package projection

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/git-loopx/git-loopx/todo"
)

// maxFile is the largest file that a view is kept in, in bytes.
const maxFile = 64 << 20

// tooLarge is the refusal for a file that is, or would be, larger than [maxFile].
func tooLarge(name, is string) error {
	return mended{unavailable(name, is+" larger than 64 MiB"), "let git config name another file"}
}

// written says what [target.put] did.
type written struct{ changed, created bool }

// errFileMoved says that the file changed between reading and writing; it was left as it is.
var errFileMoved = errors.New("the file changed meanwhile")

// put splices the region into the file, unless it is there already; with report it stops before it writes. A reader sees
// the old file or the new one and nothing between, whatever happens; a killed writer may leave its temporary file, which
// the next one takes away. All paths are followed within the work tree only, whoever puts a link there meanwhile. Errors:
// *todo.Refusal, errFileMoved.
func (t target) put(goal todo.GoalID, region []byte, report bool) (written, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return written{}, unreachable(t.name, err)
	}
	defer root.Close()
	old, was, err := t.read(root)
	if err != nil {
		return written{}, err
	}
	content, err := Splice(old, goal, region)
	if err != nil {
		return written{}, inFile(t.name, err)
	}
	if len(content) > maxFile {
		return written{}, tooLarge(t.name, "it would be")
	}
	done := written{changed: was == nil || !bytes.Equal(content, old), created: was == nil}
	if !done.changed || report {
		return done, nil
	}
	if was != nil { // to be renamed over is no permission
		f, err := root.OpenFile(t.path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return written{}, unwritable(t.name, err)
		}
		f.Close()
	}
	err = t.replace(root, content, was)
	if err != nil && !errors.Is(err, errFileMoved) {
		err = unwritable(t.name, err)
	}
	return done, err
}

// read returns the content of the file and what it was when it was read; nil for both where there is none.
func (t target) read(root *os.Root) ([]byte, fs.FileInfo, error) {
	f, err := root.OpenFile(t.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, nil
	case err != nil:
		return nil, nil, unwritable(t.name, err)
	}
	defer f.Close()
	was, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, unwritable(t.name, err)
	case !was.Mode().IsRegular():
		return nil, nil, unavailable(t.name, "it is not a file")
	case was.Size() > maxFile:
		return nil, nil, tooLarge(t.name, "it is")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, nil, unwritable(t.name, err)
	}
	if int64(len(b)) != was.Size() {
		return nil, nil, errFileMoved
	}
	return b, was, nil
}

// replace writes the content beside the file and renames it over what was read.
func (t target) replace(root *os.Root, content []byte, was fs.FileInfo) error {
	mode := fs.FileMode(0o666)
	if was != nil { // nobody may read in it for a moment what the file does not show
		mode = was.Mode().Perm() & 0o600
	}
	f, err := root.OpenFile(t.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && was != nil {
		err = f.Chmod(was.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil && !t.same(root, was) {
		err = errFileMoved
	}
	if err == nil {
		err = root.Rename(t.temp, t.path)
	}
	if err != nil {
		root.Remove(t.temp)
		return err
	}
	if dir, err := root.Open(filepath.Dir(t.path)); err == nil {
		dir.Sync() // a view that is lost with the machine is made again
		dir.Close()
	}
	return nil
}

// same says whether the file is still what was read.
func (t target) same(root *os.Root, was fs.FileInfo) bool {
	now, err := root.Lstat(t.path)
	if was == nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil && os.SameFile(was, now) && now.Size() == was.Size() && now.ModTime().Equal(was.ModTime())
}

// inFile adds the name of the file to a refusal of its content.
func inFile(name string, err error) error {
	if r := todo.AsRefusal(err); r != nil {
		return refused(r.Code, r.Status, "the Markdown file %s: %s", quoted(name), r.Reason)
	}
	return err
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
