//go:build unix

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// place is where and how commands are given in a repository.
type place struct {
	*machine
	dir string // where plain git sees the repository
	// call gives one command, its stdin and the words after "git loopx" as they are; nil: git loopx in dir.
	call func(stdin string, args ...string) (reply, error)
	// artifact is a file as commands given here name it; "" is none.
	artifact string
	// moves says that giving a command commits something of the user's own, so that HEAD and index go on.
	moves bool
}

// run gives a command that must succeed with that status; "" is any.
func (p place) run(status, stdin string, args ...string) reply {
	p.t.Helper()
	call := p.call
	if call == nil {
		call = func(stdin string, args ...string) (reply, error) {
			cmd := p.command(p.dir, "git", append([]string{"loopx"}, args...)...)
			cmd.Stdin = strings.NewReader(stdin)
			return ask(cmd)
		}
	}
	r, err := call(stdin, append(args, "--json")...)
	switch {
	case err != nil:
	case r.exit != 0:
		err = fmt.Errorf("it was refused: %s", r)
	case status != "" && r.get("status") != status:
		err = fmt.Errorf("want status %s: %s", status, r)
	}
	if err != nil {
		p.t.Fatalf("git loopx %s: %v", strings.Join(args, " "), err)
	}
	return r
}

const journeyContext = `{"work_summary":"It counts attempts.","next_steps":["bound the loop by time"]}`

// journey takes a Todo from its making to the hands of another agent. What agent-a does is done in the first place, what
// agent-b does in the second; both see one repository. All that belongs to the user stays as it is.
func journey(first, second place) {
	t := first.t
	t.Helper()
	user := []string{first.belongings(), second.belongings()}
	fired := first.watchHooks()

	first.run("applied", "", "init", "demo")
	first.run("applied", "", "agent", "add", "agent-a")
	first.run("applied", "", "agent", "add", "agent-b")
	first.run("applied", "", "todo", "add", "work", "--todo-id", "todo_a", "--agent-id", "agent-a", "--claimed-by", "agent-a")
	handoff := func(verb, agent string, more ...string) []string {
		return append([]string{"handoff", verb, "todo_a", "--goal-id", "demo", "--agent-id", agent, "--session-id", agent}, more...)
	}
	seen := first.run("", "", handoff("inspect", "agent-a")...)
	prepared := first.run("applied", journeyContext, handoff("prepare", "agent-a", "--operation-id", "handoff-1",
		"--expected-revision", seen.get("provider_revision"), "--from-context", "-")...)
	if prepared.get("note_readback_verified") != "true" {
		t.Errorf("prepare: %s", prepared)
	}

	artifact := []string{}
	if second.artifact != "" {
		artifact = []string{"--artifact", second.artifact}
	}
	seen = second.run("", "", handoff("inspect", "agent-b", artifact...)...)
	if seen.get("can_adopt") != "true" || seen.get("digest.work_summary") != "It counts attempts." ||
		seen.get("provider_revision") != prepared.get("provider_revision") {
		t.Errorf("inspect: %s", seen)
	}
	adopt := handoff("adopt", "agent-b", append(artifact, "--operation-id", "resume-1", "--expected-revision", seen.get("provider_revision"))...)
	for _, status := range []string{"applied", "replayed"} {
		if adopted := second.run(status, "", adopt...); adopted.get("current_authority_verified") != "true" {
			t.Errorf("adopt: %s", adopted)
		}
	}
	for _, p := range []place{first, second} {
		list := p.run("", "", "todo", "list", "--goal-id", "demo")
		if list.get("total") != "1" || list.get("todos.0.claimed_by") != "agent-b" {
			t.Errorf("list: %s", list)
		}
		p.run("", "", "doctor")
		p.run("", "", "fsck")
	}

	first.fsck(first.dir)
	if refs := first.git(first.dir, "for-each-ref", "--format=%(refname)", "refs/loopx"); refs != demoRef {
		t.Errorf("refs = %q", refs)
	}
	subjects := first.git(second.dir, "log", "--format=%s", demoRef)
	if want := "handoff adopt todo_a|handoff prepare todo_a|todo add todo_a|agent add agent-b|agent add agent-a|goal create demo"; strings.ReplaceAll(subjects, "\n", "|") != want {
		t.Errorf("history = %q", subjects)
	}
	if b, err := os.ReadFile(fired); err == nil && len(b) > 0 {
		t.Errorf("hooks of the user were fired: %s", b)
	}
	for i, p := range []place{first, second} {
		if now := p.belongings(); now != user[i] {
			t.Errorf("what belongs to the user changed:\n%s\nbefore:\n%s", now, user[i])
		}
	}
}

