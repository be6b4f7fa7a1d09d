package lease

import (
	"slices"
	"strings"
	"unicode"

	"github.com/git-loopx/git-loopx/todo"
)

// Conflict is an effective lease on another Todo with a write scope that overlaps one that was asked for.
type Conflict struct {
	TodoID     todo.ID      `json:"todo_id"`
	Owner      todo.AgentID `json:"owner"`
	WriteScope string       `json:"write_scope"` // theirs
	Requested  string       `json:"requested_write_scope"`
	ExpiresAt  todo.Instant `json:"expires_at"`
}

// overlap returns the places of the first pair, one of each list of reaches, that overlap.
func overlap(ours, theirs []string) (our, their int, found bool) {
	for i, a := range ours {
		for j, b := range theirs {
			if strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
				return i, j, true
			}
		}
	}
	return 0, 0, false
}

// reaches is [reach] of each write scope.
func reaches(scopes []string) []string {
	all := make([]string, len(scopes))
	for i, s := range scopes {
		all[i] = reach(s)
	}
	return all
}

// reach is what of a write scope counts (continuation.md, section 6): its segments up to the first with * or ?, each with a
// slash after it, letter case folded. Two scopes may mean the same file if the reach of one begins that of the other. No
// segments are everything, as "." is.
func reach(scope string) string {
	var b strings.Builder
	for s := range strings.SplitSeq(scope, "/") {
		if strings.ContainsAny(s, "*?") {
			break
		}
		if s != "" && s != "." {
			b.WriteString(strings.Map(fold, s))
			b.WriteByte('/')
		}
	}
	return b.String()
}

// fold is one letter for all that differ in case alone.
func fold(r rune) rune {
	least := r
	for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
		least = min(least, other)
	}
	return least
}

// conflicts returns the leases of others whose write scopes overlap some scopes, by Todo.
func conflicts(scopes []string, others []Other) []Conflict {
	var found []Conflict
	ours := reaches(scopes)
	for _, o := range others {
		if our, their, ok := overlap(ours, reaches(o.Lease.WriteScopes)); ok && o.Effective {
			found = append(found, Conflict{o.Lease.Todo, o.Lease.Owner, o.Lease.WriteScopes[their], scopes[our], o.Lease.ExpiresAt})
		}
	}
	slices.SortFunc(found, func(a, b Conflict) int { return strings.Compare(string(a.TodoID), string(b.TodoID)) })
	return found
}
