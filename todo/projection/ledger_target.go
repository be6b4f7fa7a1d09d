package projection

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// target is a file of the work tree, after resolving links.
type target struct {
	name string // as configured
	root string // the real work tree
	path string // of the real file, below root
	temp string // of the file that is written first, beside it
}

// findTarget finds the file that a configured name means. It may not exist; its directory must. The refusal is
// todo_projection_target_unavailable: there is no work tree, the name leads out of it or into git's own directories, or
// what is there is not a file.
func findTarget(store *gitstore.Repository, name string) (target, error) {
	if store.WorkTree() == "" {
		return target{}, mended{unavailable(name, "there is no work tree here"), "go into a work tree of the repository"}
	}
	if problem := checkName(name); problem != "" {
		return target{}, unavailable(name, problem)
	}
	root, err := filepath.EvalSymlinks(store.WorkTree())
	if err != nil {
		return target{}, unreachable(name, err)
	}
	file := filepath.Join(root, filepath.FromSlash(name))
	dir, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return target{}, unreachable(name, err)
	}
	real := filepath.Join(dir, filepath.Base(file))
	switch info, err := os.Lstat(real); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return target{}, unreachable(name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		if real, err = filepath.EvalSymlinks(real); err != nil {
			return target{}, unreachable(name, err)
		}
		if info, err = os.Lstat(real); err != nil {
			return target{}, unreachable(name, err)
		}
		if !info.Mode().IsRegular() {
			return target{}, unavailable(name, "it is not a file")
		}
	case !info.Mode().IsRegular():
		return target{}, unavailable(name, "it is not a file")
	}
	below, err := filepath.Rel(root, real)
	if err != nil || !filepath.IsLocal(below) {
		return target{}, unavailable(name, "it leads out of the work tree")
	}
	if isGits(store, root, below) {
		return target{}, unavailable(name, "it belongs to git")
	}
	return target{name: name, root: root, path: below}, nil
}

// checkName says what is wrong with a configured name, "" for nothing.
func checkName(name string) string {
	slashed := filepath.ToSlash(name)
	for part := range strings.SplitSeq(slashed, "/") {
		if part == ".." {
			return "it has a .. in it"
		}
	}
	switch {
	case !filepath.IsLocal(filepath.FromSlash(name)):
		return "it is not relative to the work tree"
	case strings.HasSuffix(slashed, "/"), filepath.Clean(name) == ".":
		return "it is not a file"
	}
	return ""
}

// isGits says whether a path below the work tree lies in a git directory.
func isGits(store *gitstore.Repository, root, below string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(below), "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	for dir := filepath.Dir(below); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(root, dir)); err == nil {
			for _, git := range []string{store.GitDir(), store.CommonDir()} {
				if own, err := os.Stat(git); err == nil && os.SameFile(own, info) {
					return true
				}
			}
		}
		if dir == "." {
			return false
		}
	}
}

func unavailable(name, problem string) *todo.Refusal {
	return refused(CodeTargetUnavailable, todo.Failed, "the Markdown file %s: %s", quoted(name), problem)
}

// unreachable is the refusal for a name that the system does not find.
func unreachable(name string, err error) *todo.Refusal { return unavailable(name, cause(err)) }

// unwritable is the refusal for a file that cannot be written.
func unwritable(name string, err error) *todo.Refusal {
	return refused(CodeWriteUnavailable, todo.Failed, "the Markdown file %s: %s", quoted(name), cause(err))
}

// cause is what the system said, without the paths it said it of.
func cause(err error) string {
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		return errno.Error()
	}
	return err.Error()
}
