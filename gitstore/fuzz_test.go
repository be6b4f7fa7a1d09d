package gitstore

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	gogit "github.com/go-git/go-git/v5/plumbing/object"
)

// Whatever tree is accepted is written back byte for byte, and go-git's object layer reads the same entries.
func FuzzTree(f *testing.F) {
	id := bytes.Repeat([]byte{0xab}, 20)
	f.Add([]byte{})
	f.Add(append([]byte("100644 a.json\x00"), id...))
	f.Add(append(append(append([]byte("100644 a.b\x00"), id...), "40000 a\x00"...), id...))
	f.Fuzz(func(t *testing.T, b []byte) {
		entries, err := parseTree(SHA1, b)
		if err != nil {
			return
		}
		again, err := encodeTree(entries)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("%q became %q, %v", b, again, err)
		}
		var o plumbing.MemoryObject
		o.SetType(plumbing.TreeObject)
		o.Write(b)
		var tree gogit.Tree
		if tree.Decode(&o) != nil {
			return // a mode that go-git does not take
		}
		if len(tree.Entries) != len(entries) {
			t.Fatalf("%d entries, go-git has %d", len(entries), len(tree.Entries))
		}
		for i, e := range tree.Entries {
			if e.Name != entries[i].name || e.Hash.String() != string(entries[i].id) {
				t.Errorf("entry %d: %v, go-git has %v", i, entries[i], e)
			}
		}
	})
}

// A commit that is accepted names a tree and parents that are ids; what was encoded reads back equal.
func FuzzCommit(f *testing.F) {
	id := ObjectID(strings.Repeat("ab", 20))
	f.Add(commit{tree: id, parents: []ObjectID{id}, ident: "Ada <ada@example.com> 1789286400 +0000", message: "a b\n\nK: v\n"}.encode())
	f.Add([]byte("tree " + string(id) + "\nauthor x\ncommitter y <> 5 +0000\ngpgsig a\n b\n\nsubject"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseCommit(SHA1, b)
		if err != nil {
			return
		}
		if !SHA1.Valid(c.tree) {
			t.Errorf("tree %q", c.tree)
		}
		c.when()
		if strings.ContainsAny(c.ident, "\n") {
			t.Errorf("ident %q", c.ident)
		}
		again, err := parseCommit(SHA1, c.encode())
		if err != nil || again.tree != c.tree || again.ident != c.ident || again.message != c.message {
			t.Errorf("%+v became %+v, %v", c, again, err)
		}
		describe(id, c)
	})
}

// A receipt that is accepted is written back byte for byte.
func FuzzReceipt(f *testing.F) {
	b, err := encodeReceipt(Receipt{OperationID: "op-1", Kind: "test", Goal: "demo", Request: strings.Repeat("a", 64), Result: []byte("{}")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeReceipt(ReceiptPath("op-1"), b)
		if err != nil {
			return
		}
		again, err := encodeReceipt(r)
		if err != nil || !bytes.Equal(b, again) {
			t.Errorf("%q became %q, %v", b, again, err)
		}
	})
}

// A value of any kind stays on its line in a commit message, and reads back.
func FuzzOneLine(f *testing.F) {
	for _, s := range []string{"", "a b", "100%", "a\nLoopx-Agent: b", "\u202e\u2028\x1b[0m", "%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		line := oneLine(s)
		if strings.ContainsAny(line, "\n\r\x00\x1b\u2028\u2029\u202e") {
			t.Errorf("%q", line)
		}
		if s == strings.ToValidUTF8(s, "\ufffd") && unescape(line) != s {
			t.Errorf("%q became %q", s, unescape(line))
		}
	})
}

// What other commands print is never taken for what it is not: discovery gives absolute paths and a known format.
func FuzzDiscovery(f *testing.F) {
	f.Add("/a/.git\n/a/.git\n/a/.git/objects\nsha1\nfalse\n--show-ref-format\n/a\n")
	f.Add("/a\n/a\n/a/objects\nsha256\ntrue\nreftable\n")
	f.Fuzz(func(t *testing.T, out string) {
		d, err := parseDiscovery(out)
		if err != nil {
			return
		}
		for _, p := range []string{d.gitDir, d.commonDir, d.objectDir} {
			if !strings.HasPrefix(p, "/") || strings.Contains(p, "\n") {
				t.Errorf("path %q of %q", p, out)
			}
		}
		if d.format.HexLen() == 40 != (d.format == SHA1) {
			t.Errorf("format %q", d.format)
		}
	})
}

// Loose refs, lists of refs, the configuration, versions and the heads of cat-file: no panic, and only ids for ids.
func FuzzCommandOutput(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add(id + "\n")
	f.Add("refs/loopx/goals/a\x00" + id + "\x00\n")
	f.Add("user.name\nAda\x00core.bare\x00")
	f.Add("git version 2.39.5 (Apple Git-154)\n")
	f.Add(id + " blob 3\nabc\n")
	f.Add(id + " missing\n")
	f.Fuzz(func(t *testing.T, out string) {
		if got, err := parseLooseRef(SHA1, []byte(out)); err == nil && (!SHA1.Valid(got) || !strings.HasPrefix(out, string(got))) {
			t.Errorf("ref %q of %q", got, out)
		}
		refs, err := parseRefs(SHA1, out)
		for _, r := range refs {
			if err == nil && r.Err == nil && !SHA1.Valid(r.ID) {
				t.Errorf("ref %v of %q", r, out)
			}
		}
		parseVariables(out)
		s := parseSettings(out)
		s.timeout()
		s.plainObjects()
		s.hookNames()
		if v := parseVersion(out); strings.Trim(v, "0123456789.") != "" {
			t.Errorf("version %q", v)
		} else {
			olderThan(v, OldestGit)
		}
		a, err := readAnswer(bufio.NewReader(strings.NewReader(out)), ObjectID(id))
		if err == nil && a.err == nil {
			if want := fmt.Sprintf("%s %s %d\n%s\n", id, a.kind, len(a.content), a.content); !strings.HasPrefix(out, want) {
				// leading zeros of the size are the one thing that is read and not written
				if !strings.Contains(out, "0") && !strings.Contains(out, "+") {
					t.Errorf("answer %q of %q", want, out)
				}
			}
		}
	})
}

// What go-git writes as a loose object and what git's own id says agree with ours, for both formats.
func TestObjectIDsAreGits(t *testing.T) {
	for _, f := range []Format{SHA1, SHA256} {
		r := newRepo(t, f, Config{})
		write(t, r.dir+"/x", "some text\n")
		want := r.run("hash-object", "x")
		if got := newObject(f, blobKind, []byte("some text\n")).id; string(got) != want {
			t.Errorf("%s: %s, git says %s", f, got, want)
		}
	}
	var o plumbing.MemoryObject
	o.SetType(plumbing.BlobObject)
	io.WriteString(&o, "some text\n")
	if got := newObject(SHA1, blobKind, []byte("some text\n")).id; string(got) != o.Hash().String() {
		t.Errorf("%s, go-git says %s", got, o.Hash())
	}
}
