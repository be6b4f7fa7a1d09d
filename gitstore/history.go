package gitstore

import (
	"context"
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
	args := []string{"-c", deltaCache, "rev-list", "--first-parent"}
	if limit > 0 {
		args = append(args, "--max-count="+strconv.Itoa(limit))
	}
	args = append(append(args, string(s.revision), "--"), paths...)
	out, err := r.git.run(ctx, nil, args...)
	if err != nil {
		return nil, &UnavailableError{What: string(s.ref), Err: err}
	}
	var ids []ObjectID
	for _, line := range strings.Fields(string(out)) {
		ids = append(ids, ObjectID(line))
	}
	commits := make([]Commit, len(ids))
	err = r.source().read(ctx, ids, func(i int, a answer) error {
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
