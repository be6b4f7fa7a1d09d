package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// packFormat is part of the name of a cached pack. Change it with what is in the pack.
const packFormat = "v1"

// newBig makes a repository that holds a commit of a million files in one pack. The pack is made once and kept in the
// user's cache directory, in git-loopx-ratio, which may be deleted at any time; the repository links to it.
func (w *ratioWorld) newBig(b *testing.B) *ratioRepo {
	b.Helper()
	cache, err := os.UserCacheDir()
	must(b, err)
	cache = filepath.Join(cache, "git-loopx-ratio")
	must(b, os.MkdirAll(cache, 0o777))
	kept := filepath.Join(cache, fmt.Sprintf("%s-%d", packFormat, w.objects))
	if _, err := os.Stat(kept); err != nil {
		w.makePack(b, cache, kept)
	}
	below, err := os.MkdirTemp(cache, "run") // links work only within one file system
	must(b, err)
	b.Cleanup(func() { os.RemoveAll(below) })
	r := w.newRepo(b, below)
	packs, err := filepath.Glob(filepath.Join(kept, ".git", "objects", "pack", "pack-*"))
	must(b, err)
	for _, p := range packs {
		must(b, os.Link(p, filepath.Join(r.dir, ".git", "objects", "pack", filepath.Base(p))))
	}
	w.git(b, r.dir, "update-ref", "refs/heads/main", w.git(b, kept, "rev-parse", "refs/heads/main"))
	for line := range strings.Lines(w.git(b, r.dir, "count-objects", "-v")) {
		if count, ok := strings.CutPrefix(line, "in-pack: "); ok {
			w.notes = append(w.notes, "the large pack holds "+strings.TrimSpace(count)+" objects")
		}
	}
	return r
}

// makePack imports one commit of as many files of about 200 bytes as there shall be objects.
func (w *ratioWorld) makePack(b *testing.B, cache, kept string) {
	b.Helper()
	start := time.Now()
	dir, err := os.MkdirTemp(cache, "making")
	must(b, err)
	defer os.RemoveAll(dir)
	w.git(b, dir, "init", "-q")
	cmd := w.command(dir, "git", "fast-import", "--quiet", "--depth=0")
	in, err := cmd.StdinPipe()
	must(b, err)
	must(b, cmd.Start())
	to := bufio.NewWriterSize(in, 1<<20)
	fmt.Fprintf(to, "commit refs/heads/main\ncommitter Ada <ada@example.com> 1700000000 +0000\ndata 0\n")
	random := rand.New(rand.NewPCG(1, 2)) // the same pack every time
	for i := range w.objects {
		var noise [80]byte
		for at := 0; at < len(noise); at += 8 {
			binary.LittleEndian.PutUint64(noise[at:], random.Uint64())
		}
		content := fmt.Sprintf("file %07d\n%x\nlast line of the file\n", i, noise)
		fmt.Fprintf(to, "M 100644 inline d%03d/f%07d\ndata %d\n%s\n", i%1000, i, len(content), content)
	}
	err = errors.Join(to.Flush(), in.Close(), cmd.Wait())
	must(b, w.failed(cmd, err))
	must(b, os.Rename(dir, kept))
	w.notes = append(w.notes, fmt.Sprintf("a pack of %d files was made in %.1f s", w.objects, time.Since(start).Seconds()))
}
