package todo

import (
	"errors"
	"fmt"
)

// Status is the status of a refusal in an answer (continuation.md, section 3).
type Status string

// Statuses of refusals made in this package; conflict, busy and ambiguous ends are errors of gitstore.
const (
	Rejected Status = "rejected" // the facts say no
	Failed   Status = "failed"   // bad arguments, or unreadable, unsupported, damaged data
)

// Refusal is the one error of all rules: nothing was written, Code says why.
type Refusal struct {
	Code   Code
	Status Status
	// Reason is one sentence for people, lower case, no full stop, foreign text quoted.
	Reason string
	// Detail holds further members of the answer, by their JSON name: findings, candidates, cycle, blockers …
	Detail map[string]any
}

func (r *Refusal) Error() string { return r.Reason }

// AsRefusal returns the refusal in the chain of err; nil where there is none.
func AsRefusal(err error) *Refusal {
	var r *Refusal
	if errors.As(err, &r) {
		return r
	}
	return nil
}

// CodeOf returns the code of the refusal in the chain of err; "" where there is none.
func CodeOf(err error) Code {
	if r := AsRefusal(err); r != nil {
		return r.Code
	}
	return ""
}

// Reject is a refusal by the facts.
func Reject(c Code, format string, args ...any) *Refusal {
	return &Refusal{Code: c, Status: Rejected, Reason: fmt.Sprintf(format, args...)}
}

// Fail is a refusal of arguments or of stored data.
func Fail(c Code, format string, args ...any) *Refusal {
	return &Refusal{Code: c, Status: Failed, Reason: fmt.Sprintf(format, args...)}
}

// With returns the refusal with one more member of the answer.
func (r *Refusal) With(name string, value any) *Refusal {
	if r.Detail == nil {
		r.Detail = map[string]any{}
	}
	r.Detail[name] = value
	return r
}

// First returns the first error that is one.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
