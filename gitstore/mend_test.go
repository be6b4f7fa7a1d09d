package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// apply applies an operation that must succeed and returns the new tip.
func (tr *testRepo) apply(id string, files map[string][]byte) ObjectID {
	tr.t.Helper()
	out, err := tr.Apply(context.Background(), put(id, files))
	if err != nil {
		tr.t.Fatal(err)
	}
	return out.Tip.Revision()
}

func TestAnEmptyRefGetsBackWhatItHeld(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		before func(r *testRepo) string // the value that must come back, "" for none
	}{
		"all operations loose": {func(r *testRepo) string {
			r.apply("op-1", map[string][]byte{"a": []byte("1")})
			return string(r.apply("op-2", map[string][]byte{"a": []byte("2")}))
		}},
		"an older value is packed": {func(r *testRepo) string {
			r.apply("op-1", map[string][]byte{"a": []byte("1")})
			r.run("pack-refs", "--all")
			r.apply("op-2", map[string][]byte{"a": []byte("2")})
			return string(r.apply("op-3", map[string][]byte{"a": []byte("3")}))
		}},
		"the packed value is the newest": {func(r *testRepo) string {
			tip := r.apply("op-1", map[string][]byte{"a": []byte("1")})
			r.run("pack-refs", "--all", "--no-prune")
			return string(tip)
		}},
		"nothing was ever there": {func(r *testRepo) string { return "" }},
		"a commit lost its race on the way": {func(r *testRepo) string {
			first := r.apply("op-1", map[string][]byte{"a": []byte("1")})
			loser := r.apply("op-x", map[string][]byte{"a": []byte("x")})
			r.run("update-ref", string(testRef), string(first), string(loser))
			r.apply("op-2", map[string][]byte{"a": []byte("2")})
			return string(r.apply("op-3", map[string][]byte{"a": []byte("3")}))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, SHA1, Config{})
			want := tt.before(r)
			file := filepath.Join(r.CommonDir(), string(testRef))
			if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
				t.Fatal(err)
			}
			write(t, file, "")
			found, err := r.Leftovers(ctx)
			if err != nil || len(found) != 1 || found[0].Kind != EmptyRef {
				t.Fatalf("leftovers = %v, %v", found, err)
			}
			if err := r.Mend(ctx, found[0]); err != nil {
				t.Fatal(err)
			}
			if got := r.tip(); got != want {
				t.Errorf("the ref is %q, want %q", got, want)
			}
			if _, err := os.Lstat(file + ".lock"); err == nil {
				t.Error("a lock was left")
			}
			r.fsck()
		})
	}
}

func TestAnEmptyRefThatMayHaveHeldTwoThingsIsLeftAlone(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	first := r.apply("op-1", map[string][]byte{"a": []byte("1")})
	one := r.apply("op-x", map[string][]byte{"a": []byte("x")})
	r.run("update-ref", string(testRef), string(first), string(one))
	two := r.apply("op-y", map[string][]byte{"a": []byte("y")})
	file := filepath.Join(r.CommonDir(), string(testRef))
	write(t, file, "")
	err := r.Mend(ctx, Leftover{Kind: EmptyRef, Path: file})
	if !is[*WriteError](err) || !strings.Contains(err.Error(), string(one)) || !strings.Contains(err.Error(), string(two)) {
		t.Errorf("err = %v", err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() != 0 {
		t.Errorf("the file was changed: %v", err)
	}
}

func TestAKeptPackOutlivesTheReleaseOfAnother(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	a, err := r.writeKept(ctx, []object{newObject(SHA1, blobKind, []byte("a"))}, true)
	if err != nil {
		t.Fatal(err)
	}
	ob := newObject(SHA1, blobKind, []byte("b"))
	b, err := r.writeKept(ctx, []object{ob}, true)
	if err != nil {
		t.Fatal(err)
	}
	a.release()
	r.run("gc", "--quiet", "--prune=now")
	if _, err := r.readObject(ctx, ob.id, blobKind); err != nil || !b.there() {
		t.Errorf("the second pack is gone: %v", err)
	}
	b.release()
	if kept, err := r.keptPacks(); len(kept) != 0 || err != nil {
		t.Errorf("kept = %q, %v", kept, err)
	}
}

func TestAnObjectFileThatIsEmptyIsReplaced(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	o := newObject(SHA1, blobKind, []byte("content"))
	if err := os.MkdirAll(filepath.Dir(r.loosePath(o.id)), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, r.loosePath(o.id), "")
	r.apply("op-1", map[string][]byte{"a": o.content})
	if b, ok, err := r.At(testRef, ObjectID(r.tip())).File(ctx, "a"); !ok || err != nil || string(b) != "content" {
		t.Errorf("%q, %v, %v", b, ok, err)
	}
	r.fsck()
}

func TestAnEntryOfTheWrongSortIsDamageAndNotAbsence(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	tip := r.apply("op-1", map[string][]byte{"goal.json": []byte("{}"), "todos/ab/x": []byte("x")})
	s := r.At(testRef, tip)
	for _, path := range []string{"todos/ab", "goal.json/x"} {
		if _, ok, err := s.File(ctx, path); ok || !is[*DamagedError](err) {
			t.Errorf("%s: %v, %v", path, ok, err)
		}
	}
	for i, path := range []string{"todos/ab", "goal.json/x"} {
		_, err := r.Apply(ctx, put(fmt.Sprint("op-bad-", i), map[string][]byte{path: []byte("y")}))
		if !is[*DamagedError](err) {
			t.Errorf("writing %s: %v", path, err)
		}
	}
	if r.tip() != string(tip) {
		t.Error("the ref moved")
	}
}

func TestEndedGarbageCollections(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]bool{
		fmt.Sprintf("%d %s\n", os.Getpid(), host): false,
		"1 elsewhere\n":                   false,
		"":                                false,
		fmt.Sprintf("999999999 %s", host): true,
	} {
		if got := endedHere(content); got != want {
			t.Errorf("%q: %v, want %v", content, got, want)
		}
	}
}
