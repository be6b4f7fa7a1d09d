//go:build unix

package gitstore

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

var gitNames = []string{"git"}

func executable(info os.FileInfo) bool { return info.Mode()&0o111 != 0 }

// ownGroup gives the child a process group, so that a signal reaches what it started too.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup asks the group to end: git removes its lock files on SIGTERM, and cannot on SIGKILL.
func endGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// detach lets a child outlive this process and its terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// touch sets a file's times to the file system's now.
func touch(path string) error { return unix.UtimesNanoAt(unix.AT_FDCWD, path, nil, 0) }

// lockFile waits for the exclusive advisory lock on a file. The kernel drops it with its holder.
func lockFile(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX)
		if err != unix.EINTR {
			return err
		}
	}
}
