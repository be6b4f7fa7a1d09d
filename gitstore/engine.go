package gitstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// Apply applies one operation (storage.md, section 3): admission, receipt, pinned revision, decision, one commit, one
// swap. It may be called by many at once and again with the same operation id, which then answers with the receipt.
//
// Errors: what Admit and Decide return; *UnavailableError, *DamagedError (nothing was written); *MismatchError,
// *IdentityError, *BusyError, *WriteError, *IdentityMissingError, ErrQuarantine (nothing was acknowledged and the ref did
// not move); ErrRefMissing unless the operation creates; *AmbiguousError (repeat it with the same id).
func (r *Repository) Apply(ctx context.Context, op Operation) (Outcome, error) {
	if r.quarantine && !op.DryRun {
		return Outcome{}, ErrQuarantine
	}
	limited, cancel := r.limit(ctx)
	defer cancel()
	if !op.DryRun {
		done := r.queue(limited, op.Ref) // for half the time at most
		defer done()
	}
	e := engine{r: r, op: op}
	for {
		out, again, err := e.attempt(limited)
		if err == nil && !again {
			return out, nil
		}
		if err == nil && limited.Err() == nil {
			continue
		}
		if ambiguous := (*AmbiguousError)(nil); errors.As(err, &ambiguous) {
			return Outcome{}, err
		}
		if limited.Err() == nil || err != nil && !errors.Is(err, context.Canceled) {
			return Outcome{}, err
		}
		if out, found, err := e.late(ctx); found || err != nil {
			return out, err
		}
		if ctx.Err() != nil {
			return Outcome{}, ctx.Err()
		}
		return Outcome{}, &BusyError{Ref: op.Ref, Lock: r.heldLock([]RefChange{{Ref: op.Ref}})}
	}
}

// late looks once more for the receipt when the time is over and a swap was attempted: others may have written on top of
// it before its answer came.
func (e *engine) late(ctx context.Context) (out Outcome, found bool, err error) {
	if !e.tried {
		return out, false, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), childGrace)
	defer cancel()
	tip, err := e.load(ctx)
	if err != nil {
		return out, false, &AmbiguousError{OperationID: e.op.ID, Err: err}
	}
	receipt, err := e.r.FindReceipt(ctx, tip, e.op.ID)
	if err != nil {
		return out, false, &AmbiguousError{OperationID: e.op.ID, Err: err}
	}
	if receipt == nil {
		return out, false, nil
	}
	out, err = e.replay(ctx, tip, *receipt)
	return out, true, err
}

// limit ends an operation after loopx.timeout, counted from now. The setting is waited for beside the operation.
func (r *Repository) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancel(ctx)
	began := time.Now()
	go func() {
		settings, err := r.Settings(ctx)
		if err != nil {
			return // the operation itself finds out, before it writes
		}
		late := time.NewTimer(settings.timeout() - time.Since(began))
		defer late.Stop()
		select {
		case <-late.C:
			cancel()
		case <-limited.Done():
		}
	}()
	return limited, cancel
}

// engine is one call of Apply.
type engine struct {
	r        *Repository
	op       Operation
	settings Settings
	tried    bool // a swap was attempted, so that a receipt found now is this call's own
}

// attempt goes once through the steps. again: the ref moved under an operation that is not pinned.
func (e *engine) attempt(ctx context.Context) (out Outcome, again bool, err error) {
	tip, err := e.load(ctx)
	if err != nil {
		return out, false, err
	}
	if e.op.Admit != nil {
		if err := e.op.Admit(ctx, tip); err != nil {
			return out, false, err
		}
	}
	receipt, err := e.r.FindReceipt(ctx, tip, e.op.ID)
	if err != nil {
		return out, false, err
	}
	if receipt != nil {
		out, err := e.replay(ctx, tip, *receipt)
		return out, false, err
	}
	moved := e.op.Expected != "" && e.op.Expected != tip.revision
	mismatch := &MismatchError{Expected: e.op.Expected, Current: tip.revision}
	if moved && !e.op.ExpectedLast {
		return out, false, mismatch
	}
	change, err := e.op.Decide(ctx, tip)
	if err != nil {
		return out, false, err
	}
	if moved {
		return out, false, mismatch
	}
	planned, err := e.receipt(tip, change)
	if err != nil {
		return out, false, err
	}
	if e.settings, err = e.r.Settings(ctx); err != nil {
		return out, false, err
	}
	if e.op.DryRun {
		return Outcome{Status: Planned, Changed: len(change.Files) > 0, Receipt: planned, Tip: tip}, false, nil
	}
	return e.write(ctx, tip, change, planned)
}

