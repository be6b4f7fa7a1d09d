package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// job is one command at work: it opens the repository when it is first needed and finds the defaults of what was not
// said. It is used by one goroutine.
type job struct {
	*App
	line  *commandLine
	ahead *gitstore.Opening // the repository that is being opened; nil for quick verbs
	repo  *gitstore.Repository
	// place is the goal and Todo that the command turned out to be about, for its refusals.
	place members
}

// close lets the repository go. One that is still being opened ends with the context.
func (j *job) close() {
	if j.repo != nil {
		j.repo.Close()
	}
}

// openAhead asks git for the repository around the directory of the command, while its flags are still being filled.
func (j *job) openAhead(ctx context.Context, cmd command) {
	_, writes := cmd.(interface{ mutates() })
	j.ahead = gitstore.Start(ctx, gitstore.Config{
		Dir: j.Dir, Env: j.Env, Random: j.Random, Now: j.Now, Writes: writes,
	})
}

// readAhead reads the Todo that the flags name in the repository that git will most likely name, while git is still
// being asked.
func (j *job) readAhead(cmd command) {
	about, ok := cmd.(interface{ namedGoal() string })
	if !ok || j.ahead == nil {
		return
	}
	goal := todo.GoalID(about.namedGoal())
	if goal == "" {
		goal = todo.GoalID(j.Getenv("LOOPX_GOAL"))
	}
	ref := todo.GoalRefs
	if goal != "" {
		if !goal.Valid() {
			return
		}
		ref = goal.Ref()
	}
	var id todo.ID
	if about, ok := cmd.(interface{ namedTodo() string }); ok {
		id = todo.ID(about.namedTodo())
	}
	j.ahead.Guess(ref, func(ctx context.Context, s *gitstore.Snapshot) { todo.ReadAhead(ctx, s, goal, id) })
}

// open returns the repository. writes and settings tell what will be asked for, so that it is fetched side by side; the
// first call decides.
func (j *job) open(writes, settings bool) (*gitstore.Repository, error) {
	if j.repo != nil {
		return j.repo, nil
	}
	repo, err := j.ahead.Repository()
	if err != nil {
		return nil, err
	}
	repo.Expect(writes, settings)
	j.repo = repo
	return repo, nil
}

// ledger returns the rules of package todo on the repository that is open.
func (j *job) ledger() *todo.Ledger { return &j.leases().Ledger }

// leases returns the rules of package lease on the repository that is open.
func (j *job) leases() *lease.Ledger {
	l := lease.New(j.repo, j.Now, j.Random)
	return &l
}

// handoffs returns the rules of package handoff on the repository that is open.
func (j *job) handoffs() *handoff.Ledger { return &handoff.Ledger{Ledger: *j.leases()} }

// about notes what the command is about.
func (j *job) about(goal todo.GoalID, id todo.ID) {
	j.place = nil
	j.place.setGiven("goal_id", string(goal))
	j.place.setGiven("todo_id", string(id))
}

// usagef is a malformed argument of this command, with the code of its family.
func (j *job) usagef(format string, args ...any) *usageError {
	return usagef(j.line.code(), format, args...)
}

// id returns an id as the rules should see it: in text form without the spaces around it that come with copying.
func (j *job) id(s string) string {
	if j.line.json {
		return s
	}
	return strings.TrimSpace(s)
}

// path returns a name of the command line as the process sees it.
func (j *job) path(name string) string {
	if j.Dir == "" || filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(j.Dir, name)
}

// read returns the file that a flag names, "-" being standard input, but never more than limit+1 bytes: that is enough
// for a rule to see that it is too long. It ends early with the context, since a person may be typing.
func (j *job) read(ctx context.Context, flag, name string, limit int64) ([]byte, error) {
	from := j.Stdin
	if name == "-" {
		if j.IsTerminal != nil && j.IsTerminal(j.Stdin) && j.IsTerminal(j.Stderr) {
			io.WriteString(j.Stderr, "hint: reading standard input up to its end\n")
		}
	} else {
		f, err := os.Open(j.path(name))
		if err != nil {
			return nil, fileError(j.line.code(), flag, name, err)
		}
		defer f.Close()
		from = f
	}
	type content struct {
		bytes []byte
		err   error
	}
	done := make(chan content, 1)
	go func() {
		b, err := io.ReadAll(io.LimitReader(from, limit+1))
		done <- content{b, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case c := <-done:
		if ctx.Err() != nil { // both at once: the text may be cut
			return nil, ctx.Err()
		}
		if c.err != nil {
			return nil, fileError(j.line.code(), flag, name, c.err)
		}
		return c.bytes, nil // not nil, even if empty
	}
}
