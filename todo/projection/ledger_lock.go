package projection

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// takeTurn waits until no other process writes the file, and names its temporary file. The kernel ends the turn of a
// process that dies. Where the system has no such lock the turn is not exclusive, nor is it if the lock is deleted: then two
// writers may write the same view twice, but as each has a temporary file of its own and looks at the tip once more when it
// has written, the last view is still that of the tip. The refusal is todo_projection_write_unavailable.
func (l *Ledger) takeTurn(ctx context.Context, t *target) (release func(), err error) {
	name := digest([]byte(filepath.Join(t.root, t.path)))[:16]
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
		var b [8]byte
		if _, err := io.ReadFull(l.Random, b[:]); err != nil {
			f.Close()
			return nil, unwritable(t.name, fmt.Errorf("random source: %w", err))
		}
		prefix := ".loopx-" + name + "-"
		temp := prefix + hex.EncodeToString(b[:]) + tempSuffix
		t.temp = filepath.Join(filepath.Dir(t.path), temp)
		if err == nil {
			t.sweep(f, prefix, temp)
		}
		return func() { f.Close() }, nil
	case <-ctx.Done():
		go func() { // who gave up still gets its turn one day, and passes it on at once
			<-locked
			f.Close()
		}()
		return nil, mended{unwritable(t.name, errors.New("others are writing it")), "wait until they are done"}
	}
}

// tempSuffix ends the names of temporary files.
const tempSuffix = ".tmp"

// sweep takes away the temporary file of a killed writer, which that one named in the lock, and names this one's there.
// Where it cannot, a file is left over, and the view is none the worse.
func (t target) sweep(lock *os.File, prefix, temp string) {
	left := make([]byte, len(temp)) // all are of one length
	if n, _ := lock.ReadAt(left, 0); n == len(left) {
		random, ok := strings.CutPrefix(string(left), prefix)
		random, ours := strings.CutSuffix(random, tempSuffix)
		if _, err := hex.DecodeString(random); ok && ours && err == nil {
			if root, err := os.OpenRoot(t.root); err == nil {
				root.Remove(filepath.Join(filepath.Dir(t.path), string(left)))
				root.Close()
			}
		}
	}
	lock.WriteAt([]byte(temp), 0)
}
