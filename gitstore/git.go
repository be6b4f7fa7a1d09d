package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// OldestGit is the oldest git version that has all that is used here.
const OldestGit = "2.36"

// childDeadline is how long a git child may take whose caller set no deadline: each answers in milliseconds.
const childDeadline = 30 * time.Second

// childGrace is how long a child that was asked to end may take to remove its lock files before it is killed.
const childGrace = 5 * time.Second

// git starts git processes in one directory with one environment.
type git struct {
	path string
	dir  string
	env  []string
}

// gitError is a git process that ended with another status than 0. Stderr is for people; nothing is decided by it.
type gitError struct {
	args   []string
	code   int // -1: did not exit by itself
	stderr string
	err    error
}

func (e *gitError) Error() string {
	words := strings.TrimSpace(e.stderr)
	if words == "" {
		words = e.err.Error()
	}
	return fmt.Sprintf("git %s: %s", verbOf(e.args), words)
}

func (e *gitError) Unwrap() error { return e.err }

// verbOf returns the subcommand among the arguments of a git process.
func verbOf(args []string) string {
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
			continue
		}
		return args[i]
	}
	return ""
}

// words returns what git said for people, on one line.
func words(err error) string {
	var g *gitError
	if errors.As(err, &g) && strings.TrimSpace(g.stderr) != "" {
		return strings.Join(strings.Fields(g.stderr), " ")
	}
	return err.Error()
}

// readEnv is what every child gets on top: nothing is fetched, prompted, locked, translated or replaced behind our back.
var readEnv = []string{
	"GIT_NO_REPLACE_OBJECTS=1", "LC_ALL=C", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=",
	"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1",
}

// droppedEnv would hide the repository's configuration, or contradict the literal pathspecs of ours.
var droppedEnv = []string{"GIT_CONFIG", "GIT_ICASE_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS"}

// newGit finds git on the PATH of env.
func newGit(dir string, env []string) (*git, error) {
	path := lookPath(envValue(env, "PATH"))
	if path == "" {
		return nil, ErrGitMissing
	}
	all := slices.Clone(readEnv)
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(droppedEnv, name) && envValue(readEnv, name) == "" && name != "GIT_ALLOW_PROTOCOL" {
			all = append(all, v)
		}
	}
	return &git{path: path, dir: dir, env: all}, nil
}

// envValue returns the last value of a variable; "" where it is not set.
func envValue(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(env[i], name+"="); ok {
			return value
		}
	}
	return ""
}

// lookPath finds the git program in a PATH; relative and empty elements are passed over, as a current directory that
// holds a file called git must not be run.
func lookPath(pathList string) string {
	for _, d := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(d) {
			continue
		}
		for _, name := range gitNames {
			p := filepath.Join(d, name)
			if info, err := os.Stat(p); err == nil && !info.IsDir() && executable(info) {
				return p
			}
		}
	}
	return ""
}

// command prepares a child: own process group, asked to end by the group when ctx ends and killed only seconds later.
func (g *git) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, g.path, args...)
	cmd.Dir = g.dir
	cmd.Env = g.env
	ownGroup(cmd)
	cmd.Cancel = func() error { return endGroup(cmd) }
	cmd.WaitDelay = childGrace
	return cmd
}

// run runs git to its end and returns its standard output, also together with an error.
func (g *git) run(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, childDeadline)
	defer cancel()
	cmd := g.command(ctx, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	err := cmd.Run()
	if err == nil {
		return out.Bytes(), nil
	}
	return out.Bytes(), newGitError(ctx, args, errs.String(), err)
}

func newGitError(ctx context.Context, args []string, stderr string, err error) error {
	code := -1
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return &gitError{args: args, code: code, stderr: stderr, err: err}
}

// exitCode returns the status of a git process that ended by itself, -1 for any other error.
func exitCode(err error) int {
	var g *gitError
	if errors.As(err, &g) {
		return g.code
	}
	return -1
}

// version asks git for its version: "2.39.5".
func (g *git) version(ctx context.Context) (string, error) {
	out, err := g.run(ctx, nil, "version")
	if err != nil {
		return "", err
	}
	return parseVersion(string(out)), nil
}

// parseVersion cuts the number out of "git version 2.39.5 (Apple Git-154)"; "" where there is none.
func parseVersion(out string) string {
	rest, ok := strings.CutPrefix(out, "git version ")
	if !ok {
		return ""
	}
	end := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(rest)
	}
	return strings.Trim(rest[:end], ".")
}

// TooOld reports whether a git of this version, as [Repository.GitVersion] gives it, is older than [OldestGit].
func TooOld(version string) bool { return olderThan(version, OldestGit) }

// olderThan compares two versions by their first two numbers. What cannot be read is not older.
func olderThan(have, oldest string) bool {
	var a, b, c, d int
	if n, _ := fmt.Sscanf(have+".0", "%d.%d", &a, &b); n != 2 {
		return false
	}
	if n, _ := fmt.Sscanf(oldest, "%d.%d", &c, &d); n != 2 {
		return false
	}
	return a < c || a == c && b < d
}
