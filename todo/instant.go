package todo

import (
	"strings"
	"time"
)

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

// ParseInstant reads a time as a person gives it, RFC 3339 with a zone, and returns it in UTC, a fraction of a second,
// however small, rounded up; false where it is none of the years 2000 to 9999.
func ParseInstant(s string) (Instant, bool) {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return "", false
	}
	const colon, whole = len("2006-01-02T15"), len("2006-01-02T15:04:05")
	if s[colon] != ':' || s[whole] == ',' { // Go lets 9:05 and a comma pass, and zones of 24 hours
		return "", false
	}
	zone := whole + strings.IndexAny(s[whole:], "Z+-")
	if s[zone] != 'Z' && (s[zone+1:zone+3] > "23" || s[zone+4:] > "59") {
		return "", false
	}
	if strings.ContainsAny(s[whole:zone], "123456789") { // asked of the text: t knows no more than nanoseconds
		t = t.Truncate(time.Second).Add(time.Second)
	}
	i := At(t)
	return i, i.Valid()
}
