package projection

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// takeTurn waits until no other process writes the file, and names its temporary file. The kernel ends the turn of a
// process that dies. Where the system has no such lock the turn is not exclusive: then two writers may write the same view
// twice, but as each looks at the tip once more when it has written, the last view is still that of the tip. The refusal is
// todo_projection_write_unavailable.
func (l *Ledger) takeTurn(ctx context.Context, t *target) (release func(), err error) {
	name := digest([]byte(l.Store.CommonDir() + "\x00" + filepath.Join(t.root, t.path)))[:16] // two repositories may have one work tree
	dir := filepath.Join(l.Store.CommonDir(), "loopx", "locks")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, unwritable(t.name, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "projection-"+name), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, unwritable(t.name, err)
	}
	locked := make(chan error, 1)
	go func() { locked <- lockFile(f) }()
	select {
	case err := <-locked:
		if err != nil { // not exclusive: a temporary file of its own
			var b [8]byte
			if _, err := io.ReadFull(l.Random, b[:]); err != nil {
				f.Close()
				return nil, unwritable(t.name, fmt.Errorf("random source: %w", err))
			}
			name += "-" + hex.EncodeToString(b[:])
		}
		t.temp = filepath.Join(filepath.Dir(t.path), ".loopx-"+name+".tmp")
		return func() { f.Close() }, nil
	case <-ctx.Done():
		go func() { // who gave up still gets its turn one day, and passes it on at once
			<-locked
			f.Close()
		}()
		return nil, mended{unwritable(t.name, errors.New("others are writing it")), "wait until they are done"}
	}
}
