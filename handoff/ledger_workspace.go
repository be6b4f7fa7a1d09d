package handoff

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/git-loopx/git-loopx/todo"
)

// look sees whether the workspace and the artifacts in it are there. It resolves links and compares real paths by their
// elements, and opens nothing. What is absent is not an error; that something cannot be looked at is.
func look(workspace string, refs []string) (Availability, error) {
	if workspace == "" {
		workspace = "."
	}
	path, err := filepath.Abs(workspace) // first: a shell's own idea of the directory may go through a link
	if err != nil {
		return Availability{}, workspaceRefusal(workspace, err)
	}
	root, info, err := resolve(path)
	if absent(err) || err == nil && !info.IsDir() {
		return unseen(refs, NotFound), nil
	}
	if err != nil {
		return Availability{}, workspaceRefusal(workspace, err)
	}
	v := unseen(refs, "")
	v.WorkspaceAvailable, v.Ready = true, true
	for i := range v.Artifacts {
		a := &v.Artifacts[i]
		if a.Reason, err = lookAt(root, a.Ref); err != nil {
			return Availability{}, workspaceRefusal(a.Ref, err)
		}
		a.Available = a.Reason == ""
		v.Ready = v.Ready && a.Available
	}
	return v, nil
}

// lookAt returns why the file at ref below the real path root is not available, "" if it is.
func lookAt(root, ref string) (string, error) {
	path, info, err := resolve(filepath.Join(root, filepath.FromSlash(ref)))
	if absent(err) {
		return NotFound, nil
	}
	if err != nil {
		return "", err
	}
	relative, err := filepath.Rel(root, path)
	if err != nil || relative == ".." || strings.HasPrefix(relative, ".."+string(filepath.Separator)) {
		return OutsideWorkspace, nil
	}
	if !info.Mode().IsRegular() {
		return NotRegularFile, nil
	}
	return "", nil
}

// resolve returns the real path and what is there.
func resolve(path string) (string, fs.FileInfo, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Lstat(real)
	return real, info, err
}

// absent reports whether nothing can be at a path: it is not there, passes through a file, or has a name too long for
// any file here.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

func workspaceRefusal(what string, err error) *todo.Refusal {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return &todo.Refusal{
		Code:   CodeWorkspaceReadFailed,
		Status: todo.Failed,
		Reason: fmt.Sprintf("workspace: %q cannot be looked at: %v", cutText(what, 80), err),
	}
}
