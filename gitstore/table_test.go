package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// testRow keeps the whole blob.
func testRow(path string, blob []byte) Row {
	row := Row{Name: path, Data: bytes.Clone(blob)}
	copy(row.Key[:], blob)
	return row
}

// The table equals the files whatever was written since the cache was made, and whatever became of the cache.
func TestTableEqualsTheFiles(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	files := map[string]string{}
	for step := range 40 {
		changes := map[string][]byte{}
		for range 1 + rand.IntN(12) {
			path := fmt.Sprintf("%s/todo_%d.json", Bucket("todos", fmt.Sprint(rand.IntN(60))), rand.IntN(4))
			if _, ok := files[path]; ok && rand.IntN(3) == 0 {
				changes[path] = nil
				delete(files, path)
				continue
			}
			files[path] = fmt.Sprintf("%d %s\n", step, path)
			changes[path] = []byte(files[path])
		}
		out, err := r.Apply(ctx, put(fmt.Sprint("op-", step), changes))
		if err != nil {
			t.Fatal(err)
		}
		damage(t, r, step)
		if step%3 == 0 { // who needs the keys alone may come first
			if _, err := r.Keys(ctx, out.Tip, "todos", "v1", testRow); err != nil {
				t.Fatal(err)
			}
		}
		rows, err := r.Table(ctx, out.Tip, "todos", "v1", testRow)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, row := range rows {
			got[row.Name] = string(row.Data)
		}
		keys, err := r.Keys(ctx, out.Tip, "todos", "v1", testRow)
		if err != nil || len(keys) != len(rows) {
			t.Fatalf("step %d: %d keys of %d rows, %v", step, len(keys), len(rows), err)
		}
		for i := range keys {
			if keys[i].Name != rows[i].Name || keys[i].Key != rows[i].Key {
				t.Fatalf("step %d: key %v of row %v", step, keys[i], rows[i])
			}
		}
		if diff := cmp.Diff(files, got); diff != "" {
			t.Fatalf("step %d: %s", step, diff)
		}
	}
}

// damage does something to the cache file at some steps.
func damage(t *testing.T, r *testRepo, step int) {
	t.Helper()
	path := r.tablePath(testRef, "todos")
	b, err := os.ReadFile(path)
	if err != nil {
		return
	}
	switch step % 8 {
	case 3:
		b = b[:len(b)/2]
	case 5:
		b[len(b)-1] ^= 1
	case 6:
		b = nil
	case 7:
		b = bytes.Replace(b, []byte(`"v1"`), []byte(`"v2"`), 1)
	default:
		return
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestTableWithoutAPlaceForItsCache(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA256, Config{})
	out, err := r.Apply(ctx, put("op", map[string][]byte{"todos/ab/x": []byte("x")}))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(r.ownDir("cache")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.ownDir("cache"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	rows, err := r.Table(ctx, out.Tip, "todos", "v1", testRow)
	if err != nil || len(rows) != 1 || rows[0].Name != "todos/ab/x" {
		t.Errorf("rows = %v, %v", rows, err)
	}
	if rows, err := r.Table(ctx, out.Tip, "notes", "v1", testRow); err != nil || len(rows) != 0 {
		t.Errorf("absent directory: %v, %v", rows, err)
	}
}

// A table reads back as it was written.
func TestTableFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []Row
		for i := range rapid.IntRange(0, 20).Draw(t, "rows") {
			row := Row{Name: fmt.Sprintf("todos/%02d", i), Data: rapid.SliceOf(rapid.Byte()).Draw(t, "data")}
			copy(row.Key[:], rapid.SliceOfN(rapid.Byte(), 0, KeySize).Draw(t, "key"))
			rows = append(rows, row)
		}
		head := tableHead{version: "v 1\"\n", dir: "todos", tree: ObjectID(strings.Repeat("ab", 20))}
		got, tree, err := decodeTable(encodeTable(head, rows), SHA1, head)
		if err != nil || tree != head.tree || len(got) != len(rows) {
			t.Fatalf("%d rows, %s, %v", len(got), tree, err)
		}
		for i := range rows {
			if got[i].Name != rows[i].Name || got[i].Key != rows[i].Key || !bytes.Equal(got[i].Data, rows[i].Data) {
				t.Fatalf("row %d: %v, want %v", i, got[i], rows[i])
			}
		}
	})
}

// Whatever a table file says, decoding it does not panic, and what it accepts encodes back byte for byte.
func FuzzTableFile(f *testing.F) {
	head := tableHead{version: "v1", dir: "todos"}
	f.Add(encodeTable(head, nil))
	f.Add(encodeTable(head, []Row{{Name: "todos/ab/x", Data: []byte("x")}, {Name: "todos/cd/y"}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		rows, tree, err := decodeTable(b, SHA1, head)
		if err != nil {
			return
		}
		again := encodeTable(tableHead{version: head.version, dir: head.dir, tree: tree}, rows)
		_, wasBody, _ := bytes.Cut(b, []byte{'\n'})
		_, body, _ := bytes.Cut(again, []byte{'\n'})
		if !bytes.Equal(wasBody, body) {
			t.Errorf("%q became %q", wasBody, body)
		}
	})
}
