package gitstore

import (
	"context"
	"errors"
)

// objectStore is where objects come from and go to. It has two implementations that pass one test suite: native reads
// and writes loose objects itself and leaves the rest to git, plumbing leaves everything to git.
type objectStore interface {
	// read hands every object to each, once and by index, in any order. An object that is not here has the error
	// ErrObjectMissing. An error of each ends the reading and is returned; each must not read objects itself.
	read(ctx context.Context, ids []ObjectID, each func(i int, a answer) error) error
	// write stores objects so that they can be read by their ids. With sync they are on disk, names included, once the
	// returned function, which may run beside other work, has returned. Errors: *WriteError, or that of ctx.
	write(ctx context.Context, objects []object, sync bool) (finish func() error, err error)
}

type nativeObjects struct{ r *Repository }

func (n nativeObjects) read(ctx context.Context, ids []ObjectID, each func(int, answer) error) error {
	var rest []ObjectID
	var index []int
	for i, id := range ids {
		k, content, err := n.r.readLoose(id)
		if errors.Is(err, errAbsent) {
			rest, index = append(rest, id), append(index, i)
			continue
		}
		if err := each(i, answer{kind: k, content: content, err: err}); err != nil {
			return err
		}
	}
	if len(rest) == 0 {
		return nil
	}
	if n.r.looseOnly {
		return errAbsent
	}
	return gitObjects(n).read(ctx, rest, func(i int, a answer) error { return each(index[i], a) })
}

func (n nativeObjects) write(_ context.Context, objects []object, sync bool) (func() error, error) {
	return n.r.writeLoose(objects, sync)
}

type gitObjects struct{ r *Repository }

func (p gitObjects) read(ctx context.Context, ids []ObjectID, each func(int, answer) error) error {
	return p.r.reader.read(ctx, ids, each)
}

func (p gitObjects) write(ctx context.Context, objects []object, sync bool) (func() error, error) {
	return func() error { return nil }, p.r.writeUnpacked(ctx, objects, sync)
}

// source returns the store to read from.
func (r *Repository) source() objectStore {
	if r.plumbing {
		return gitObjects{r}
	}
	return nativeObjects{r}
}

// sink returns the store to write to: git itself where the repository is anything that is not fully understood here.
func (r *Repository) sink(s Settings) objectStore {
	if r.plumbing || !s.plainObjects() {
		return gitObjects{r}
	}
	return nativeObjects{r}
}

// readObject reads one object of an expected kind.
func (r *Repository) readObject(ctx context.Context, id ObjectID, want kind) ([]byte, error) {
	if o, ok := r.memory.object(id); ok && o.kind == want {
		return o.content, nil
	}
	var got answer
	err := r.source().read(ctx, []ObjectID{id}, func(_ int, a answer) error {
		got = a
		return nil
	})
	switch {
	case err != nil:
		return nil, &UnavailableError{What: "object " + string(id), Err: err}
	case got.err != nil:
		return nil, &UnavailableError{What: "object " + string(id), Err: got.err}
	case got.kind != want:
		return nil, &DamagedError{Path: "object " + string(id), Err: errors.New("it is a " + string(got.kind) + ", not a " + string(want))}
	}
	if r.looseOnly {
		r.memory.keep(object{id: id, kind: got.kind, content: got.content})
	}
	return got.content, nil
}
