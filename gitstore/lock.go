package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"time"
)

// queue waits for this process's turn to write a ref, so that writers do not race each other into refused swaps. It is
// for fairness only: where the lock cannot be had (no such directory, no locks on this file system, its holder stopped for
// half of loopx.timeout, ctx over), the writer goes on without it. The returned function ends the turn.
func (r *Repository) queue(ctx context.Context, ref RefName) (done func()) {
	none := func() {}
	dir := r.ownDir("locks")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return none
	}
	sum := sha256.Sum256([]byte(ref))
	f, err := os.OpenFile(dir+"/"+hex.EncodeToString(sum[:8]), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return none
	}
	locked := make(chan struct{})
	go func() {
		lockFile(f) // where it fails, there is no turn to wait for
		close(locked)
	}()
	select {
	case <-locked:
		return func() { f.Close() }
	case <-r.impatience(ctx):
		go func() { // who gave up still gets its turn one day, and passes it on at once
			<-locked
			f.Close()
		}()
		return none
	}
}

// impatience is closed when half of loopx.timeout is over, or ctx.
func (r *Repository) impatience(ctx context.Context) <-chan struct{} {
	over := make(chan struct{})
	go func() {
		defer close(over)
		s, err := r.Settings(ctx)
		if err != nil {
			return
		}
		half := time.NewTimer(s.timeout() / 2)
		defer half.Stop()
		select {
		case <-half.C:
		case <-ctx.Done():
		}
	}()
	return over
}
