package todo

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestIDs(t *testing.T) {
	long := func(n int) string { return strings.Repeat("a", n) }
	goal := func(s string) bool { return GoalID(s).Valid() }
	agent := func(s string) bool { return AgentID(s).Valid() }
	id := func(s string) bool { return ID(s).Valid() }
	for _, c := range []struct {
		what string
		is   func(string) bool
		s    string
		want bool
	}{
		{"goal", goal, "demo", true},
		{"goal of one character", goal, "d", true},
		{"goal with inner punctuation", goal, "a.b_c-d", true},
		{"goal of 64", goal, long(64), true},
		{"goal of 65", goal, long(65), false},
		{"empty goal", goal, "", false},
		{"goal in upper case", goal, "Demo", false},
		{"goal with two dots", goal, "a..b", false},
		{"goal like a lock file", goal, "a.lock", false},
		{"goal ending in a dot", goal, "a.", false},
		{"goal with a slash", goal, "a/b", false},
		{"agent", agent, "agent-a", true},
		{"agent with all punctuation", agent, "a_.:@-9", true},
		{"agent of 80", agent, long(80), true},
		{"agent of 81", agent, long(81), false},
		{"agent in upper case", agent, "Agent-a", false},
		{"agent beginning with a digit", agent, "1a", false},
		{"empty agent", agent, "", false},
		{"todo", id, "todo_a", true},
		{"todo with 64 characters after the prefix", id, "todo_" + long(64), true},
		{"todo with 65 characters after the prefix", id, "todo_" + long(65), false},
		{"todo without a name", id, "todo_", false},
		{"todo without the prefix", id, "a", false},
		{"todo in upper case", id, "todo_A", false},
		{"todo with a dot", id, "todo_a.b", false},
		{"session", ValidSession, "source session", true},
		{"session of 160 emoji", ValidSession, strings.Repeat("😀", 160), true},
		{"session of 161", ValidSession, long(161), false},
		{"blank session", ValidSession, "\u3000\u00a0", false},
		{"session that is not UTF-8", ValidSession, "\xff", false},
		{"operation", ValidOperation, "handoff-1", true},
		{"operation with inner space", ValidOperation, "a b", true},
		{"operation of 160", ValidOperation, long(160), true},
		{"operation of 161", ValidOperation, long(161), false},
		{"empty operation", ValidOperation, "", false},
		{"operation with a space before", ValidOperation, " a", false},
		{"operation with a wide space after", ValidOperation, "a\u3000", false},
		{"operation with a control character", ValidOperation, "a\x07b", false},
		{"operation like a lease's", ValidOperation, "lease-renew:x", false},
		{"operation that speaks of a lease", ValidOperation, "lease-renew", true},
		{"operation of a word with a dash", ValidOperation, "lease-2:x", true},
		{"scope id", validScopeID, "0123456789abcdef0123456789abcdef", true},
		{"scope id in upper case", validScopeID, "0123456789ABCDEF0123456789abcdef", false},
	} {
		if got := c.is(c.s); got != c.want {
			t.Errorf("%s %q: got %v", c.what, c.s, got)
		}
	}
}

func TestDrawnIDsAreValid(t *testing.T) {
	for _, fill := range []byte{0, 0x5a, 0xff} {
		random := bytes.NewReader(bytes.Repeat([]byte{fill}, 100))
		id, err := NewID(random)
		if err != nil || !id.Valid() || len(id) != 15 {
			t.Errorf("todo id %q, %v", id, err)
		}
		op, err := NewOperationID(random)
		if err != nil || !ValidOperation(op) || len(op) != 29 || !strings.HasPrefix(op, "op_") {
			t.Errorf("operation id %q, %v", op, err)
		}
		scope, err := newScopeID(random)
		if err != nil || !validScopeID(scope) {
			t.Errorf("scope id %q, %v", scope, err)
		}
	}
	if _, err := NewID(bytes.NewReader([]byte("short"))); err == nil {
		t.Error("an exhausted source still gives ids")
	}
}

func TestInstant(t *testing.T) {
	for s, want := range map[Instant]bool{
		"2026-09-13T10:05:00Z":      true,
		"2000-01-01T00:00:00Z":      true,
		"9999-12-31T23:59:59Z":      true,
		"1999-12-31T23:59:59Z":      false,
		"":                          false,
		"2026-09-13T10:05:00.5Z":    false,
		"2026-09-13T10:05:00+00:00": false,
		"2026-09-13 10:05:00Z":      false,
		"2026-02-30T10:05:00Z":      false,
		"2026-09-13T24:00:00Z":      false,
		"2026-09-13t10:05:00z":      false,
	} {
		if got := s.Valid(); got != want {
			t.Errorf("%q: got %v", s, got)
		}
	}
	east := time.FixedZone("", 3600)
	if got := At(time.Date(2026, 9, 13, 11, 5, 0, 999, east)); got != vectorAt {
		t.Errorf("got %s, want %s", got, vectorAt)
	}
	if At(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)).Valid() || At(time.Unix(0, 0)).Valid() {
		t.Error("a clock outside the years 2000 to 9999 gives a valid instant")
	}
}
