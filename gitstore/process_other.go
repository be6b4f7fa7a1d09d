//go:build !unix

package gitstore

import (
	"context"
	"os"
	"os/exec"
	"time"
)

var gitNames = []string{"git.exe", "git"}

func executable(os.FileInfo) bool { return true }

func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func detach(*exec.Cmd) {}

// child is a git process that runs once its output is asked for.
type child struct {
	g    *git
	args []string
}

func (g *git) start(args ...string) (*child, error) { return &child{g, args}, nil }

func (c *child) output(ctx context.Context) ([]byte, error) {
	out, err := c.g.run(ctx, nil, c.args...)
	if ctx.Err() == nil {
		err = nil
	}
	return out, err
}

func (c *child) whole(ctx context.Context) ([]byte, error) { return c.g.run(ctx, nil, c.args...) }

func processAlive(int) bool { return true }

func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// lockFile does nothing here: the lock is for fairness, the compare-and-swap guards correctness.
func lockFile(*os.File) error { return nil }
