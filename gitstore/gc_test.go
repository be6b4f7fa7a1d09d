package gitstore

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Everything acknowledged is stored, while git collects garbage without any grace and packs refs back to back beside the
// writers.
func TestWritersBesideGarbageCollection(t *testing.T) {
	for name, loops := range map[string][][]string{
		"gc --prune=now":               {{"gc", "--quiet", "--prune=now"}},
		"gc and pack-refs":             {{"gc", "--quiet"}, {"pack-refs", "--all", "--prune"}},
		"gc --prune=now and pack-refs": {{"gc", "--quiet", "--prune=now"}, {"pack-refs", "--all", "--prune"}},
	} {
		t.Run(name, func(t *testing.T) { writersBeside(t, loops) })
	}
}

func writersBeside(t *testing.T, commands [][]string) {
	writers, each := 8, 12
	if testing.Short() {
		writers, each = 4, 4
	}
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	stop := make(chan struct{})
	var loops, wait sync.WaitGroup
	for _, args := range commands {
		loops.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				cmd := exec.Command("git", args...) // what is refused for a lock is tried again
				cmd.Dir, cmd.Env = r.dir, r.env
				cmd.Run()
			}
		})
	}
	acknowledged := make([][]string, writers)
	for w := range writers {
		wait.Go(func() {
			own := (&testRepo{t: t, dir: r.dir, env: r.env}).open(Config{})
			for i := range each {
				id := fmt.Sprintf("op-%d-%d", w, i)
				path := fmt.Sprintf("todos/%02x/%s", w, id)
				_, err := own.Apply(ctx, put(id, map[string][]byte{path: []byte(id)}))
				for tries := 0; is[*BusyError](err) && tries < 5; tries++ {
					_, err = own.Apply(ctx, put(id, map[string][]byte{path: []byte(id)}))
				}
				if err != nil {
					t.Errorf("%s: %v", id, err)
					return
				}
				acknowledged[w] = append(acknowledged[w], path)
			}
		})
	}
	wait.Wait()
	close(stop)
	loops.Wait()
	r.open(Config{})
	tip, err := r.Load(ctx, testRef)
	if err != nil {
		t.Fatal(err)
	}
	for _, paths := range acknowledged {
		for _, path := range paths {
			if b, ok, err := tip.File(ctx, path); !ok || err != nil || string(b) != filepath.Base(path) {
				t.Errorf("%s: %q, %v, %v", path, b, ok, err)
			}
		}
	}
	if faults, err := r.CheckChain(ctx, tip); len(faults) != 0 || err != nil {
		t.Errorf("faults = %v, %v", faults, err)
	}
	if kept, err := r.keptPacks(); len(kept) != 0 || err != nil {
		t.Errorf("kept packs were left: %q, %v", kept, err)
	}
	r.fsck()
}

func TestObjectsGoIntoAKeptPackWhileGitCollects(t *testing.T) {
	for _, name := range []string{"gc.pid", "objects/maintenance.lock"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			ctx := context.Background()
			r := newRepo(t, SHA1, Config{})
			lock := filepath.Join(r.CommonDir(), name)
			write(t, lock, "1 elsewhere\n")
			out, err := r.Apply(ctx, put("op", map[string][]byte{"a": []byte("a")}))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Lstat(r.loosePath(out.Receipt.Revision)); err == nil {
				t.Error("the commit is a loose object")
			}
			packs, err := filepath.Glob(filepath.Join(r.CommonDir(), "objects/pack/*"))
			if err != nil || len(packs) == 0 {
				t.Errorf("packs = %q, %v", packs, err)
			}
			for _, p := range packs {
				if filepath.Ext(p) == ".keep" {
					t.Errorf("%s was left", p)
				}
			}
			r.fsck()
		})
	}
}

func TestAnObjectThatIsThereIsFreshened(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	out, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("same")}))
	if err != nil {
		t.Fatal(err)
	}
	id, err := out.Tip.blobID(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	path := r.loosePath(id)
	old, err := os.Stat(r.dir)
	if err != nil {
		t.Fatal(err)
	}
	long := old.ModTime().AddDate(-1, 0, 0)
	if err := os.Chtimes(path, long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("same")})); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.ModTime().Equal(long) {
		t.Errorf("the time stayed %v, %v", info.ModTime(), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("mode = %v, %v", info.Mode(), err)
	}
}
