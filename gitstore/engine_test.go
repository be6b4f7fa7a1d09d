package gitstore

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func TestApplyStoresFilesReceiptAndCommit(t *testing.T) {
	formats(t, func(t *testing.T, f Format, c Config) {
		ctx := context.Background()
		r := newRepo(t, f, c)
		first, err := r.Apply(ctx, put("op-1", map[string][]byte{"goal.json": []byte("{}\n"), "todos/ab/x.json": []byte("x\n")}))
		if err != nil {
			t.Fatal(err)
		}
		if first.Status != Applied || !first.Changed || first.Tip.Revision() != first.Receipt.Revision {
			t.Errorf("first = %+v", first)
		}
		op := put("op-2", map[string][]byte{"todos/ab/x.json": nil, "todos/cd/y.json": []byte("y\n")})
		op.Agent, op.Session = "agent-a", "a\nLoopx-Agent: agent-b"
		second, err := r.Apply(ctx, op)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.run("cat-file", "blob", string(testRef)+":todos/cd/y.json"); got != "y" {
			t.Errorf("y.json = %q", got)
		}
		if _, ok, err := second.Tip.File(ctx, "todos/ab/x.json"); ok || err != nil {
			t.Errorf("x.json is there: %v, %v", ok, err)
		}
		log := r.run("log", "--format=%s|%(trailers:key=Loopx-Agent,valueonly,separator=;)", string(testRef))
		if want := "test put op-2|agent-a\ntest put op-1|"; log != want {
			t.Errorf("log = %q, want %q", log, want)
		}
		history, err := r.History(ctx, second.Tip, 0, "todos/cd")
		if err != nil || len(history) != 1 || history[0].Session != op.Session || history[0].Operation != "op-2" {
			t.Errorf("history = %+v, %v", history, err)
		}
		again, err := r.Apply(ctx, put("op-1", nil))
		if err != nil || again.Status != Replayed || again.Receipt.Revision != first.Receipt.Revision {
			t.Errorf("again = %+v, %v", again, err)
		}
		if again.Tip.Revision() != second.Tip.Revision() {
			t.Errorf("a replay moved the ref")
		}
		r.fsck()
	})
}

func TestApplyRefusals(t *testing.T) {
	formats(t, func(t *testing.T, f Format, c Config) {
		ctx := context.Background()
		r := newRepo(t, f, c)
		out, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")}))
		if err != nil {
			t.Fatal(err)
		}
		tip := out.Tip.Revision()
		sentinel := errors.New("no")
		other := put("op-1", nil)
		other.Request = strings.Repeat("b", 64)
		pinned := put("op-2", nil)
		pinned.Expected = f.Zero()
		last := pinned
		last.ExpectedLast = true
		last.Decide = func(context.Context, *Snapshot) (Change, error) { return Change{}, sentinel }
		refusing := put("op-3", nil)
		refusing.Admit = func(context.Context, *Snapshot) error { return sentinel }
		unknown := put("op-4", nil)
		unknown.Ref, unknown.Creates = "refs/loopx/goals/other", false
		for name, tt := range map[string]struct {
			op Operation
			ok func(error) bool
		}{
			"same id, other request":           {other, is[*IdentityError]},
			"pinned to another revision":       {pinned, is[*MismatchError]},
			"a late pin yields to the refusal": {last, func(err error) bool { return errors.Is(err, sentinel) }},
			"not admitted":                     {refusing, func(err error) bool { return errors.Is(err, sentinel) }},
			"unknown ref":                      {unknown, func(err error) bool { return errors.Is(err, ErrRefMissing) }},
		} {
			if _, err := r.Apply(ctx, tt.op); !tt.ok(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if now, err := r.Resolve(ctx, testRef); now != tip || err != nil {
			t.Errorf("the ref moved to %s, %v", now, err)
		}
		if refs := r.run("for-each-ref"); strings.Count(refs, "\n") != 0 {
			t.Errorf("refs = %q", refs)
		}
	})
}

// is reports whether err is a T.
func is[T error](err error) bool {
	var e T
	return errors.As(err, &e)
}

func TestObjectStores(t *testing.T) {
	formats(t, func(t *testing.T, f Format, c Config) {
		ctx := context.Background()
		r := newRepo(t, f, c)
		big := bytes.Repeat([]byte("0123456789\n"), 100_000)
		objects := []object{newObject(f, blobKind, nil), newObject(f, blobKind, []byte("a\n")), newObject(f, blobKind, big)}
		s, err := r.Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time they are there already
			finish, err := r.sink(s).write(ctx, objects, true)
			if err == nil {
				err = finish()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		pack, err := r.writeKept(ctx, []object{newObject(f, blobKind, []byte("kept\n"))}, true)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := r.keptPacks(); len(kept) != 1 || err != nil {
			t.Errorf("kept = %q, %v", kept, err)
		}
		pack.release()
		if kept, err := r.keptPacks(); len(kept) != 0 || err != nil {
			t.Errorf("kept after release = %q, %v", kept, err)
		}
		missing := newObject(f, blobKind, []byte("nowhere"))
		want := append(objects, missing, newObject(f, blobKind, []byte("kept\n")), objects[1])
		ids := make([]ObjectID, len(want))
		for i, o := range want {
			ids[i] = o.id
		}
		seen := 0
		err = r.source().read(ctx, ids, func(i int, a answer) error {
			seen++
			if want[i].id == missing.id {
				if !errors.Is(a.err, ErrObjectMissing) {
					t.Errorf("missing object: %v", a.err)
				}
			} else if a.err != nil || a.kind != blobKind || !bytes.Equal(a.content, want[i].content) {
				t.Errorf("object %d: %v, %d bytes, %v", i, a.kind, len(a.content), a.err)
			}
			return nil
		})
		if err != nil || seen != len(want) {
			t.Errorf("read %d of %d: %v", seen, len(want), err)
		}
		r.fsck()
	})
}

func TestAnObjectTooLargeIsNotRead(t *testing.T) {
	formats(t, func(t *testing.T, f Format, c Config) {
		ctx := context.Background()
		r := newRepo(t, f, c)
		write(t, r.dir+"/big", strings.Repeat("0123456789abcde\n", maxObject/16)+"\n")
		big := ObjectID(r.run("hash-object", "-w", "big"))
		small := newObject(f, blobKind, []byte("small\n"))
		s, err := r.Settings(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.sink(s).write(ctx, []object{small}, false); err != nil {
			t.Fatal(err)
		}
		var got [2]answer
		err = r.source().read(ctx, []ObjectID{big, small.id}, func(i int, a answer) error { got[i] = a; return nil })
		if err != nil || !errors.Is(got[0].err, errTooLarge) || string(got[1].content) != "small\n" {
			t.Errorf("%v, %v, %q", err, got[0].err, got[1].content)
		}
	})
}
