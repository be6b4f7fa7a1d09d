package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// ratioWorld is what the parts of BenchmarkRatio share: the program on PATH, pinned configuration, repositories that are
// made when first needed, and what was measured so far.
type ratioWorld struct {
	scratch string
	env     []string
	stderr  *os.File // of every process; read when one fails

	rounds  int // of commands that take milliseconds
	slow    int // rounds of those that take more
	todos   int // Todos of the large goal
	objects int // objects of the large pack
	crowded int // commands on one goal

	small  func(b *testing.B) *ratioRepo // twenty Todos
	many   func(b *testing.B) *ratioRepo // ten thousand, after git gc and what was measured since
	packed func(b *testing.B) *ratioRepo // ten thousand right after git gc; for reading
	loose  func(b *testing.B) *ratioRepo // the same in loose objects, without its history
	waits  func(b *testing.B) *ratioRepo // ten thousand in a pack, with thirty thousand dependencies; for reading
	peak   func(b *testing.B) string     // the program that measures memory

	drawn int // ids given out
	about string
	notes []string
	rows  []ratioRow
	costs []costRow
}

// newRatioWorld builds the program and sets the stage.
func newRatioWorld(b *testing.B) *ratioWorld {
	w := &ratioWorld{scratch: b.TempDir(), rounds: 40, slow: 21, todos: 10_000, objects: 1_000_000, crowded: 600}
	if testing.Short() {
		w.rounds, w.slow, w.todos, w.objects, w.crowded = 20, 5, 1_000, 20_000, 64
	}
	bin := filepath.Join(w.scratch, "bin")
	output(b, exec.Command("go", "build", "-o", bin+string(filepath.Separator), "."))
	config := filepath.Join(w.scratch, "gitconfig")
	must(b, os.WriteFile(config, []byte("[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"), 0o666))
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") && !strings.HasPrefix(v, "LOOPX_") && !strings.HasPrefix(v, "PATH=") && !strings.HasPrefix(v, "HOME=") {
			w.env = append(w.env, v)
		}
	}
	w.env = append(w.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+w.scratch,
		"GIT_CONFIG_GLOBAL="+config, "GIT_CONFIG_NOSYSTEM=1")
	// Commands look programs up in this process's PATH, children in theirs.
	b.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	var err error
	w.stderr, err = os.Create(filepath.Join(w.scratch, "stderr"))
	must(b, err)
	b.Cleanup(func() { w.stderr.Close() })

	w.small = once(func(b *testing.B) *ratioRepo { return w.newGoal(b, w.newRepo(b, w.scratch)) })
	w.many = once(w.newMany)
	w.packed = once(w.newPacked)
	w.loose = once(w.newLoose)
	w.waits = once(w.newWaiting)
	w.peak = once(w.buildPeak)
	w.about = fmt.Sprintf("%s, %s, %s/%s, %d processors, %d rounds (%d of slow work), one small file is created and synced in %.2f ms",
		strings.TrimSpace(output(b, w.command("", "git", "version"))), runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU(), w.rounds, w.slow, milliseconds(w.syncTime(b)))
	return w
}

// syncTime is what the file system asks for one durable file. Where it is next to nothing, writing is all processes.
func (w *ratioWorld) syncTime(b *testing.B) time.Duration {
	b.Helper()
	times := sideBySide(b, 20, func(b *testing.B) func() error {
		path := filepath.Join(w.scratch, fmt.Sprintf("sync%d", w.next()))
		return func() error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			_, err = f.WriteString(strings.Repeat("nothing\n", 25))
			return errors.Join(err, f.Sync(), f.Close())
		}
	})
	return median(times[0])
}

// once keeps what make made; the first caller's benchmark makes it, and the others fail if that failed.
func once[T any](make func(b *testing.B) T) func(b *testing.B) T {
	var (
		do   sync.Once
		made T
		ok   bool
	)
	return func(b *testing.B) T {
		b.Helper()
		do.Do(func() { made, ok = make(b), true })
		if !ok {
			b.Fatal("what this measures could not be made")
		}
		return made
	}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// command prepares a process of this world.
func (w *ratioWorld) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = w.env
	cmd.Stderr = w.stderr
	return cmd
}

// failed says which process failed, with all that was said on standard error.
func (w *ratioWorld) failed(cmd *exec.Cmd, err error) error {
	if err == nil {
		return nil
	}
	said, _ := os.ReadFile(w.stderr.Name())
	return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said)
}

// git runs git beside the measurements and returns what it printed.
func (w *ratioWorld) git(b *testing.B, dir string, args ...string) string {
	b.Helper()
	cmd := w.command(dir, "git", args...)
	out, err := cmd.Output()
	must(b, w.failed(cmd, err))
	return strings.TrimSpace(string(out))
}

// output runs a process to its end and returns what it printed.
func output(b *testing.B, cmd *exec.Cmd) string {
	b.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, errs.String())
	}
	return string(out)
}

// through is the work of running this program, by itself ("git-loopx") or through git ("git").
func (w *ratioWorld) through(name, dir string, args func(b *testing.B) []string) work {
	return func(b *testing.B) func() error {
		line := args(b)
		if name == "git" {
			line = append([]string{"loopx"}, line...)
		}
		cmd := w.command(dir, name, line...)
		return func() error { return w.failed(cmd, cmd.Run()) }
	}
}

// process is the work of running one process; stdin names a file, "" is none.
func (w *ratioWorld) process(dir, stdin string, args ...string) work {
	return func(b *testing.B) func() error {
		cmd := w.command(dir, args[0], args[1:]...)
		if stdin != "" {
			f, err := os.Open(stdin)
			must(b, err)
			b.Cleanup(func() { f.Close() })
			cmd.Stdin = f
		}
		return func() error { return w.failed(cmd, cmd.Run()) }
	}
}

// always is for arguments that are the same in every round.
func always(args ...string) func(*testing.B) []string {
	return func(*testing.B) []string { return args }
}

// next returns a number that no other id of this run has.
func (w *ratioWorld) next() int {
	w.drawn++
	return w.drawn
}

// ratioRepo is a repository with the goal "demo" and its agents "agent-a" and "agent-b". Todo "todo_held" is agent-a's
// and has a continuation note; the others are unclaimed.
type ratioRepo struct {
	dir string
	ref string
}

// newRepo makes an empty repository in a new directory. Housekeeping is off, so that it does not run into the next
// measurement.
func (w *ratioWorld) newRepo(b *testing.B, below string) *ratioRepo {
	b.Helper()
	dir, err := os.MkdirTemp(below, "repo")
	must(b, err)
	w.git(b, dir, "init", "-q")
	w.git(b, dir, "config", "maintenance.auto", "false")
	return &ratioRepo{dir: dir, ref: "refs/loopx/goals/demo"}
}

// newGoal makes the goal with twenty Todos.
func (w *ratioWorld) newGoal(b *testing.B, r *ratioRepo) *ratioRepo {
	b.Helper()
	loopx := func(args ...string) { output(b, w.command(r.dir, "git-loopx", args...)) }
	loopx("goal", "create", "demo")
	loopx("agent", "add", "agent-a", "--goal-id", "demo")
	loopx("agent", "add", "agent-b", "--goal-id", "demo")
	loopx("todo", "add", "--goal-id", "demo", "--agent-id", "agent-a", "--todo-id", "todo_held", "--claimed-by", "agent-a",
		"--text", "Bound the retry loop by time, not by count")
	for range 19 {
		loopx(w.add()(b)...)
	}
	loopx(w.prepare(r)(b)...)
	return r
}
