package todo

import (
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/gitstore"
)

// GoalID names a workstream: ^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$, no "..", not ending in ".lock" (README.md).
type GoalID string

// AgentID names a participant: ^[a-z][a-z0-9_.:@-]{0,79}$, compared verbatim.
type AgentID string

// ID names a Todo: ^todo_[a-z0-9_-]{1,64}$.
type ID string

// GoalRefs is the prefix of all authority refs.
const GoalRefs gitstore.RefName = "refs/loopx/goals/"

// Ref returns the authority ref of a goal.
func (g GoalID) Ref() gitstore.RefName { return GoalRefs + gitstore.RefName(g) }

// Valid says whether the id is well formed.
func (g GoalID) Valid() bool {
	s := string(g)
	if len(s) < 1 || len(s) > 64 || strings.Contains(s, "..") || strings.HasSuffix(s, ".lock") {
		return false
	}
	edge := func(c byte) bool { return lower(c) || digit(c) }
	return edge(s[0]) && edge(s[len(s)-1]) &&
		all(s, func(c byte) bool { return edge(c) || c == '.' || c == '_' || c == '-' })
}

// Valid says whether the id is well formed.
func (a AgentID) Valid() bool {
	s := string(a)
	return len(s) >= 1 && len(s) <= 80 && lower(s[0]) &&
		all(s, func(c byte) bool { return lower(c) || digit(c) || strings.IndexByte("_.:@-", c) >= 0 })
}

// idPrefix begins every Todo id.
const idPrefix = "todo_"

// MinPrefix is the shortest prefix, in bytes, that may stand for a Todo: "todo_" and four characters more.
const MinPrefix = len(idPrefix) + 4

// Valid says whether the id is well formed.
func (id ID) Valid() bool {
	name, ok := strings.CutPrefix(string(id), idPrefix)
	return ok && len(name) >= 1 && len(name) <= 64 &&
		all(name, func(c byte) bool { return lower(c) || digit(c) || c == '_' || c == '-' })
}

// ValidSession says whether s may name a session: 1 to 160 characters of UTF-8, not blank.
func ValidSession(s string) bool { return proseOK(s, MaxSession) }

// ValidOperation says whether a caller may name an operation s: 1 to 160 characters of UTF-8, no surrounding white
// space, no control characters, and not one of the ids "lease-<verb>:…" that the lease verbs make themselves.
func ValidOperation(s string) bool {
	if !proseOK(s, MaxOperation) || strings.TrimFunc(s, unicode.IsSpace) != s || strings.ContainsFunc(s, unicode.IsControl) {
		return false
	}
	rest, ok := strings.CutPrefix(s, "lease-")
	if !ok {
		return true
	}
	verb, _, ok := strings.Cut(rest, ":")
	return !ok || verb == "" || !all(verb, lower)
}

func validScopeID(s string) bool {
	return len(s) == 32 && all(s, func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' })
}

// base32Lower is the alphabet of RFC 4648 in lower case.
const base32Lower = "abcdefghijklmnopqrstuvwxyz234567"

// NewID draws the id of a Todo: 50 random bits.
func NewID(random io.Reader) (ID, error) {
	s, err := draw(random)
	if err != nil {
		return "", err
	}
	return ID(idPrefix + s[:10]), nil
}

// NewOperationID draws the id of an operation: 128 random bits.
func NewOperationID(random io.Reader) (string, error) {
	s, err := draw(random)
	if err != nil {
		return "", err
	}
	return "op_" + s, nil
}

// newScopeID draws the identity of a goal: 128 random bits.
func newScopeID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("random source: %w", err)
	}
	return hex.EncodeToString(b[:]), nil
}

// draw returns 128 random bits as 26 characters.
func draw(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("random source: %w", err)
	}
	return base32.NewEncoding(base32Lower).WithPadding(base32.NoPadding).EncodeToString(b[:]), nil
}

// Clean returns foreign text fit for a sentence: at most 80 characters of it.
func Clean[T ~string](text T) string {
	s := string(text)
	if utf8.RuneCountInString(s) <= 80 {
		return s
	}
	return string([]rune(s)[:79]) + "…"
}
