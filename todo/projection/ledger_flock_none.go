//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package projection

import (
	"errors"
	"os"
)

// lockFile has no lock to wait for here.
func lockFile(*os.File) error { return errors.ErrUnsupported }
