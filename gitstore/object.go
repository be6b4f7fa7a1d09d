package gitstore

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	githash "github.com/go-git/go-git/v5/plumbing/hash"
)

// ObjectID is the full lower-case hex id of an object: 40 digits, or 64 in a SHA-256 repository. "" is no object.
type ObjectID string

// Format is the object format of a repository.
type Format string

// The object formats of git.
const (
	SHA1   Format = "sha1"
	SHA256 Format = "sha256"
)

// HexLen returns the number of digits of an id.
func (f Format) HexLen() int {
	if f == SHA256 {
		return 64
	}
	return 40
}

// Zero returns the id that stands for "no object" in git's own commands.
func (f Format) Zero() ObjectID { return ObjectID(strings.Repeat("0", f.HexLen())) }

// Valid reports whether id is a full id of this format.
func (f Format) Valid(id ObjectID) bool {
	if len(id) != f.HexLen() {
		return false
	}
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// hasher returns the hash of the format: for SHA-1 the one that detects collisions, as git uses.
func (f Format) hasher() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return githash.New(crypto.SHA1)
}

// kind is the type of an object.
type kind string

const (
	blobKind   kind = "blob"
	treeKind   kind = "tree"
	commitKind kind = "commit"
)

// plumbingType is the kind as go-git names it.
func (k kind) plumbingType() plumbing.ObjectType {
	switch k {
	case blobKind:
		return plumbing.BlobObject
	case treeKind:
		return plumbing.TreeObject
	case commitKind:
		return plumbing.CommitObject
	}
	return plumbing.InvalidObject
}

// object is an object with its id.
type object struct {
	id      ObjectID
	kind    kind
	content []byte
}

// newObject computes the id.
func newObject(f Format, k kind, content []byte) object {
	h := f.hasher()
	fmt.Fprintf(h, "%s %d\x00", k, len(content))
	h.Write(content)
	return object{id: ObjectID(hex.EncodeToString(h.Sum(nil))), kind: k, content: content}
}

// fileMode is the mode of a tree entry as git writes it.
type fileMode string

const (
	modeFile fileMode = "100644"
	modeDir  fileMode = "40000"
)

// entry is one line of a tree.
type entry struct {
	mode fileMode
	name string
	id   ObjectID
}

func (e entry) isDir() bool { return e.mode == modeDir }

// sortKey orders entries as git does: a directory as if its name ended in a slash.
func (e entry) sortKey() string {
	if e.isDir() {
		return e.name + "/"
	}
	return e.name
}

var errTree = errors.New("malformed tree object")

// treeModes are the modes that git writes. Others, zero-padded ones too, would not be written back as they are.
var treeModes = []fileMode{modeFile, modeDir, "100755", "100664", "120000", "160000"}

// parseTree reads a tree object: entries in git's order, of modes that git writes, no empty or slashed name and none that
// git itself refuses.
func parseTree(f Format, b []byte) ([]entry, error) {
	raw := f.HexLen() / 2
	var entries []entry
	for len(b) > 0 {
		head, rest, ok := bytes.Cut(b, []byte{0})
		if !ok || len(rest) < raw {
			return nil, errTree
		}
		mode, name, ok := strings.Cut(string(head), " ")
		if !ok || name == "" || strings.Contains(name, "/") || !slices.Contains(treeModes, fileMode(mode)) {
			return nil, errTree
		}
		if name == "." || name == ".." || strings.EqualFold(name, ".git") {
			return nil, errTree
		}
		e := entry{mode: fileMode(mode), name: name, id: ObjectID(hex.EncodeToString(rest[:raw]))}
		if n := len(entries); n > 0 && entries[n-1].sortKey() >= e.sortKey() {
			return nil, errTree
		}
		entries = append(entries, e)
		b = rest[raw:]
	}
	return entries, nil
}

// encodeTree writes a tree object; entries are sorted as git sorts them.
func encodeTree(entries []entry) ([]byte, error) {
	var b bytes.Buffer
	for _, e := range entries {
		b.WriteString(string(e.mode))
		b.WriteByte(' ')
		b.WriteString(e.name)
		b.WriteByte(0)
		raw, err := hex.DecodeString(string(e.id))
		if err != nil {
			return nil, fmt.Errorf("tree entry %q: %w", e.name, err)
		}
		b.Write(raw)
	}
	return b.Bytes(), nil
}

// commit is what this package reads of a commit, and all that it writes.
type commit struct {
	tree    ObjectID
	parents []ObjectID
	ident   string // author and committer: "Name <email> seconds zone"
	message string
}

var errCommit = errors.New("malformed commit object")

// encode writes the commit object.
func (c commit) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", c.tree)
	for _, p := range c.parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author %s\ncommitter %s\n\n%s", c.ident, c.ident, c.message)
	return b.Bytes()
}

// parseCommit reads a commit; headers it does not know (encoding, gpgsig and its folded lines) are passed over.
func parseCommit(f Format, b []byte) (commit, error) {
	var c commit
	head, message, ok := strings.Cut(string(b), "\n\n")
	if !ok {
		return c, errCommit
	}
	c.message = message
	for i, line := range strings.Split(head, "\n") {
		key, value, ok := strings.Cut(line, " ")
		if !ok {
			return c, errCommit
		}
		switch {
		case i == 0:
			if c.tree = ObjectID(value); key != "tree" || !f.Valid(c.tree) {
				return c, errCommit
			}
		case key == "parent":
			if !f.Valid(ObjectID(value)) {
				return c, errCommit
			}
			c.parents = append(c.parents, ObjectID(value))
		case key == "committer":
			c.ident = value
		}
	}
	if c.tree == "" {
		return c, errCommit
	}
	return c, nil
}

// when returns the committer's time; the zero time where it cannot be read.
func (c commit) when() time.Time {
	fields := strings.Fields(c.ident)
	if len(fields) < 2 {
		return time.Time{}
	}
	seconds, err := strconv.ParseInt(fields[len(fields)-2], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}
