package lease

import (
	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// Check is step 1 of continuation.md, section 3, for what a lease is asked for with: invalid_idempotency_key, invalid_ttl,
// invalid_expected_version; family for write scopes that are malformed or too many.
func (r Request) Check(family todo.Code) error {
	if err := firstError(checkKey(r.Key), checkTTL(r.TTL), checkVersion(r.ExpectedVersion)); err != nil {
		return err
	}
	if !todo.ValidScopes(setOf(r.WriteScopes)) {
		return failed(family, "write scopes must be at most %d relative paths of at most %d characters", todo.MaxReferences, todo.MaxScope)
	}
	return nil
}

func (r AcquireRequest) check() error {
	return firstError(checkOwner(r.Owner), r.Request.Check(CodeInvalidAcquireRequest), todo.CheckCall(r.call(), CodeInvalidAcquireRequest), checkTodo(r.Todo, CodeInvalidAcquireRequest))
}

func (r RenewRequest) check() error {
	return firstError(checkHolder(r.Owner, r.Key, r.TTL, r.ExpectedVersion), checkLifecycle(r.call()))
}

func (r TransferRequest) check() error {
	if err := checkHolder(r.Owner, r.Key, r.TTL, r.ExpectedVersion); err != nil {
		return err
	}
	switch {
	case r.NewOwner == "":
		return failed(CodeInvalidLifecycleRequest, "no new owner given")
	case r.NewKey == "":
		return failed(CodeInvalidLifecycleRequest, "no new idempotency key given")
	}
	return firstError(checkOwner(r.NewOwner), checkKey(r.NewKey), checkLifecycle(r.call()))
}

func (r ReleaseRequest) check() error {
	return firstError(checkHolder(r.Owner, r.Key, nil, r.ExpectedVersion), checkLifecycle(r.call()))
}

// checkHolder is for what renew, transfer and release prove a lease with.
func checkHolder(owner todo.AgentID, key string, ttl, version *int64) error {
	if err := firstError(checkOwner(owner), checkKey(key), checkTTL(ttl), checkVersion(version)); err != nil {
		return err
	}
	if version == nil {
		return failed(CodeVersionRequired, "no expected version given")
	}
	return nil
}

func checkLifecycle(c todo.Call) error {
	return firstError(todo.CheckCall(c, CodeInvalidLifecycleRequest), checkTodo(c.Todo, CodeInvalidLifecycleRequest))
}

func checkTodo(id todo.ID, family todo.Code) error {
	if id == "" {
		return failed(family, "no todo given")
	}
	return nil
}

func checkOwner(a todo.AgentID) error {
	if !a.Valid() {
		return failed(CodeInvalidOwner, "owner %q: no agent id", clean(a))
	}
	return nil
}

func checkKey(key string) error {
	if !todo.ValidKey(key) {
		return failed(CodeInvalidKey, "idempotency key %q: not 1 to 160 of the characters A-Z a-z 0-9 _ . : @ / -", clean(key))
	}
	return nil
}

func checkTTL(seconds *int64) error {
	if seconds != nil && (*seconds < 1 || *seconds > MaxTTL) {
		return failed(CodeInvalidTTL, "ttl of %d seconds: not 1 to %d", *seconds, MaxTTL)
	}
	return nil
}

func checkVersion(v *int64) error {
	if v != nil && (*v < 0 || *v > canonical.MaxInteger) {
		return failed(CodeInvalidExpectedVersion, "expected version %d: not 0 to %d", *v, int64(canonical.MaxInteger))
	}
	return nil
}

// firstError returns the first error that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// call is what the request says besides the verb's own arguments. It has no actor: a lease verb names an owner.
func (r AcquireRequest) call() todo.Call {
	return todo.Call{Goal: r.Goal, Todo: r.Todo, Session: r.Session, DryRun: r.DryRun}
}

func (r RenewRequest) call() todo.Call {
	return todo.Call{Goal: r.Goal, Todo: r.Todo, Session: r.Session, DryRun: r.DryRun}
}

func (r TransferRequest) call() todo.Call {
	return todo.Call{Goal: r.Goal, Todo: r.Todo, Session: r.Session, DryRun: r.DryRun}
}

func (r ReleaseRequest) call() todo.Call {
	return todo.Call{Goal: r.Goal, Todo: r.Todo, Session: r.Session, DryRun: r.DryRun}
}
