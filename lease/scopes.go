package lease

import (
	"slices"
	"strings"

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

// overlap returns the first pair of write scopes, one of each list, that overlap.
func overlap(ours, theirs []string) (our, their string, found bool) {
	for _, a := range ours {
		for _, b := range theirs {
			if scopesOverlap(a, b) {
				return a, b, true
			}
		}
	}
	return "", "", false
}

// scopesOverlap says whether two write scopes may mean the same file (continuation.md, section 6): the segments that count
// of one begin those of the other, letter case ignored.
func scopesOverlap(a, b string) bool {
	x, y := segments(a), segments(b)
	for i := range min(len(x), len(y)) {
		if !strings.EqualFold(x[i], y[i]) {
			return false
		}
	}
	return true
}

// segments returns what of a write scope counts: up to its first segment with * or ?. Nothing is everything, as "." is.
func segments(scope string) []string {
	all := slices.DeleteFunc(strings.Split(scope, "/"), func(s string) bool { return s == "" || s == "." })
	if i := slices.IndexFunc(all, func(s string) bool { return strings.ContainsAny(s, "*?") }); i >= 0 {
		return all[:i]
	}
	return all
}

// conflicts returns the leases of others whose write scopes overlap some scopes, by Todo.
func conflicts(scopes []string, others []Other) []Conflict {
	var found []Conflict
	for _, o := range others {
		if our, their, ok := overlap(scopes, o.Lease.WriteScopes); ok && o.Effective {
			found = append(found, Conflict{o.Lease.Todo, o.Lease.Owner, their, our, o.Lease.ExpiresAt})
		}
	}
	slices.SortFunc(found, func(a, b Conflict) int { return strings.Compare(string(a.TodoID), string(b.TodoID)) })
	return found
}
