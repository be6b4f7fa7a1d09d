package todo

import "time"

// Instant is a time in whole seconds UTC, stored as 2026-09-13T10:05:00Z. The zero value is "absent".
type Instant string

const instantLayout = "2006-01-02T15:04:05Z"

// At returns the instant of t; a fraction is cut. Outside the years 2000 to 9999 the result is not [Instant.Valid].
func At(t time.Time) Instant { return Instant(t.UTC().Truncate(time.Second).Format(instantLayout)) }

// Valid says whether i is an instant of the years 2000 to 9999 in the one form that is stored.
func (i Instant) Valid() bool {
	_, ok := i.Time()
	return ok
}

// Time returns the time of a valid instant.
func (i Instant) Time() (time.Time, bool) {
	if len(i) != len(instantLayout) { // time.Parse would let a fraction pass
		return time.Time{}, false
	}
	t, err := time.Parse(instantLayout, string(i))
	return t, err == nil && t.Year() >= 2000
}
