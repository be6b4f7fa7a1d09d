package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
)

// RefName is a full ref name, "refs/loopx/goals/demo".
type RefName string

// Ref is a ref with its value, or with the reason why it has none.
type Ref struct {
	Name RefName
	ID   ObjectID
	Err  error // *UnavailableError: the ref exists and cannot be read
}

// errAbsent is not yet ErrRefMissing: nobody but git says that a ref does not exist.
var errAbsent = errors.New("no such ref here")

// Resolve returns the value of a ref. ErrRefMissing only after git itself confirmed that it does not exist; a ref that
// cannot be read, is garbled, empty or symbolic is an *UnavailableError.
func (r *Repository) Resolve(ctx context.Context, name RefName) (ObjectID, error) {
	id, err := r.readRef(ctx, name)
	if !errors.Is(err, errAbsent) {
		return id, err
	}
	missing, err := r.confirmMissing(ctx, name)
	switch {
	case err != nil:
		return "", &UnavailableError{What: string(name), Err: err}
	case missing:
		return "", ErrRefMissing
	}
	// It exists after all: created since, or there in a form that only git understands.
	id, err = r.refThroughGit(ctx, name)
	if errors.Is(err, errAbsent) {
		return "", &UnavailableError{What: string(name), Err: errors.New("git knows the ref and cannot show it")}
	}
	return id, err
}

// readRef reads the ref without asking git where that is possible. errAbsent: there is none to be seen.
func (r *Repository) readRef(ctx context.Context, name RefName) (ObjectID, error) {
	if !r.files || r.plumbing {
		return r.refThroughGit(ctx, name)
	}
	id, err := r.looseRef(name)
	if !errors.Is(err, errAbsent) {
		return id, err
	}
	packed, err := r.packedRefs()
	if err != nil {
		return "", err
	}
	return r.packedRef(packed, name)
}

// looseRef reads the ref's own file. A loose ref hides a packed one, also when it is garbled.
func (r *Repository) looseRef(name RefName) (ObjectID, error) {
	path := filepath.Join(r.commonDir, filepath.FromSlash(string(name)))
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir):
		return "", errAbsent
	case err != nil:
		if info, serr := os.Stat(path); serr == nil && info.IsDir() {
			return "", errAbsent
		}
		return "", &UnavailableError{What: string(name), Err: err}
	}
	id, err := parseLooseRef(r.format, b)
	if err != nil {
		return "", &UnavailableError{What: string(name), Err: err}
	}
	return id, nil
}

// parseLooseRef reads the content of a loose ref. A symbolic ref is refused: in our space it could move a branch.
func parseLooseRef(f Format, b []byte) (ObjectID, error) {
	if bytes.HasPrefix(b, []byte("ref:")) {
		return "", errors.New("the ref is symbolic")
	}
	n := f.HexLen()
	if len(b) < n || len(bytes.TrimSpace(b[n:])) > 0 || !f.Valid(ObjectID(b[:n])) {
		if len(b) == 0 {
			return "", errors.New("the ref file is empty")
		}
		return "", errors.New("the ref file holds no object id")
	}
	if len(b) > n && b[n] != '\n' && b[n] != ' ' && b[n] != '\t' && b[n] != '\r' {
		return "", errors.New("the ref file holds no object id")
	}
	return ObjectID(b[:n]), nil
}

// packedRefs reads the packed refs; nil where there are none.
func (r *Repository) packedRefs() ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(r.commonDir, "packed-refs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &UnavailableError{What: "packed-refs", Err: err}
	}
	return b, nil
}

// packedRef looks a name up among the packed refs.
func (r *Repository) packedRef(packed []byte, name RefName) (ObjectID, error) {
	needle := append(append([]byte{' '}, name...), '\n')
	for at := 0; ; {
		i := bytes.Index(packed[at:], needle)
		if i < 0 {
			return "", errAbsent
		}
		i += at
		start := bytes.LastIndexByte(packed[:i], '\n') + 1
		if id := ObjectID(packed[start:i]); r.format.Valid(id) {
			return id, nil
		}
		at = i + 1
	}
}

// refFormat has a NUL where no name has one.
const refFormat = "--format=%(refname)%00%(objectname)%00%(symref)"

// refThroughGit asks for-each-ref, which takes a whole name as a pattern and never tries refs/tags/<name>.
func (r *Repository) refThroughGit(ctx context.Context, name RefName) (ObjectID, error) {
	refs, err := r.listThroughGit(ctx, name)
	if err != nil {
		return "", err
	}
	for _, ref := range refs {
		if ref.Name == name {
			return ref.ID, ref.Err
		}
	}
	return "", errAbsent
}

