//go:build unix

package gitstore

import (
	"context"
	"fmt"
	"io"
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

// child is a git process whose output is read to its end and whose errors are not kept.
type child struct {
	pid int
	out *os.File
}

// start starts git at once in the calling goroutine, which takes half the time of os/exec: that probes the kernel and
// starts goroutines first. It is for the processes that every command waits for.
func (g *git) start(args ...string) (*child, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer w.Close()
	pid, err := syscall.ForkExec(g.path, append([]string{g.path}, args...), &syscall.ProcAttr{
		Dir: g.dir, Env: g.env, Files: []uintptr{null.Fd(), w.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		r.Close()
		return nil, err
	}
	return &child{pid: pid, out: r}, nil
}

// output returns all that the child prints. When ctx ends, the child's group is asked to end.
func (c *child) output(ctx context.Context) ([]byte, error) {
	out, err := c.read(ctx)
	go c.wait() // it has closed its output; nobody waits for its end
	return out, err
}

// whole returns all that the child prints where it then ends well, and an error otherwise. When ctx ends, the child's
// group is asked to end.
func (c *child) whole(ctx context.Context) ([]byte, error) {
	out, err := c.read(ctx)
	if status := c.wait(); err == nil && status != 0 {
		err = fmt.Errorf("it ended with the wait status %d", status)
	}
	return out, err
}

func (c *child) read(ctx context.Context) ([]byte, error) {
	stop := context.AfterFunc(ctx, func() { syscall.Kill(-c.pid, syscall.SIGTERM) })
	out, err := io.ReadAll(c.out)
	c.out.Close()
	if !stop() {
		return nil, ctx.Err()
	}
	return out, err
}

func (c *child) wait() syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(c.pid, &status, 0, nil); err != syscall.EINTR {
			return status
		}
	}
}

// processAlive reports whether there is such a process, whoever owns it.
func processAlive(pid int) bool { return syscall.Kill(pid, 0) != syscall.ESRCH }

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
