package gitstore

import (
	"context"
	"crypto/rand"
	"testing"
	"time"
)

// TestReadAfterInterrupt: when the context that a repository was opened with has ended, what lies in a pack can still be
// read under another: an operation that stands must be answered for.
func TestReadAfterInterrupt(t *testing.T) {
	tr := newRepo(t, SHA1, Config{})
	first := tr.run("commit-tree", "-m", "one", tr.run("mktree", "--missing"))
	tr.run("update-ref", "refs/loopx/goals/demo", first)
	tr.run("repack", "-adq")
	tr.run("prune-packed")

	for _, warm := range []bool{false, true} {
		ctx, interrupt := context.WithCancel(context.Background())
		r, err := Open(ctx, Config{Dir: tr.dir, Env: tr.env, Random: rand.Reader, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if warm { // a git cat-file runs already
			if _, err := r.readObject(ctx, ObjectID(first), commitKind); err != nil {
				t.Fatal(err)
			}
			r.memory = newMemory()
		}
		interrupt()
		if _, err := r.readObject(context.WithoutCancel(ctx), ObjectID(first), commitKind); err != nil {
			t.Errorf("a git ran before: %v: %v", warm, err)
		}
	}
}
