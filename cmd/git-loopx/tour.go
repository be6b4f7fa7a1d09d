package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/go-json-experiment/json"
)

func tourVerbs() []verb {
	return []verb{{flags: func() command { return &tourCommand{} },
		about:   "see the whole journey, live, in a throw-away repository",
		detail:  "Every line is run by this very program in a directory that is removed afterwards; your repositories are not touched.",
		example: "git loopx tour"}}
}

type tourCommand struct {
	Keep bool `help:"Leave the repository for a look around and tell where it is."`
	outputFlags
}

// stop is one command of the tour, as a person would type it. A line of prose comes before it.
type stop struct {
	prose   string
	command string
}

// tourContext is the note that the tour hands over.
const tourContext = `{
  "work_summary": "The retry loop counts attempts. A slow disk runs out of them long before it is really gone.",
  "approaches_tried": [
    {"approach": "raise the count to 20", "outcome": "failed", "reason": "healthy disks then wait for minutes"}
  ],
  "next_steps": ["bound the loop by time", "make the limit a setting"],
  "files_touched": [{"path": "retry.go", "action": "read"}]
}
`

func tourStops() []stop {
	return []stop{
		{"A repository with one file and a note that will be handed over. No commit is needed.", "git init -q -b main"},
		{"A goal is a named workstream.", "git loopx init demo --title 'Survive slow disks'"},
		{"This branch works for it, so that commands need not name it.", "git loopx goal bind demo"},
		{"Two agents take part.", "git loopx agent add agent-a"},
		{"", "git loopx agent add agent-b"},
		{"agent-a finds work and claims it, in one step.", "git loopx todo add 'Bound the retry loop by time' --todo-id todo_retry --priority P1 --claimed-by agent-a --agent-id agent-a"},
		{"It has to stop. What the next one must know is in a file.", "cat context.json"},
		{"The file becomes the note on the Todo. The revision says what the note was written on.", "git loopx handoff prepare todo_retry --agent-id agent-a --session-id monday --operation-id handoff-1 --expected-revision \"$REVISION\" --from-context context.json"},
		{"Another agent, in another session, sees what there is. Inspecting writes nothing.", "git loopx handoff inspect todo_retry --agent-id agent-b --session-id tuesday --artifact retry.go --format digest"},
		{"It takes the work over, on exactly the revision that it saw.", "git loopx handoff adopt todo_retry --agent-id agent-b --session-id tuesday --operation-id resume-1 --expected-revision \"$REVISION\" --artifact retry.go"},
		{"Asked again, the same command changes nothing twice.", "git loopx handoff adopt todo_retry --agent-id agent-b --session-id tuesday --operation-id resume-1 --expected-revision \"$REVISION\" --artifact retry.go"},
		{"agent-b finishes it.", "git loopx todo complete todo_retry --agent-id agent-b --evidence 'go test ./... passes'"},
		{"Where it stands now: all of it is in the repository.", "git loopx todo show todo_retry"},
		{"Where an agent may die at work, claims are not enough. From now on whoever works on a Todo holds a lease on it, which ends by itself.", "git loopx goal mode set hard_lease"},
		{"Work may wait for other work, which is done here.", "git loopx todo add 'Make the limit a setting' --todo-id todo_limit --depends-on todo_retry --agent-id agent-a"},
		{"agent-a takes what is ready, with a lease under a key of its own. Of many who ask at once, each gets another Todo.", "git loopx todo ready --claim --agent-id agent-a --task-lease-idempotency-key execution-a"},
		{"Key and version are the proof of the lease. Every change of the Todo needs it now, a note for the next one too.", "git loopx handoff prepare todo_limit --agent-id agent-a --session-id wednesday --operation-id handoff-2 --expected-revision \"$REVISION\" --rationale 'Every disk is slow in its own way' --source-ref retry.go --task-lease-idempotency-key execution-a --task-lease-expected-version 1"},
		{"Lease, claim and note go over to agent-b in one step. What agent-a has proves nothing any more.", "git loopx lease transfer todo_limit --owner agent-a --idempotency-key execution-a --expected-version 1 --new-owner agent-b --new-idempotency-key execution-b --transfer-claim"},
		{"agent-b looks,", "git loopx handoff inspect todo_limit --agent-id agent-b --session-id thursday --task-lease-idempotency-key execution-b --task-lease-expected-version 2"},
		{"takes over what it saw,", "git loopx handoff adopt todo_limit --agent-id agent-b --session-id thursday --operation-id resume-2 --expected-revision \"$REVISION\" --task-lease-idempotency-key execution-b --task-lease-expected-version 2"},
		{"and finishes it. The lease ends with the work.", "git loopx todo complete todo_limit --agent-id agent-b --evidence 'the limit is in retry.go' --task-lease-idempotency-key execution-b --task-lease-expected-version 2"},
		{"Who did what is in the repository.", "git log --format='%h %s' refs/loopx/goals/demo"},
		{"In the work tree there is nothing but what was put there before.", "git status --short"},
	}
}

