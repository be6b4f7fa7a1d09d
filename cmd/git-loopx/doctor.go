package main

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

func doctorVerbs() []verb {
	return []verb{{flags: func() command { return &doctorCommand{} },
		about:   "look for what interrupted commands left behind",
		detail:  "It only looks; with --fix it takes away leftover lock, temporary and .keep files of ours and empty refs, once they are older than a minute. Records are never changed.",
		example: "git loopx doctor"}}
}

type doctorCommand struct {
	Fix bool `help:"Take leftovers away."`
	outputFlags
}

// check is one line of what doctor and fsck found.
type check struct {
	Name   string    `json:"name"` // git, repository, refs, leftover, record, history
	OK     bool      `json:"ok"`
	Goal   string    `json:"goal_id,omitzero"`
	Commit string    `json:"commit,omitzero"`
	Path   string    `json:"path,omitzero"`
	Code   todo.Code `json:"reason_code,omitzero"`
	Reason string    `json:"reason"`
	Fixed  bool      `json:"fixed,omitzero"`
}

func (c *doctorCommand) run(ctx context.Context, j *job) (*answer, error) {
	if _, err := j.open(c.Fix, true); err != nil {
		return nil, err
	}
	version, err := j.repo.GitVersion(ctx)
	if err != nil {
		return nil, err
	}
	checks := []check{gitCheck(version), {Name: "repository", OK: true, Reason: j.repo.CommonDir()}}
	leftovers, err := j.leftovers(ctx, c.Fix)
	if err != nil {
		return nil, err
	}
	checks = append(checks, leftovers...)
	records, err := j.records(ctx, leftovers, nil)
	if err != nil {
		return nil, err
	}
	return diagnosis(append(checks, records...)), nil
}

// gitCheck judges git's version, "2.39.5" or "2.50.0.rc1".
func gitCheck(version string) check {
	c := check{Name: "git", OK: version != "" && !gitstore.TooOld(version), Reason: "version " + version}
	if !c.OK {
		c.Code, c.Reason = "git_unavailable", (&gitstore.VersionError{Have: version}).Error()
	}
	return c
}

// leftovers are the files that killed processes left behind, taken away if fix says so.
func (j *job) leftovers(ctx context.Context, fix bool) ([]check, error) {
	found, err := j.repo.Leftovers(ctx)
	if err != nil {
		return nil, err
	}
	var checks []check
	for _, l := range found {
		c := check{Name: "leftover", Code: "leftovers_found", Path: l.Path, Reason: string(l.Kind)}
		if fix {
			if err := j.repo.Mend(ctx, l); err != nil {
				return nil, err
			}
			c.OK, c.Fixed = true, true
		}
		checks = append(checks, c)
	}
	return checks, nil
}

// records looks at every record at the tip of every goal, and lets also look at the goal's snapshot. What cannot be
// read is a finding, not an end; an empty ref file that is among the leftovers is not found twice.
func (j *job) records(ctx context.Context, leftovers []check, also func(todo.GoalID, *gitstore.Snapshot) ([]check, error)) ([]check, error) {
	refs, err := j.repo.Refs(ctx, todo.GoalRefs)
	if err != nil {
		return nil, err
	}
	var checks []check
	for _, ref := range refs {
		goal := todo.GoalID(strings.TrimPrefix(string(ref.Name), string(todo.GoalRefs)))
		if slices.ContainsFunc(leftovers, func(c check) bool {
			return !c.Fixed && c.Reason == string(gitstore.EmptyRef) && strings.HasSuffix(filepath.ToSlash(c.Path), "/"+string(ref.Name))
		}) {
			continue
		}
		bad := func(path string, code todo.Code, reason string) {
			checks = append(checks, check{Name: "record", Goal: string(goal), Path: path, Code: code, Reason: reason})
		}
		before := len(checks)
		var paths []string
		s, err := j.repo.Load(ctx, ref.Name)
		if err == nil {
			err = s.Walk(ctx, func(path string, blob []byte) error {
				paths = append(paths, path)
				if r := lease.CheckFile(goal, path, blob); r != nil {
					bad(path, r.Code, r.Reason)
				}
				return nil
			})
		}
		var orphans map[string]*todo.Refusal
		if err == nil { // of a list that is not whole, nobody can say what is missing
			orphans = todo.CheckTree(paths)
		}
		for _, path := range slices.Sorted(maps.Keys(orphans)) {
			bad(path, orphans[path].Code, orphans[path].Reason)
		}
		if err == nil && also != nil {
			var more []check
			more, err = also(goal, s)
			checks = append(checks, more...)
		}
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, err
		case err != nil:
			f := explain(err)
			bad("", todo.Code(f.code), f.reason)
		case len(checks) == before:
			checks = append(checks, check{Name: "record", OK: true, Goal: string(goal), Reason: counted(len(paths), "record")})
		}
	}
	return checks, nil
}

// diagnosis is the answer of doctor and fsck: ok if nothing is wrong, or nothing any more.
func diagnosis(checks []check) *answer {
	said := &answer{}
	listed(said, "checks", checks, len(checks), 0)
	var rows [][]string
	var first *check
	wrong := 0
	for i, c := range checks {
		word := "ok"
		switch {
		case c.Fixed:
			word = "fixed"
		case !c.OK:
			word = "bad"
			wrong++
			if first == nil || first.Name == "leftover" {
				first = &checks[i]
			}
		}
		rows = append(rows, []string{word, c.Name, orDash(strings.TrimSpace(c.Goal + " " + c.Path + " " + c.Commit)), handoff.Visible(c.Reason)})
	}
	said.table(rows)
	if first != nil {
		said.refused = explain(&todo.Refusal{Code: first.Code, Status: todo.Failed, Reason: counted(wrong, "finding") + ", the first: " + first.Reason})
		said.members.set("status", "failed")
	}
	return said
}

func fsckVerbs() []verb {
	return []verb{{flags: func() command { return &fsckCommand{} },
		about:   "check the whole history of every goal",
		detail:  "Every goal must be one line of commits with one new receipt each, and every record at its tip must be readable. It only reads.",
		example: "git loopx fsck"}}
}

type fsckCommand struct{ outputFlags }

func (c *fsckCommand) run(ctx context.Context, j *job) (*answer, error) {
	if _, err := j.open(false, false); err != nil {
		return nil, err
	}
	checks, err := j.records(ctx, nil, func(goal todo.GoalID, s *gitstore.Snapshot) ([]check, error) {
		faults, err := j.repo.CheckChain(ctx, s)
		var found []check
		for _, f := range faults {
			found = append(found, check{Name: "history", Goal: string(goal), Commit: string(f.Commit), Path: f.Path,
				Code: faultCode(f), Reason: sentence(f.Err.Error())})
		}
		return found, err
	})
	if err != nil {
		return nil, err
	}
	return diagnosis(checks), nil
}

func faultCode(f gitstore.Fault) todo.Code {
	if d, ok := errors.AsType[*gitstore.DamagedError](f.Err); ok && d.Schema != "" {
		return todo.CodeUnsupportedSchema
	}
	return todo.CodeInvalidProjection
}
