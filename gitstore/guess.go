package gitstore

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// Guess reads ahead while git is still being asked where the repository is: read gets a snapshot of the ref in the
// repository that git will most likely name, and what it reads of loose objects is there already when it is read again.
//
// Nothing that is guessed is believed. All that is kept are objects by their ids, which say what they hold wherever they
// came from; refs are read again in the repository that git names. read must have no other effect, and its errors mean
// nothing. An empty name is the only ref of its directory ("refs/loopx/goals/").
func (o *Opening) Guess(name RefName, read func(context.Context, *Snapshot)) {
	if o.done || o.r.plumbing {
		return
	}
	dir := guessDir(o.r.git.dir, o.r.git.env)
	if dir == "" {
		return
	}
	g := &Repository{git: o.r.git, commonDir: dir, objectDir: filepath.Join(dir, "objects"), files: true, memory: o.r.memory, looseOnly: true}
	if strings.HasSuffix(string(name), "/") {
		if name = g.onlyRef(name); name == "" {
			return
		}
	}
	b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(string(name))))
	if err != nil || len(b) < SHA1.HexLen() {
		return
	}
	g.format = SHA1
	if len(b) > SHA256.HexLen() {
		g.format = SHA256
	}
	if id, err := parseLooseRef(g.format, b); err == nil {
		read(o.ctx, g.At(name, id))
	}
}

// guessDir returns the git directory that git will most likely use; "" where that is not plain to see.
func guessDir(dir string, env []string) string {
	for _, name := range []string{"GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"} {
		if envValue(env, name) != "" {
			return ""
		}
	}
	if dir == "" {
		dir = "."
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if set := envValue(env, "GIT_DIR"); set != "" {
		if !filepath.IsAbs(set) {
			set = filepath.Join(dir, set)
		}
		return set
	}
	for {
		found := filepath.Join(dir, ".git")
		if info, err := os.Stat(found); err == nil {
			if info.IsDir() {
				return found
			}
			return ""
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// onlyRef returns the only loose ref directly below a prefix.
func (r *Repository) onlyRef(prefix RefName) RefName {
	names, err := os.ReadDir(filepath.Join(r.commonDir, filepath.FromSlash(string(prefix))))
	if err != nil || len(names) != 1 {
		return ""
	}
	return prefix + RefName(names[0].Name())
}