// watchHooks installs a hook that refuses every update of a ref of ours, and returns the file in which it notes them.
func (m place) watchHooks() string {
	m.t.Helper()
	fired := m.path("fired")
	script := "#!/bin/sh\ngrep refs/loopx/ >>'" + strings.ReplaceAll(fired, "'", `'\''`) + "' && exit 1\nexit 0\n"
	m.hook("reference-transaction", script)
	return fired
}

// hook installs a hook of the repository.
func (m place) hook(name, script string) {
	m.t.Helper()
	path := filepath.Join(m.gitPath("hooks"), name)
	m.write(path, script)
	if err := os.Chmod(path, 0o755); err != nil {
		m.t.Fatal(err)
	}
}

// gitPath asks git where a file of the repository is.
func (m place) gitPath(name string) string {
	m.t.Helper()
	return m.git(m.dir, "rev-parse", "--path-format=absolute", "--git-path", name)
}

// belongings describes all that commands must leave alone: work tree, index, HEAD, configuration, all refs but ours.
func (p place) belongings() string {
	p.t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "configuration %s\n", p.digest(p.gitPath("config")))
	top := ""
	if p.git(p.dir, "rev-parse", "--is-bare-repository") == "false" {
		top = p.git(p.dir, "rev-parse", "--show-toplevel")
		fmt.Fprintf(&b, "status %q\n", p.git(p.dir, "--no-optional-locks", "status", "--porcelain", "--ignored"))
	}
	if p.moves {
		return b.String()
	}
	fmt.Fprintf(&b, "HEAD %s\nindex %s\n", p.digest(p.gitPath("HEAD")), p.digest(p.gitPath("index")))
	for line := range strings.SplitSeq(p.git(p.dir, "for-each-ref", "--format=%(objectname) %(refname)"), "\n") {
		if line != "" && !strings.HasSuffix(line, " "+demoRef) {
			b.WriteString(line + "\n")
		}
	}
	if top == "" {
		return b.String()
	}
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.Name() == ".git" && d.IsDir():
			return fs.SkipDir
		case info.Mode().IsRegular():
			fmt.Fprintf(&b, "%s %s %s\n", path, info.Mode(), p.digest(path))
		default:
			fmt.Fprintf(&b, "%s %s\n", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return b.String()
}

// digest tells the content of a file, and that there is none.
func (p place) digest(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return "absent"
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// seed is a repository with two commits, a file at the top and one deeper down.
func (m *machine) seed(name string, init ...string) string {
	m.t.Helper()
	dir := m.path(name)
	m.git(m.dir, append(append([]string{"init", "-q"}, init...), dir)...)
	for i, file := range []string{"decision.md", "src/deep/code.go"} {
		m.write(filepath.Join(dir, file), "one\n")
		m.git(dir, "add", ".")
		m.git(dir, "commit", "-qm", fmt.Sprint("commit ", i))
	}
	return dir
}

// clone makes a clone of a new seed over git's own protocol; afterwards the seed is out of reach.
func (m *machine) clone(args ...string) string {
	m.t.Helper()
	from := m.seed("origin")
	m.git(from, "config", "uploadpack.allowFilter", "true")
	m.git(m.dir, append(append([]string{"clone", "-q"}, args...), "file://"+from, m.path("repo"))...)
	if err := os.Rename(from, from+" is gone"); err != nil {
		m.t.Fatal(err)
	}
	return m.path("repo")
}

// through gives commands by another command line than git loopx in dir.
func (m *machine) through(cmd func(args ...string) *exec.Cmd) func(stdin string, args ...string) (reply, error) {
	return func(stdin string, args ...string) (reply, error) {
		c := cmd(args...)
		c.Stdin = strings.NewReader(stdin)
		return ask(c)
	}
}

func skipWithout(t *testing.T, what string, there bool) {
	t.Helper()
	if !there {
		t.Skipf("NOT TESTED: %s needs %s", t.Name(), what)
	}
}
