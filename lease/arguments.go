package lease

import (
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// Check is step 1 of continuation.md, section 3, for what a lease is asked for with: invalid_idempotency_key, invalid_ttl,
// invalid_expected_version; family for write scopes that are malformed or too many.
func (r Request) Check(family todo.Code) error {
	if err := todo.First(checkKey(r.Key), checkTTL(r.TTL), checkVersion(r.ExpectedVersion)); err != nil {
		return err
	}
	if !todo.ValidScopes(todo.SetOf(r.WriteScopes)) {
		return todo.Fail(family, "write scopes must be at most %d relative paths of at most %d characters", todo.MaxReferences, todo.MaxScope)
	}
	return nil
}

func (r AcquireRequest) check() error {
	return todo.First(checkOwner(r.Owner), r.Request.Check(CodeInvalidAcquireRequest), todo.CheckCall(r.call(), CodeInvalidAcquireRequest), checkTodo(r.Todo, CodeInvalidAcquireRequest))
}

func (r RenewRequest) check() error {
	return todo.First(r.Held.check(r.TTL), r.checkPlace())
}

func (r TransferRequest) check() error {
	if err := r.Held.check(r.TTL); err != nil {
		return err
	}
	switch {
	case r.NewOwner == "":
		return todo.Fail(CodeInvalidLifecycleRequest, "no new owner given")
	case r.NewKey == "":
		return todo.Fail(CodeInvalidLifecycleRequest, "no new idempotency key given")
	}
	return todo.First(checkOwner(r.NewOwner), checkKey(r.NewKey), r.checkPlace())
}

func (r ReleaseRequest) check() error {
	return todo.First(r.Held.check(nil), r.checkPlace())
}

// check is for what renew, transfer and release prove a lease with.
func (h Held) check(ttl *int64) error {
	if err := todo.First(checkOwner(h.Owner), checkKey(h.Key), checkTTL(ttl), checkVersion(h.ExpectedVersion)); err != nil {
		return err
	}
	if h.ExpectedVersion == nil {
		return todo.Fail(CodeVersionRequired, "no expected version given")
	}
	return nil
}

func (h Held) checkPlace() error {
	return todo.First(todo.CheckCall(h.call(), CodeInvalidLifecycleRequest), checkTodo(h.Todo, CodeInvalidLifecycleRequest))
}

func checkTodo(id todo.ID, family todo.Code) error {
	if id == "" {
		return todo.Fail(family, "no todo given")
	}
	return nil
}

func checkOwner(a todo.AgentID) error {
	if !a.Valid() {
		return todo.Fail(CodeInvalidOwner, "owner %q: no agent id", todo.Clean(a))
	}
	return nil
}

func checkKey(key string) error {
	if !todo.ValidKey(key) {
		return todo.Fail(CodeInvalidKey, "idempotency key %q: not 1 to 160 of the characters A-Z a-z 0-9 _ . : @ / -", todo.Clean(key))
	}
	return nil
}

func checkTTL(seconds *int64) error {
	if seconds != nil && (*seconds < 1 || *seconds > MaxTTL) {
		return todo.Fail(CodeInvalidTTL, "ttl of %d seconds: not 1 to %d", *seconds, MaxTTL)
	}
	return nil
}

func checkVersion(v *int64) error {
	if v != nil && (*v < 0 || *v > canonical.MaxInteger) {
		return todo.Fail(CodeInvalidExpectedVersion, "expected version %d: not 0 to %d", *v, int64(canonical.MaxInteger))
	}
	return nil
}

// call is the caller in the terms of package todo.
func (c Caller) call() todo.Call {
	return todo.Call{Goal: c.Goal, Todo: c.Todo, Session: c.Session, DryRun: c.DryRun}
}