func (c *tourCommand) run(ctx context.Context, j *job) (*answer, error) {
	t := &tour{job: j, out: j.Stdout}
	if j.line.json {
		t.out = io.Discard
	}
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	if !c.Keep {
		defer os.RemoveAll(t.root)
	}
	for _, s := range tourStops() {
		if err := t.visit(ctx, s); err != nil {
			return nil, err
		}
	}
	said := &answer{}
	said.members.set("steps", t.steps)
	if c.Keep {
		said.members.set("directory", t.dir)
		said.notef("hint: the repository is %s", t.dir)
	}
	return said, nil
}

// tour is a throw-away repository with the environment of its commands.
type tour struct {
	*job
	out   io.Writer
	root  string // all of it, removed at the end
	dir   string // the repository
	env   []string
	steps []tourStep
	// revision is what $REVISION stands for: the tip as the last command left it.
	revision string
}

// tourStep is one command as JSON shows it.
type tourStep struct {
	Command string `json:"command"`
	Output  string `json:"output"`
}

// prepare makes the directory and the environment: this program as git-loopx on PATH, the variables gone by which git
// would look for another repository, and somebody to be where git knows nobody.
func (t *tour) prepare(ctx context.Context) error {
	program, err := t.Executable()
	if err != nil {
		return err
	}
	if t.root, err = os.MkdirTemp("", "git-loopx-tour-"); err != nil {
		return err
	}
	t.dir = filepath.Join(t.root, "repo")
	bin := filepath.Join(t.root, "bin")
	if err := errors.Join(os.Mkdir(t.dir, 0o777), os.Mkdir(bin, 0o777)); err != nil {
		return err
	}
	if err := os.Symlink(program, filepath.Join(bin, "git-loopx")); err != nil {
		return err
	}
	local, err := t.output(ctx, t.Env, "git", "rev-parse", "--local-env-vars")
	if err != nil {
		return err
	}
	gone := strings.Fields(local)
	for _, v := range t.Env {
		name, value, _ := strings.Cut(v, "=")
		switch {
		case contains(gone, name), strings.HasPrefix(name, "LOOPX_") && !strings.HasPrefix(name, "LOOPX_TEST_"):
			// A tour shows what happens without settings of the reader's.
		case name == "PATH":
			t.env = append(t.env, "PATH="+bin+string(filepath.ListSeparator)+value)
		default:
			t.env = append(t.env, v)
		}
	}
	if _, err := t.output(ctx, t.env, "git", "var", "GIT_COMMITTER_IDENT"); err != nil {
		t.env = append(t.env, "GIT_AUTHOR_NAME=A Tourist", "GIT_AUTHOR_EMAIL=tourist@example.invalid",
			"GIT_COMMITTER_NAME=A Tourist", "GIT_COMMITTER_EMAIL=tourist@example.invalid")
	}
	return errors.Join(
		os.WriteFile(filepath.Join(t.dir, "retry.go"), []byte("package retry\n"), 0o666),
		os.WriteFile(filepath.Join(t.dir, "context.json"), []byte(tourContext), 0o666))
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// visit runs one command and shows it with what it prints.
func (t *tour) visit(ctx context.Context, s stop) error {
	if s.prose != "" {
		fmt.Fprintf(t.out, "# %s\n", s.prose)
	}
	fmt.Fprintf(t.out, "$ %s\n", s.command)
	out, err := t.output(ctx, append(t.env, "REVISION="+t.revision), "sh", "-c", s.command)
	for _, line := range handoff.VisibleLines(out) {
		fmt.Fprintf(t.out, "%s\n", line)
	}
	if out != "" {
		fmt.Fprintln(t.out)
	}
	t.steps = append(t.steps, tourStep{s.command, out})
	if err != nil {
		return fmt.Errorf("the tour stopped at %q: %w", s.command, err)
	}
	return t.look(ctx, s.command)
}

// look learns the tip, for the next command that pins it.
func (t *tour) look(ctx context.Context, command string) error {
	if !strings.HasPrefix(command, "git loopx ") || strings.Contains(command, "handoff adopt") {
		return nil
	}
	out, err := t.output(ctx, t.env, "git-loopx", "goal", "show", "demo", "--json")
	if err != nil {
		return fmt.Errorf("the tour cannot read its goal: %w", err)
	}
	var shown struct {
		Revision string `json:"provider_revision"`
	}
	if err := json.Unmarshal([]byte(out), &shown); err != nil {
		return err
	}
	t.revision = shown.Revision
	return nil
}

// output runs a program in the tour's directory and returns what it prints on both streams.
func (t *tour) output(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = t.dir, env
	if name == "git-loopx" {
		cmd.Path = filepath.Join(t.root, "bin", name)
		cmd.Err = nil
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}