// load reads the tip. A ref that the operation may create counts as absent when it cannot be seen; the swap's create
// then is git's own word on that.
func (e *engine) load(ctx context.Context) (*Snapshot, error) {
	if !e.op.Creates {
		return e.r.Load(ctx, e.op.Ref)
	}
	id, err := e.r.readRef(ctx, e.op.Ref)
	if err != nil && !errors.Is(err, errAbsent) {
		return nil, err
	}
	return e.r.At(e.op.Ref, id), nil
}

// replay answers with a receipt that is there already.
func (e *engine) replay(ctx context.Context, tip *Snapshot, receipt Receipt) (Outcome, error) {
	if receipt.Request != e.op.Request {
		return Outcome{}, &IdentityError{OperationID: e.op.ID, Kind: receipt.Kind, At: receipt.At}
	}
	if err := e.settle(ctx); err != nil {
		return Outcome{}, err
	}
	status := Replayed
	if e.tried {
		status = Recovered
	}
	return Outcome{Status: status, Receipt: receipt, Tip: tip}, nil
}

// settle makes a value of the ref durable that an earlier call, or one whose answer was lost, may have left unsynced.
func (e *engine) settle(ctx context.Context) error {
	settings, err := e.r.Settings(ctx)
	if err != nil {
		return err
	}
	if settings.durability() == asGit {
		return nil
	}
	if err := e.r.syncRefs([]RefChange{{Ref: e.op.Ref}}); err != nil {
		return &AmbiguousError{OperationID: e.op.ID, Err: err}
	}
	return nil
}

// receipt builds the operation's receipt.
func (e *engine) receipt(tip *Snapshot, change Change) (Receipt, error) {
	result := change.Result
	if result == nil {
		result = struct{}{}
	}
	value, err := canonical.Marshal(result)
	if err != nil {
		return Receipt{}, fmt.Errorf("result of %s: %w", e.op.Kind, err)
	}
	todo := e.op.Todo
	if change.Todo != "" {
		todo = change.Todo
	}
	return Receipt{
		OperationID: e.op.ID, Kind: e.op.Kind, Goal: e.op.Goal, Todo: todo, Request: e.op.Request,
		Expected: e.op.Expected, Parent: tip.revision, Result: value, At: e.r.now().UTC(),
	}, nil
}

// write stores the objects and swaps the ref.
func (e *engine) write(ctx context.Context, tip *Snapshot, change Change, receipt Receipt) (out Outcome, again bool, err error) {
	objects, revision, err := e.build(ctx, tip, change, receipt)
	if err != nil {
		return out, false, err
	}
	receipt.Revision = revision
	done := Outcome{Status: Applied, Changed: len(change.Files) > 0, Receipt: receipt}
	if !done.Changed {
		done.Status = NoChange
	}
	move := []RefChange{{Ref: e.op.Ref, Old: tip.revision, New: revision}}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), e.settings.timeout()+childGrace)
	defer cancel()
	for failures := 0; ; {
		e.tried = true
		end, swapErr := e.store(ctx, move, objects)
		now, readErr := e.current(after)
		switch {
		case end == swapped && swapErr != nil, end == unclear && readErr != nil:
			return out, false, &AmbiguousError{OperationID: e.op.ID, Err: swapErr}
		case end == swapped:
			e.r.mu.Lock()
			e.r.mutations++
			e.r.mu.Unlock()
			if readErr != nil {
				now = revision
			}
			done.Tip = e.r.At(e.op.Ref, now)
			return done, false, nil
		case readErr != nil:
			return out, false, readErr
		case now == revision: // committed without saying so
			if err := e.settle(after); err != nil {
				return out, false, err
			}
			done.Status = Recovered
			done.Tip = e.r.At(e.op.Ref, now)
			return done, false, nil
		case now != tip.revision:
			again, err := e.lost(ctx, now)
			return out, again, err
		case errors.Is(swapErr, ErrQuarantine):
			return out, false, swapErr
		case ctx.Err() != nil:
			return out, false, ctx.Err()
		case e.r.heldLock(move) != "":
			continue // git itself waited for the lock before it gave up
		}
		most := 3
		if e.r.collecting() {
			most = 30 // a gc removes temporary files of others, too; it comes to its end
		}
		if failures++; failures >= most {
			return out, false, asWriteError(swapErr)
		}
	}
}

