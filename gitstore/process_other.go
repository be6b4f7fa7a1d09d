//go:build !unix

package gitstore

import (
	"os"
	"os/exec"
	"time"
)

var gitNames = []string{"git.exe", "git"}

func executable(os.FileInfo) bool { return true }

func ownGroup(*exec.Cmd) {}

func endGroup(cmd *exec.Cmd) error { return cmd.Process.Kill() }

func detach(*exec.Cmd) {}

func touch(path string) error {
	now := time.Now()
	return os.Chtimes(path, now, now)
}

// lockFile does nothing here: the lock is for fairness, the compare-and-swap guards correctness.
func lockFile(*os.File) error { return nil }
