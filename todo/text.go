package todo

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of continuation.md, sections 1.1 and 1.2, in characters (code points) or elements.
const (
	MaxText       = 4000 // of a Todo
	MaxTitle      = 200  // of a goal or a Todo, and of an agent's label
	MaxRemark     = 2000 // evidence, reason
	MaxLabels     = 20
	MaxLabel      = 40
	MaxReferences = 50 // excluded agents, dependencies, write scopes, successors: each
	MaxScope      = 160
	MaxSession    = 160
	MaxOperation  = 160
)

// Blank says whether there is nothing but Unicode white space.
func Blank(s string) bool { return strings.TrimFunc(s, unicode.IsSpace) == "" }

// proseOK says whether s is UTF-8, not blank, and of at most limit characters.
func proseOK(s string, limit int) bool {
	return utf8.ValidString(s) && !Blank(s) && utf8.RuneCountInString(s) <= limit
}

// lineOK says whether s is prose on one line.
func lineOK(s string, limit int) bool {
	return proseOK(s, limit) && !strings.ContainsAny(s, "\n\r\v\f\u0085\u2028\u2029")
}

func priorityOK(s string) bool { return len(s) == 2 && s[0] == 'P' && '0' <= s[1] && s[1] <= '4' }

// taskClassOK: ^[a-z][a-z0-9_-]{0,63}$
func taskClassOK(s string) bool {
	return len(s) >= 1 && len(s) <= 64 && lower(s[0]) && all(s, func(c byte) bool { return lower(c) || digit(c) || c == '_' || c == '-' })
}

func labelOK(s string) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= MaxLabel && !strings.ContainsFunc(s, unicode.IsSpace)
}

// scopeOK: relative, separated by "/", no leading "/" or "~", no "..", white space, "<" or ">".
func scopeOK(s string) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= MaxScope &&
		s[0] != '/' && s[0] != '~' && !strings.Contains(s, "..") &&
		!strings.ContainsFunc(s, unicode.IsSpace) && !strings.ContainsAny(s, "<>")
}

// setOK says whether a stored set is sorted, without duplicates, within its bound, and of good elements.
func setOK[T ~string](set []T, limit int, ok func(T) bool) bool {
	for i, v := range set {
		if !ok(v) || i > 0 && set[i-1] >= v {
			return false
		}
	}
	return len(set) <= limit
}

// ValidScopes says whether a set of write scopes is in stored form and within the bounds of a Todo's.
func ValidScopes(scopes []string) bool { return setOK(scopes, MaxReferences, scopeOK) }

// SetOf returns the stored form of a set as given: sorted, without duplicates, nil when empty.
func SetOf[T ~string](given []T) []T {
	if len(given) == 0 {
		return nil
	}
	set := slices.Clone(given)
	slices.Sort(set)
	return slices.Compact(set)
}

func lower(c byte) bool { return 'a' <= c && c <= 'z' }
func digit(c byte) bool { return '0' <= c && c <= '9' }

func all(s string, ok func(byte) bool) bool {
	for i := range len(s) {
		if !ok(s[i]) {
			return false
		}
	}
	return true
}