func (r *Repository) listThroughGit(ctx context.Context, pattern RefName) ([]Ref, error) {
	out, err := r.git.run(ctx, nil, "for-each-ref", refFormat, string(pattern))
	if err != nil {
		return nil, &UnavailableError{What: string(pattern), Err: err}
	}
	return parseRefs(r.format, string(out))
}

// parseRefs reads the output of for-each-ref in refFormat.
func parseRefs(f Format, out string) ([]Ref, error) {
	var refs []Ref
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		if line == "" {
			continue
		}
		fields := strings.Split(line, "\x00")
		if len(fields) != 3 || !f.Valid(ObjectID(fields[1])) {
			return nil, &UnavailableError{What: "for-each-ref", Err: fmt.Errorf("unexpected line %q", line)}
		}
		ref := Ref{Name: RefName(fields[0]), ID: ObjectID(fields[1])}
		if fields[2] != "" {
			ref.ID, ref.Err = "", &UnavailableError{What: fields[0], Err: errors.New("the ref is symbolic")}
		}
		refs = append(refs, ref)
	}
	return refs, nil
}

// Refs lists the refs directly or deeper below a prefix that ends in "/", by name. A ref that cannot be read is in the
// list with its error, but for one that git itself passes over where only git can list them.
func (r *Repository) Refs(ctx context.Context, prefix RefName) ([]Ref, error) {
	if !r.files || r.plumbing {
		return r.listThroughGit(ctx, RefName(strings.TrimSuffix(string(prefix), "/")))
	}
	names := map[RefName]bool{}
	root := filepath.Join(r.commonDir, filepath.FromSlash(string(prefix)))
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if rel, rerr := filepath.Rel(r.commonDir, path); rerr == nil && !d.IsDir() && !strings.HasSuffix(path, ".lock") && !strings.HasPrefix(d.Name(), ".") {
			names[RefName(filepath.ToSlash(rel))] = true
		}
		return nil
	})
	if err != nil {
		return nil, &UnavailableError{What: string(prefix), Err: err}
	}
	packed, err := r.packedRefs()
	if err != nil {
		return nil, err
	}
	for _, name := range packedNames(packed, prefix) {
		names[name] = true
	}
	refs := make([]Ref, 0, len(names))
	for name := range names {
		id, err := r.looseRef(name)
		refs = append(refs, Ref{Name: name, ID: id, Err: err})
	}
	// What is not loose is packed, or was packed since: packed-refs is read once more, after the loose refs.
	if packed, err = r.packedRefs(); err != nil {
		return nil, err
	}
	for i, ref := range refs {
		if !errors.Is(ref.Err, errAbsent) {
			continue
		}
		if refs[i].ID, refs[i].Err = r.packedRef(packed, ref.Name); refs[i].Err != nil {
			refs[i].ID, refs[i].Err = r.readRef(ctx, ref.Name)
		}
	}
	refs = slices.DeleteFunc(refs, func(ref Ref) bool { return errors.Is(ref.Err, errAbsent) }) // gone since
	sort.Slice(refs, func(i, j int) bool { return refs[i].Name < refs[j].Name })
	return refs, nil
}

// packedNames lists the packed refs below a prefix.
func packedNames(packed []byte, prefix RefName) []RefName {
	var names []RefName
	needle := append([]byte{' '}, prefix...)
	for {
		i := bytes.Index(packed, needle)
		if i < 0 {
			return names
		}
		rest := packed[i+1:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			return names
		}
		names = append(names, RefName(rest[:end]))
		packed = rest[end:]
	}
}

// confirmMissing lets git say that a ref does not exist: show-ref --exists (git 2.43) by its status 2, else a
// transaction that verifies the absence, prepared and aborted.
func (r *Repository) confirmMissing(ctx context.Context, name RefName) (bool, error) {
	_, err := r.git.run(ctx, nil, "show-ref", "--exists", string(name))
	switch exitCode(err) {
	case 2:
		return true, nil
	case -1:
		if err == nil {
			return false, nil
		}
		return false, err
	}
	made := r.missingDirs(name)
	t, err := r.begin(ctx, nil)
	if err == nil {
		if err = t.prepare(r.format, []RefChange{{Ref: name}}); err == nil {
			t.abort()
		}
	}
	for _, d := range made {
		os.Remove(d) // only if empty: the lock file of the question left the directories behind
	}
	if err == nil {
		return true, nil
	}
	if id, rerr := r.readRef(ctx, name); rerr == nil && id != "" {
		return false, nil
	}
	return false, err
}

// missingDirs lists the directories above a ref's file that do not exist, deepest first.
func (r *Repository) missingDirs(name RefName) []string {
	var dirs []string
	for d := filepath.Dir(filepath.Join(r.commonDir, filepath.FromSlash(string(name)))); d != r.commonDir; d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err == nil {
			break
		}
		dirs = append(dirs, d)
	}
	return dirs
}
