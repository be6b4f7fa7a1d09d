package gitstore

import (
	"context"
	"os"
	"os/exec"
)

// maintainEvery is how many operations pass between two looks of git at its own housekeeping.
const maintainEvery = 500

// maintain counts the operations of this process in a file of ours and, at most once per maintainEvery, starts what git
// itself runs after a commit, in the background. It never waits and never fails: this is housekeeping.
func (r *Repository) maintain() {
	r.mu.Lock()
	n := r.mutations
	r.mutations = 0
	r.mu.Unlock()
	if n == 0 || !r.countOperations(n) {
		return
	}
	s, err := r.Settings(context.Background())
	if err != nil {
		return
	}
	if !s.housekeeping() {
		return
	}
	cmd := exec.Command(r.git.path, "maintenance", "run", "--auto", "--quiet")
	cmd.Dir, cmd.Env = r.git.dir, r.git.env
	detach(cmd)
	if cmd.Start() == nil {
		go cmd.Wait() // for programs that live on; this one need not
	}
}

// countOperations appends one byte per operation; true each time the file is full, which empties it.
func (r *Repository) countOperations(n int) bool {
	path := r.ownDir("operations")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return false
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, n)); err != nil {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Size() < maintainEvery {
		return false
	}
	return f.Truncate(0) == nil
}

// housekeeping reports whether the user lets git maintain the repository by itself. Called directly, git does not ask.
func (s Settings) housekeeping() bool {
	if _, set := s["maintenance.auto"]; set {
		return s.on("maintenance.auto", true)
	}
	return s["gc.auto"] != "0"
}
