package gitstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Commit is one step of a ref's history.
type Commit struct {
	ID        ObjectID
	Parent    ObjectID // "" for the first
	Subject   string
	Time      time.Time
	Operation string
	Agent     string
	Session   string
}

// History lists the commits of a snapshot, newest first, that touched one of the paths (none: all), at most limit (0:
// all). One rev-list names them, one stream reads them.
func (r *Repository) History(ctx context.Context, s *Snapshot, limit int, paths ...string) ([]Commit, error) {
	ids, err := r.revisions(ctx, s, limit, append([]string{"--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	return r.commits(ctx, ids)
}

// HistoryOf is History with the commits besides whose subject ends in a word: an operation may have changed nothing but its
// receipt. The word must have no character that a regular expression gives a meaning to.
func (r *Repository) HistoryOf(ctx context.Context, s *Snapshot, limit int, word string, paths ...string) ([]Commit, error) {
	touched, err := r.revisions(ctx, s, limit, append([]string{"--"}, paths...)...)
	if err != nil {
		return nil, err
	}
	named, err := r.revisions(ctx, s, limit, "--extended-regexp", "--grep=^[a-z][a-z -]* "+word+"$")
	if err != nil {
		return nil, err
	}
	chosen := map[ObjectID]bool{}
	for _, id := range touched {
		chosen[id] = true
	}
	ids := touched
	for _, id := range named {
		if !chosen[id] {
			ids = append(ids, id)
			chosen[id] = true
		}
	}
	if len(ids) > len(touched) { // in the order of the whole line
		all, err := r.revisions(ctx, s, 0)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(all, func(id ObjectID) bool { return !chosen[id] })
		if limit > 0 {
			ids = ids[:min(limit, len(ids))]
		}
	}
	return r.commits(ctx, ids)
}

// revisions asks rev-list for the first-parent line of a snapshot, newest first.
func (r *Repository) revisions(ctx context.Context, s *Snapshot, limit int, which ...string) ([]ObjectID, error) {
	args := []string{"-c", deltaCache, "rev-list", "--first-parent"}
	if limit > 0 {
		args = append(args, "--max-count="+strconv.Itoa(limit))
	}
	out, err := r.git.run(ctx, nil, append(append(args, string(s.revision)), which...)...)
	if err != nil {
		return nil, &UnavailableError{What: string(s.ref), Err: err}
	}
	var ids []ObjectID
	for _, line := range strings.Fields(string(out)) {
		ids = append(ids, ObjectID(line))
	}
	return ids, nil
}

// commits reads commits in one stream.
func (r *Repository) commits(ctx context.Context, ids []ObjectID) ([]Commit, error) {
	commits := make([]Commit, len(ids))
	err := r.source().read(ctx, ids, func(i int, a answer) error {
		if a.err != nil {
			return &UnavailableError{What: "commit " + string(ids[i]), Err: a.err}
		}
		c, err := parseCommit(r.format, a.content)
		if err != nil {
			return &DamagedError{Path: "commit " + string(ids[i]), Err: err}
		}
		commits[i] = describe(ids[i], c)
		return nil
	})
	return commits, err
}
