//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// shipped is the program as it is shipped, built once per test run: unlike the test binary that scripts run, it has the
// real clock, the real random source and the real answers to signals. It lies beside the binary of the scripts, in the
// directory that TestMain takes away in the end.
var shipped = sync.OnceValues(func() (string, error) {
	scripts, err := exec.LookPath("git-loopx")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(filepath.Dir(scripts), "shipped")
	if out, err := exec.Command("go", "build", "-o", bin+string(filepath.Separator), ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

// machine is a directory with a home of its own, git's configuration pinned, and the shipped program on PATH.
type machine struct {
	t   *testing.T
	dir string
	bin string // where the program is
	env []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	bin, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{t: t, dir: t.TempDir(), bin: bin}
	config := filepath.Join(m.dir, "gitconfig")
	m.write(config, "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"+
		"[advice]\n\tdetachedHead = false\n[protocol \"file\"]\n\tallow = always\n[maintenance]\n\tauto = false\n[gc]\n\tauto = 0\n")
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "LOOPX_") && name != "PATH" && name != "HOME" {
			m.env = append(m.env, v)
		}
	}
	m.env = append(m.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+m.dir,
		"GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "NO_COLOR=1")
	return m
}

// path names something in the directory of the machine.
func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

func (m *machine) write(path, content string) {
	m.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		m.t.Fatal(err)
	}
}

// command prepares a process of this machine.
func (m *machine) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, m.env
	return cmd
}

// git runs git, which must succeed, and returns what it printed.
func (m *machine) git(dir string, args ...string) string {
	m.t.Helper()
	cmd := m.command(dir, "git", args...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		m.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimRight(string(out), "\n")
}

// fsck fails the test where git itself finds anything wrong.
func (m *machine) fsck(dir string) {
	m.t.Helper()
	m.git(dir, "fsck", "--strict", "--full", "--no-dangling")
}

// reply is the answer of one command in JSON.
type reply struct {
	exit           int
	stdout, stderr string
	doc            any
}

// get returns a member of the answer as text, "(none)" where there is none.
func (r reply) get(path string) string {
	if v, ok := memberOf(r.doc, path); ok {
		return v
	}
	return "(none)"
}

func (r reply) String() string { return fmt.Sprintf("exit %d\n%s%s", r.exit, r.stdout, r.stderr) }

// ask runs a command whose last argument asks for JSON, and checks what holds for every answer: one document on one line
// of stdout, nothing on stderr, and ok exactly if the exit status is 0. It may be called by many at once.
func ask(cmd *exec.Cmd) (reply, error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	r := reply{stdout: out.String(), stderr: errs.String()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		r.exit = exit.ExitCode()
	} else if err != nil {
		return r, err
	}
	return r, r.check()
}

func (r *reply) check() error {
	if err := json.Unmarshal([]byte(r.stdout), &r.doc); err != nil {
		return fmt.Errorf("stdout is not one JSON document: %w: %s", err, r)
	}
	switch {
	case strings.Index(r.stdout, "\n") != len(r.stdout)-1:
		return fmt.Errorf("stdout is not one line: %s", r)
	case r.stderr != "":
		return fmt.Errorf("stderr is not empty: %s", r)
	case r.get("ok") != fmt.Sprint(r.exit == 0):
		return fmt.Errorf("ok and the exit status disagree: %s", r)
	}
	return nil
}

// loopx prepares the program itself, without the git in front of it.
func (m *machine) loopx(dir string, args ...string) *exec.Cmd {
	return m.command(dir, filepath.Join(m.bin, "git-loopx"), append(args, "--json")...)
}

// does runs a command that must succeed.
func (m *machine) does(dir string, args ...string) reply {
	m.t.Helper()
	r, err := ask(m.loopx(dir, args...))
	if err == nil && r.exit != 0 {
		err = fmt.Errorf("it was refused: %s", r)
	}
	if err != nil {
		m.t.Fatalf("git loopx %s: %v", strings.Join(args, " "), err)
	}
	return r
}

// refuses runs a command that must be refused with that reason code and exit status, and must move no ref.
func (m *machine) refuses(dir, code string, exit int, args ...string) reply {
	m.t.Helper()
	before := m.git(dir, "for-each-ref")
	r := m.refused(m.loopx(dir, args...), code, exit)
	if after := m.git(dir, "for-each-ref"); after != before {
		m.t.Errorf("git loopx %s: refs moved:\n%s\nbefore:\n%s", strings.Join(args, " "), after, before)
	}
	return r
}

func (m *machine) refused(cmd *exec.Cmd, code string, exit int) reply {
	m.t.Helper()
	r, err := ask(cmd)
	if err == nil && (r.get("reason_code") != code || r.exit != exit) {
		err = fmt.Errorf("want %s, exit status %d: %s", code, exit, r)
	}
	if err != nil {
		m.t.Errorf("%s: %v", strings.Join(cmd.Args, " "), err)
	}
	return r
}

const demoRef = "refs/loopx/goals/demo"

// tip returns the revision of goal demo, "" where there is none.
func (m *machine) tip(dir string) string {
	m.t.Helper()
	return m.git(dir, "for-each-ref", "--format=%(objectname)", demoRef)
}

// goal makes goal demo with agents, and returns the directory of a new repository.
func (m *machine) goal(name string, agents ...string) string {
	m.t.Helper()
	dir := m.path(name)
	m.git(m.dir, "init", "-q", dir)
	m.does(dir, "init", "demo")
	for _, a := range agents {
		m.does(dir, "agent", "add", a)
	}
	return dir
}

// operations lists the operation ids of goal demo's history, newest first, and fails where one is there twice.
func (m *machine) operations(dir string) map[string]bool {
	m.t.Helper()
	seen := map[string]bool{}
	for id := range strings.SplitSeq(m.git(dir, "log", "--format=%(trailers:key=Loopx-Operation,valueonly,separator=%x2C)", demoRef), "\n") {
		if id = strings.TrimSpace(id); id == "" || seen[id] {
			m.t.Errorf("operation %q is in the history twice, or has no id", id)
		}
		seen[id] = true
	}
	return seen
}
