package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The scripts in testdata/script are the main tests: one story each, named <command>_<story>.txtar, driven through
// "git loopx" itself in real repositories. Run one with
//
//	go test ./cmd/git-loopx -run TestScript/todo_claim
//
// and rewrite its goldens with -update. Each runs in an empty directory of its own, with
//
//   - git-loopx on PATH (this test binary), so that "git loopx …", aliases and git -C work;
//   - HOME, git's configuration, names, dates and time zone pinned, and the environment variables of LOOPX_ and GIT_ of
//     the machine absent;
//   - the clock at LOOPX_TEST_NOW (2026-09-13T10:00:00Z), which a script may set with env to let time pass, and a random
//     source whose bytes depend on nothing but how many commands the script ran before. So ids and hashes are the same
//     in every run and may stand in goldens; tests of commands side by side cannot rely on them.
//
// Besides the commands of testscript (exec, !, ?, stdout, stderr, cmp, cmpenv, cp, env, cd, exists, grep, mkdir, stdin …):
//
//	repo [DIR]            git init there (the current directory unless named), branch main
//	status N CMD ARGS…    run CMD, which must exit with N; stdout and stderr are kept for stdout, stderr, cmp, get
//	json [FILE]           FILE (stdout) must hold exactly one JSON document and a newline, nothing else
//	get VAR PATH [FILE]   put a member of the JSON document in FILE (stdout) into $VAR; PATH is like todo.labels.0
//	want PATH VALUE       the member of the JSON document on stdout has this text; a missing one is "(none)"
//	setrev VAR REF        put the full id of a ref into $VAR
//	mark [DIR]            remember all refs and objects of the repository
//	unmoved [DIR]         no ref moved, came or went since mark
//	untouched [DIR]       as unmoved, and no object was written either
//	refused N CODE CMD …  as status, and CMD keeps all promises of a refusal with that reason code: see scriptRefused
//	stray                 fails if stderr of the last command has lines that are neither "error:" nor "hint:" nor indented
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		Setup:               setupScript,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"repo": scriptRepo, "status": scriptStatus, "json": scriptJSON, "get": scriptGet, "want": scriptWant,
			"setrev": scriptSetrev, "mark": scriptMark, "unmoved": scriptUnmoved, "untouched": scriptUntouched, "stray": scriptStray,
			"refused": scriptRefused,
		},
	})
}

var update = flag.Bool("update", false, "rewrite the goldens of scripts and the manual page")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"git-loopx": scriptMain})
}

// scriptMain is main with a pinned clock and random source.
func scriptMain() {
	app := &App{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Environ(),
		Now: time.Now, Random: countedRandom(os.Getenv("LOOPX_TEST_COUNTER")), Executable: os.Executable, IsTerminal: isTerminal, Signals: signals}
	if pinned, err := time.Parse(time.RFC3339, os.Getenv("LOOPX_TEST_NOW")); err == nil {
		app.Now = func() time.Time { return pinned }
	}
	if os.Getenv("LOOPX_TEST_PANIC") != "" {
		app.Now = func() time.Time { panic("a test asked for it") }
	}
	os.Exit(app.Run(context.Background()))
}

// countedRandom is a random source that depends on the number of earlier calls with this file, and on nothing else.
func countedRandom(file string) io.Reader {
	var seed [32]byte
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
	if err == nil {
		defer f.Close()
		f.Write([]byte{'.'})
		at, _ := f.Seek(0, io.SeekCurrent)
		copy(seed[:], fmt.Sprint(at))
	}
	return rand.NewChaCha8(seed)
}

