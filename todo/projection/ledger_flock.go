//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package projection

import (
	"os"
	"syscall"
)

// lockFile waits for the exclusive advisory lock on a file. The kernel drops it with its holder.
func lockFile(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err != syscall.EINTR {
			return err
		}
	}
}