// lost decides what a swap that another writer won means. The winner may have been this very operation.
func (e *engine) lost(ctx context.Context, now ObjectID) (again bool, err error) {
	if e.op.Expected == "" {
		return true, nil
	}
	receipt, err := e.r.FindReceipt(context.WithoutCancel(ctx), e.r.At(e.op.Ref, now), e.op.ID)
	if err != nil {
		return false, &AmbiguousError{OperationID: e.op.ID, Err: err}
	}
	if receipt != nil {
		return true, nil // the next attempt finds it before it looks at the revision
	}
	return false, &MismatchError{Expected: e.op.Expected, Current: now}
}

func asWriteError(err error) error {
	var w *WriteError
	if errors.As(err, &w) {
		return w
	}
	return &WriteError{Err: err}
}

// current reads the ref again; "" where it does not exist.
func (e *engine) current(ctx context.Context) (ObjectID, error) {
	id, err := e.r.readRef(ctx, e.op.Ref)
	if errors.Is(err, errAbsent) {
		return "", nil
	}
	return id, err
}

// build makes all objects of the next commit.
func (e *engine) build(ctx context.Context, tip *Snapshot, change Change, receipt Receipt) ([]object, ObjectID, error) {
	said := e.r.ask()
	if said.identErr != nil {
		return nil, "", said.identErr
	}
	files := make(map[string][]byte, len(change.Files)+1)
	for path, content := range change.Files {
		files[path] = content
	}
	blob, err := encodeReceipt(receipt)
	if err != nil {
		return nil, "", err
	}
	files[ReceiptPath(e.op.ID)] = blob
	root, objects, err := tip.edit(ctx, files)
	if err != nil {
		return nil, "", err
	}
	c := commit{tree: root, ident: said.ident, message: message(change.Subject, e.op)}
	if tip.revision != "" {
		c.parents = []ObjectID{tip.revision}
	}
	o := newObject(e.r.format, commitKind, c.encode())
	objects = append(objects, o)
	e.r.memory.keep(objects...)
	return objects, o.id, nil
}

// store writes the objects and runs the swap; git starts and takes its locks meanwhile. While git collects garbage, the
// objects go into a kept pack. That is looked for before writing, again when all is ready to commit, and once more
// before the answer: a gc that read the refs before the swap may still be running, or have removed the objects.
func (e *engine) store(ctx context.Context, move []RefChange, objects []object) (swapEnd, error) {
	sync := e.settings.durability() == onDisk
	t, err := e.r.begin(ctx, e.settings)
	if err != nil {
		return refused, err
	}
	var kept *keptPack
	defer func() {
		if kept != nil {
			kept.release()
		}
	}()
	finish := func() error { return nil }
	if e.r.collecting() {
		kept, err = e.r.writeKept(ctx, objects, sync)
	} else {
		finish, err = e.r.sink(e.settings).write(ctx, objects, sync)
	}
	if err != nil {
		t.abort()
		return refused, err
	}
	save := func(ctx context.Context) error {
		if kept != nil && kept.there() || kept == nil && !e.r.collecting() && e.r.stored(objects) {
			return nil
		}
		if kept != nil {
			kept.release()
		}
		var err error
		kept, err = e.r.writeKept(ctx, objects, sync)
		return err
	}
	end, err := e.r.finish(t, e.settings, move, finish, func() error { return save(ctx) })
	if end == refused {
		return end, err
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), childGrace)
	defer cancel()
	if serr := save(after); serr != nil {
		return end, errors.Join(err, serr)
	}
	return end, err
}