func setupScript(env *testscript.Env) error {
	home, err := os.MkdirTemp("", "loopx-home-")
	if err != nil {
		return err
	}
	env.Defer(func() { os.RemoveAll(home) })
	config := "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n"
	if err := os.WriteFile(filepath.Join(home, "gitconfig"), []byte(config), 0o666); err != nil {
		return err
	}
	env.Vars = append(env.Vars,
		"HOME="+home, "XDG_CONFIG_HOME="+home, "GIT_CONFIG_GLOBAL="+filepath.Join(home, "gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_DATE=2026-09-13T10:00:00Z", "GIT_COMMITTER_DATE=2026-09-13T10:00:00Z",
		"TZ=UTC", "LC_ALL=C", "NO_COLOR=1",
		"LOOPX_TEST_NOW=2026-09-13T10:00:00Z", "LOOPX_TEST_COUNTER="+filepath.Join(home, "counter"))
	return nil
}

func scriptRepo(ts *testscript.TestScript, neg bool, args []string) {
	dir := "."
	if len(args) > 0 {
		dir = args[0]
	}
	ts.Check(ts.Exec("git", "init", "-q", "-b", "main", ts.MkAbs(dir)))
}

func scriptStatus(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: status N CMD ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, ok := err.(*exec.ExitError); ok {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// document reads exactly one JSON document from a file.
func document(ts *testscript.TestScript, file string) any {
	text := ts.ReadFile(file)
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s is no JSON document: %v", file, err)
	}
	if rest := strings.TrimSpace(text[d.InputOffset():]); rest != "" {
		ts.Fatalf("%s has more than one JSON document: %q", file, rest)
	}
	if !strings.HasSuffix(text, "}\n") || strings.Count(text, "\n") != 1 {
		ts.Fatalf("%s is not one line", file)
	}
	return v
}

func scriptJSON(ts *testscript.TestScript, neg bool, args []string) {
	file := "stdout"
	if len(args) > 0 {
		file = args[0]
	}
	object, ok := document(ts, file).(map[string]any)
	if !ok {
		ts.Fatalf("%s is no JSON object", file)
	}
	for _, name := range []string{"ok", "action", "schema"} {
		if object[name] == nil {
			ts.Fatalf("%s has no member %s", file, name)
		}
	}
	if object["ok"] == false {
		for _, name := range []string{"status", "failure_kind", "reason_code", "reason"} {
			if object[name] == nil {
				ts.Fatalf("%s is a refusal without member %s", file, name)
			}
		}
	}
}

// memberOf follows a path like todo.labels.0; texts come as they are, all else as JSON.
func memberOf(v any, path string) (string, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			m, ok := x[name]
			if !ok {
				return "", false
			}
			v = m
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i < 0 || i >= len(x) {
				return "", false
			}
			v = x[i]
		default:
			return "", false
		}
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", false
	}
	return strings.TrimSpace(b.String()), true
}

func scriptGet(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || len(args) > 3 || neg {
		ts.Fatalf("usage: get VAR PATH [FILE]")
	}
	file := "stdout"
	if len(args) == 3 {
		file = args[2]
	}
	value, ok := memberOf(document(ts, file), args[1])
	if !ok {
		ts.Fatalf("no member %s", args[1])
	}
	ts.Setenv(args[0], value)
}

func scriptWant(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: want PATH VALUE")
	}
	got, ok := memberOf(document(ts, "stdout"), args[0])
	if !ok {
		got = "(none)"
	}
	if (got == args[1]) == neg {
		ts.Fatalf("%s is %q, want %q (not: %v)", args[0], got, args[1], neg)
	}
}

func scriptSetrev(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 || neg {
		ts.Fatalf("usage: setrev VAR REF")
	}
	ts.Setenv(args[0], strings.TrimSpace(git(ts, ".", "rev-parse", "--verify", args[1])))
}

// git runs git beside the script, so that stdout and stderr of its last command stay.
func git(ts *testscript.TestScript, dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = ts.MkAbs(dir)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+ts.Getenv("GIT_CONFIG_GLOBAL"), "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		ts.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func refsOf(ts *testscript.TestScript, dir string) string {
	return git(ts, dir, "for-each-ref", "--format=%(objectname) %(refname)")
}

func objectsOf(ts *testscript.TestScript, dir string) string {
	return git(ts, dir, "cat-file", "--batch-all-objects", "--batch-check", "--unordered")
}

func scriptMark(ts *testscript.TestScript, neg bool, args []string) {
	dir := strings.Join(append(args, "."), "/")
	ts.Setenv("MARK_REFS", refsOf(ts, dir))
	ts.Setenv("MARK_OBJECTS", objectsOf(ts, dir))
}

func scriptUnmoved(ts *testscript.TestScript, neg bool, args []string) {
	got := refsOf(ts, strings.Join(append(args, "."), "/"))
	if (got == ts.Getenv("MARK_REFS")) == neg {
		ts.Fatalf("refs moved: %v\n%s\nbefore:\n%s", !neg, got, ts.Getenv("MARK_REFS"))
	}
}

func scriptUntouched(ts *testscript.TestScript, neg bool, args []string) {
	scriptUnmoved(ts, neg, args)
	got := objectsOf(ts, strings.Join(append(args, "."), "/"))
	if (got == ts.Getenv("MARK_OBJECTS")) == neg {
		ts.Fatalf("objects were written: %v", !neg)
	}
}

func scriptStray(ts *testscript.TestScript, neg bool, args []string) {
	for line := range strings.Lines(ts.ReadFile("stderr")) {
		if !strings.HasPrefix(line, "error: ") && !strings.HasPrefix(line, "hint: ") && !strings.HasPrefix(line, "  ") {
			ts.Fatalf("stray line on stderr: %q", line)
		}
	}
}
