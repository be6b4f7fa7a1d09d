package todo

// Code is a reason code: the exact word a caller may match.
type Code string

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
