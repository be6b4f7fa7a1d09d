package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// view is all that a snapshot shows.
type view struct {
	Files, Walked map[string]string
	Table, Keys   []Row
}

// viewOf reads a snapshot in every way there is; paths are looked for one by one.
func viewOf(t testing.TB, r *Repository, s *Snapshot, paths []string) view {
	t.Helper()
	ctx := context.Background()
	v := view{Files: map[string]string{}, Walked: map[string]string{}}
	for _, path := range paths {
		b, ok, err := s.File(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		if ok {
			v.Files[path] = string(b)
		}
	}
	err := s.Walk(ctx, func(path string, blob []byte) error {
		if before, twice := v.Walked[path]; twice {
			return fmt.Errorf("%s is walked twice, before as %q", path, before)
		}
		v.Walked[path] = string(blob)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if v.Table, err = r.Table(ctx, s, "todos", "v1", testRow); err != nil {
		t.Fatal(err)
	}
	keys, err := r.Keys(ctx, s, "todos", "v1", testRow)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range keys {
		v.Keys = append(v.Keys, Row{Name: k.Name, Key: k.Key})
	}
	return v
}

// A snapshot with files on top shows what it would show had they been committed, however they are stacked, and leaves
// the commit below as it is, also for who asks through the cache.
func TestWithEqualsCommitting(t *testing.T) {
	ctx := context.Background()
	paths := make([]string, 24)
	for i := range paths {
		dir := []string{"todos", "notes"}[i%2]
		paths[i] = fmt.Sprintf("%s/todo_%d.json", Bucket(dir, fmt.Sprint(i%7)), i)
	}
	changes := rapid.MapOfN(rapid.SampledFrom(paths), rapid.StringMatching(`-|[a-z]{0,3}`), 1, 8)
	written := func(drawn map[string]string) map[string][]byte {
		files := map[string][]byte{}
		for path, content := range drawn {
			files[path] = []byte(content)
			if content == "-" {
				files[path] = nil
			}
		}
		return files
	}
	repo := newRepo(t, SHA1, Config{})
	repo.run("config", "loopx.durability", "git")
	repo.run("config", "maintenance.auto", "false") // it would outlive the test
	repo.open(Config{})
	run := 0
	rapid.Check(t, func(t *rapid.T) {
		run++
		ref := RefName(fmt.Sprintf("refs/loopx/goals/run-%d", run))
		commit := func(id string, files map[string][]byte) *Snapshot {
			op := put(fmt.Sprint(id, run), files)
			op.Ref = ref
			out, err := repo.Apply(ctx, op)
			if err != nil {
				t.Fatal(err)
			}
			return out.Tip
		}
		base := commit("base", written(changes.Draw(t, "base")))
		if rapid.Bool().Draw(t, "cached") {
			if _, err := repo.Table(ctx, base, "todos", "v1", testRow); err != nil {
				t.Fatal(err)
			}
		}
		before := viewOf(repo.t, repo.Repository, base, paths)
		over, all := base, map[string][]byte{}
		for range rapid.IntRange(1, 4).Draw(t, "layers") {
			files := written(changes.Draw(t, "files"))
			kept := over
			was := viewOf(repo.t, repo.Repository, kept, paths)
			over = over.With(files)
			maps.Copy(all, files)
			if diff := cmp.Diff(was, viewOf(repo.t, repo.Repository, kept, paths)); diff != "" {
				t.Fatalf("the snapshot below changed: %s", diff)
			}
		}
		got := viewOf(repo.t, repo.Repository, over, paths)
		if over.Revision() != base.Revision() {
			t.Fatalf("revision: got %s, want %s", over.Revision(), base.Revision())
		}
		if diff := cmp.Diff(before, viewOf(repo.t, repo.Repository, base, paths)); diff != "" {
			t.Fatalf("the commit below changed: %s", diff)
		}
		want := viewOf(repo.t, repo.Repository, commit("over", all), paths)
		for _, receipt := range []string{"base", "over"} {
			path := ReceiptPath(fmt.Sprint(receipt, run))
			delete(got.Walked, path)
			delete(want.Walked, path)
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("want committed, got on top: %s", diff)
		}
	})
}

// Many may read one snapshot and stack files on it at once.
func TestWithAtOnce(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	out, err := r.Apply(ctx, put("op", map[string][]byte{"todos/ab/x": []byte("x")}))
	if err != nil {
		t.Fatal(err)
	}
	over := out.Tip.With(map[string][]byte{"todos/ab/y": []byte("y")})
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			path := fmt.Sprintf("todos/ab/z%d", i)
			mine := over.With(map[string][]byte{path: []byte(path)})
			rows, err := r.Table(ctx, mine, "todos", "v1", testRow)
			if err != nil || len(rows) != 3 || rows[2].Name != path || !bytes.Equal(rows[2].Data, []byte(path)) {
				t.Errorf("rows %v, %v", rows, err)
			}
		})
	}
	all.Wait()
}
