//go:build unix

package handoff

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Case 28: a fifo is no regular file, and looking at it does not wait for its writer.
func TestLookDoesNotOpen(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o644); err != nil {
		t.Skip(err)
	}
	done := make(chan string, 1)
	go func() {
		v, err := look(dir, []string{"fifo"})
		if err != nil {
			done <- err.Error()
			return
		}
		done <- v.Artifacts[0].Reason
	}()
	select {
	case got := <-done:
		if got != NotRegularFile {
			t.Errorf("got %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the fifo was opened")
	}
}
