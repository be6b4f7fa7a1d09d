package gitstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestResolveNeverTakesAFailureForAbsence(t *testing.T) {
	ctx := context.Background()
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, r *testRepo, file string)
	}{
		"empty":             {func(t *testing.T, r *testRepo, file string) { write(t, file, "") }},
		"garbled":           {func(t *testing.T, r *testRepo, file string) { write(t, file, "not an id\n") }},
		"too short":         {func(t *testing.T, r *testRepo, file string) { write(t, file, "0123456789\n") }},
		"symbolic":          {func(t *testing.T, r *testRepo, file string) { write(t, file, "ref: refs/heads/main\n") }},
		"a directory above": {func(t *testing.T, r *testRepo, file string) { write(t, filepath.Dir(file), "") }},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, SHA1, Config{})
			r.run("commit", "-q", "--allow-empty", "-m", "first")
			file := filepath.Join(r.CommonDir(), string(testRef))
			if name != "a directory above" {
				if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
					t.Fatal(err)
				}
			} else if err := os.MkdirAll(filepath.Dir(filepath.Dir(file)), 0o777); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, r, file)
			_, err := r.Resolve(ctx, testRef)
			if errors.Is(err, ErrRefMissing) || !is[*UnavailableError](err) {
				t.Errorf("err = %v", err)
			}
			for _, creates := range []bool{true, false} {
				op := put("op", map[string][]byte{"a": []byte("a")})
				op.Creates = creates
				if _, err := r.Apply(ctx, op); err == nil {
					t.Errorf("creates=%v: written over it", creates)
				}
			}
			if main := r.run("log", "--format=%s", "main"); main != "first" {
				t.Errorf("the branch moved: %q", main)
			}
		})
	}
}

func TestResolveIsNotFooledByATagOfThatName(t *testing.T) {
	formats(t, func(t *testing.T, f Format, c Config) {
		ctx := context.Background()
		r := newRepo(t, f, c)
		r.run("commit", "-q", "--allow-empty", "-m", "first")
		r.run("tag", string(testRef))
		if _, err := r.Resolve(ctx, testRef); !errors.Is(err, ErrRefMissing) {
			t.Errorf("err = %v", err)
		}
		if _, err := os.Lstat(filepath.Join(r.CommonDir(), "refs", "loopx")); err == nil {
			t.Error("asking left directories behind")
		}
	})
}

func TestRefsLooseAndPacked(t *testing.T) {
	formats(t, func(t *testing.T, f Format, c Config) {
		ctx := context.Background()
		r := newRepo(t, f, c)
		for _, name := range []RefName{"refs/loopx/goals/a", "refs/loopx/goals/b", "refs/loopx/goalsx/c"} {
			op := put("op", map[string][]byte{"a": []byte("a")})
			op.Ref = name
			if _, err := r.Apply(ctx, op); err != nil {
				t.Fatal(err)
			}
			if name == "refs/loopx/goals/a" {
				r.run("pack-refs", "--all", "--prune")
			}
		}
		refs, err := r.Refs(ctx, "refs/loopx/goals/")
		if err != nil || len(refs) != 2 || refs[0].Name != "refs/loopx/goals/a" || refs[1].Name != "refs/loopx/goals/b" {
			t.Fatalf("refs = %v, %v", refs, err)
		}
		for _, ref := range refs {
			if want := r.run("rev-parse", string(ref.Name)); ref.Err != nil || string(ref.ID) != want {
				t.Errorf("%s = %s, %v; want %s", ref.Name, ref.ID, ref.Err, want)
			}
		}
	})
}

func TestSwapMovesAllRefsOrNone(t *testing.T) {
	formats(t, func(t *testing.T, f Format, c Config) {
		ctx := context.Background()
		r := newRepo(t, f, c)
		out, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")}))
		if err != nil {
			t.Fatal(err)
		}
		first := out.Tip.Revision()
		const one, two RefName = "refs/loopx/milestones/demo", "refs/loopx/keep/demo"
		if err := r.Swap(ctx, RefChange{Ref: one, New: first}, RefChange{Ref: two, New: first}, RefChange{Ref: testRef, Old: first, New: first}); err != nil {
			t.Fatal(err)
		}
		out, err = r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")}))
		if err != nil {
			t.Fatal(err)
		}
		second := out.Tip.Revision()
		err = r.Swap(ctx, RefChange{Ref: one, Old: first, New: second}, RefChange{Ref: two, Old: second, New: ""})
		if !is[*MismatchError](err) {
			t.Errorf("err = %v", err)
		}
		for _, ref := range []RefName{one, two} {
			if now, err := r.Resolve(ctx, ref); now != first || err != nil {
				t.Errorf("%s moved to %s, %v", ref, now, err)
			}
		}
		if err := r.Swap(ctx, RefChange{Ref: one, Old: first, New: second}, RefChange{Ref: two, Old: first, New: ""}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Resolve(ctx, two); !errors.Is(err, ErrRefMissing) {
			t.Errorf("%s is still there: %v", two, err)
		}
	})
}

func TestTheUsersReferenceHooksAreNotFired(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	mark := filepath.Join(t.TempDir(), "fired")
	hook := filepath.Join(r.CommonDir(), "hooks", "reference-transaction")
	if err := os.MkdirAll(filepath.Dir(hook), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho fired >>'"+mark+"'\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.run("config", "hook.mine.event", "reference-transaction")
	r.run("config", "hook.mine.command", "echo fired >>'"+mark+"'")
	r.open(Config{})
	if _, err := r.Apply(ctx, put("op", map[string][]byte{"a": []byte("a")})); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("the hook was fired")
	}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
}
