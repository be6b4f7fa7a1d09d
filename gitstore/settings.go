package gitstore

import (
	"context"
	"strings"
	"time"
)

// Settings are git's configuration as git config --list gives it: the last value of each key counts. Keys are as git
// prints them, section and name in lower case, "branch.Main.loopxgoal".
type Settings map[string]string

// readSettings runs the one config --list. Failing is an error: an unreadable configuration is not an empty one.
func readSettings(ctx context.Context, g *git) (Settings, error) {
	out, err := g.run(ctx, nil, "config", "--list", "-z")
	if err != nil {
		return nil, &UnavailableError{What: "git configuration", Err: err}
	}
	return parseSettings(string(out)), nil
}

// parseSettings reads "key LF value NUL" records; a key without a value, which git means as true, has none of the LF.
func parseSettings(out string) Settings {
	s := Settings{}
	for record := range strings.SplitSeq(out, "\x00") {
		if record == "" {
			continue
		}
		key, value, ok := strings.Cut(record, "\n")
		if !ok {
			value = "true"
		}
		s[key] = value
	}
	return s
}

// Settings returns git's configuration, read at most once. It may be called by many at once.
func (r *Repository) Settings(context.Context) (Settings, error) {
	if r.writes.Load() {
		a := r.ask()
		return a.settings, a.settingsErr
	}
	return r.settings()
}

// Setting returns the last value of a configuration key; false where it is not set.
func (r *Repository) Setting(ctx context.Context, key string) (string, bool, error) {
	s, err := r.Settings(ctx)
	if err != nil {
		return "", false, err
	}
	value, ok := s[key]
	return value, ok, nil
}

// on reads a boolean as git does.
func (s Settings) on(key string, unset bool) bool {
	switch strings.ToLower(s[key]) {
	case "":
		if _, ok := s[key]; ok {
			return false
		}
		return unset
	case "false", "no", "off", "0":
		return false
	}
	return true
}

// timeout is how long one operation may try: loopx.timeout, seconds or a Go duration, 10 s unless set.
func (s Settings) timeout() time.Duration {
	const unset = 10 * time.Second
	value, ok := s["loopx.timeout"]
	if !ok {
		return unset
	}
	if d, err := time.ParseDuration(value); err == nil && d > 0 {
		return d
	}
	if d, err := time.ParseDuration(value + "s"); err == nil && d > 0 {
		return d
	}
	return unset
}

// durability is what an acknowledged write has survived.
type durability int

const (
	// onDisk: objects, ref and their directories are synced.
	onDisk durability = iota
	// asGit: whatever the user's own core.fsync asks for.
	asGit
)

func (s Settings) durability() durability {
	if s["loopx.durability"] == "git" {
		return asGit
	}
	return onDisk
}

// knownExtensions are the repository extensions under which a loose object is written natively as git would.
var knownExtensions = map[string]bool{
	"objectformat": true, "refstorage": true, "worktreeconfig": true, "partialclone": true,
	"relativeworktrees": true, "noop": true, "noop-v1": true, "preciousobjects": true,
}

// plainObjects reports whether nothing in the configuration asks for more than a plain loose object: shared modes,
// the user's own fsync rules and extensions not known here are left to git.
func (s Settings) plainObjects() bool {
	for key := range s {
		if name, ok := strings.CutPrefix(key, "extensions."); ok && !knownExtensions[name] {
			return false
		}
	}
	if s.durability() == asGit {
		for _, key := range []string{"core.fsync", "core.fsyncobjectfiles"} {
			if _, set := s[key]; set {
				return false
			}
		}
	}
	switch s["core.sharedrepository"] {
	case "", "umask", "false", "0", "no", "off":
		return true
	}
	return false
}
