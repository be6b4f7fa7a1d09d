package gitstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// ErrNoBranch: HEAD is detached, so that there is no branch to bind.
var ErrNoBranch = errors.New("HEAD is detached: there is no branch")

// Branch returns the name of the current branch, also one without commits; "" when HEAD is detached.
func (r *Repository) Branch(ctx context.Context) (string, error) {
	out, err := r.git.run(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if exitCode(err) == 1 {
		return "", nil
	}
	if err != nil {
		return "", &UnavailableError{What: "HEAD", Err: err}
	}
	name, _ := strings.CutPrefix(strings.TrimSuffix(string(out), "\n"), "refs/heads/")
	return name, nil
}

// branchKey is the configuration key that binds a branch to a goal, as git config --list prints it.
func branchKey(branch string) string { return "branch." + branch + ".loopxgoal" }

// BranchGoal returns the current branch ("" when detached) and its branch.<b>.loopxGoal ("" when unset).
func (r *Repository) BranchGoal(ctx context.Context) (branch, value string, err error) {
	if branch, err = r.Branch(ctx); err != nil || branch == "" {
		return "", "", err
	}
	value, _, err = r.Setting(ctx, branchKey(branch))
	return branch, value, err
}

// SetBranchGoal sets or, with "", removes branch.<current>.loopxGoal in the repository's own configuration; it returns
// the branch. Errors: ErrNoBranch, *WriteError.
func (r *Repository) SetBranchGoal(ctx context.Context, value string) (branch string, err error) {
	if branch, err = r.Branch(ctx); err != nil {
		return "", err
	}
	if branch == "" {
		return "", ErrNoBranch
	}
	args := []string{"config", "--local", "--replace-all", branchKey(branch), value}
	if value == "" {
		args = []string{"config", "--local", "--unset-all", branchKey(branch)}
	}
	_, err = r.git.run(ctx, nil, args...)
	if value == "" && exitCode(err) == 5 { // it was not set
		err = nil
	}
	if err != nil {
		return "", &WriteError{Err: fmt.Errorf("branch %q: %w", branch, err)}
	}
	return branch, nil
}
