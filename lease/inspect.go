package lease

import "github.com/git-loopx/git-loopx/todo"

// inspect shows the lease of a state whose Todo is there, judged at an instant. record is the stored lease; nil: none.
func inspect(s todo.State, record *Lease, at todo.Instant, skew int64) Inspection {
	i := Inspection{
		GoalID: s.Goal.ID, TodoID: s.Todo.ID, Revision: string(s.Revision), Mode: s.Goal.HandoffMode,
		Active: s.EffectiveFor(""), JudgedAt: at, Skew: skew,
	}
	if record == nil {
		return i
	}
	view := ViewOf(*record)
	i.Lease = &view
	if d := s.Divergence(s.Todo.ID, ""); d != nil {
		i.Constraint = &Constraint{Reason: d.Code}
	}
	return i
}
