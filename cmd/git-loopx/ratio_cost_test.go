package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// costRow is what one command costs besides time.
type costRow struct {
	work     string
	peak     int64    // bytes of the largest of its processes
	children []string // the git processes that it started
	objects  int      // files that were added below objects
	bytes    int64    // their size
}

// peakProgram runs a command and tells the largest resident size of any of its processes in the system's unit. The
// benchmark cannot ask for itself: a process that it starts counts the benchmark's own memory as its own.
const peakProgram = `package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	os.WriteFile(os.Args[1], []byte(fmt.Sprintln(peak)), 0o666)
}
`

func (w *ratioWorld) buildPeak(b *testing.B) string {
	b.Helper()
	source := filepath.Join(w.scratch, "peak.go")
	must(b, os.WriteFile(source, []byte(peakProgram), 0o666))
	path := filepath.Join(w.scratch, "peak")
	output(b, exec.Command("go", "build", "-o", path, source))
	return path
}

// cost runs the commands once each on the large goal. "@" stands for the goal's revision, "cold" is a list without its
// cache.
func (w *ratioWorld) cost(b *testing.B) {
	r := w.many(b)
	const goal = " --goal-id demo"
	const a, bb = goal + " --agent-id agent-a", goal + " --agent-id agent-b"
	const session = " --session-id one-session"
	for _, line := range []string{
		"version",
		"help",
		"goal list",
		"goal show demo",
		"agent list" + goal,
		"todo list" + goal,
		"todo list --limit 0" + goal,
		"todo list --limit 0 --json" + goal,
		"cold todo list" + goal,
		"todo show todo_held" + goal,
		"handoff inspect todo_held" + bb + session,
		"todo add --text thing --todo-id todo_x" + a,
		"todo add --text other --todo-id todo_y" + a,
		"todo claim todo_x" + a,
		"handoff prepare todo_x --operation-id cost-1 --expected-revision @ --rationale because --source-ref artifact:a" + a + session,
		"handoff adopt todo_x --operation-id cost-2 --expected-revision @" + bb + " --session-id other-session",
		"todo update todo_x --priority P1" + bb,
		"todo note todo_x --text words" + bb,
		"todo release todo_x" + bb,
		"todo claim todo_x" + bb,
		"todo complete todo_x --evidence seen" + bb,
		"todo reopen todo_x --reason again" + bb,
		"todo complete todo_x --evidence seen" + bb,
		"todo archive todo_x" + bb,
		"todo archive --completed --max-active-done 10" + a,
		"todo receipt cost-1" + goal,
		"todo history todo_x" + goal,
		"agent add agent-c" + goal,
		"agent remove agent-c" + goal,
		"doctor",
		"fsck",
	} {
		name := costName(line)
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			if cold, ok := strings.CutPrefix(line, "cold "); ok {
				line = cold
				must(b, os.RemoveAll(filepath.Join(r.dir, ".git", "loopx", "cache")))
			}
			args := strings.Fields(line)
			for i := range args {
				if args[i] == "@" {
					args[i] = w.git(b, r.dir, "rev-parse", r.ref)
				}
			}
			c := w.costOf(b, r, args)
			c.work = name
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(c.peak)/(1<<20), "MB")
			b.ReportMetric(float64(len(c.children)), "gits")
			b.ReportMetric(float64(c.bytes), "bytes-stored")
			w.costs = append(w.costs, c)
		})
	}
}

// costName is a command line without what only names things.
func costName(line string) string {
	words := strings.Fields(line)
	for i, word := range words {
		if strings.HasPrefix(word, "--") && word != "--limit" && word != "--json" && word != "--completed" {
			words = words[:i]
			break
		}
	}
	return strings.Join(words, " ")
}

// costOf runs git-loopx once. Every git process writes a line to the file of GIT_TRACE2_EVENT when it starts.
func (w *ratioWorld) costOf(b *testing.B, r *ratioRepo, args []string) costRow {
	b.Helper()
	peak, trace := filepath.Join(w.scratch, "rss"), filepath.Join(w.scratch, "trace")
	os.Remove(trace)
	before, sizeBefore := filesBelow(b, filepath.Join(r.dir, ".git", "objects"))
	cmd := w.command(r.dir, w.peak(b), append([]string{peak, "git-loopx"}, args...)...)
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], "GIT_TRACE2_EVENT="+trace)
	must(b, w.failed(cmd, cmd.Run()))
	after, sizeAfter := filesBelow(b, filepath.Join(r.dir, ".git", "objects"))
	c := costRow{objects: after - before, bytes: sizeAfter - sizeBefore}
	text, err := os.ReadFile(peak)
	must(b, err)
	_, err = fmt.Sscan(string(text), &c.peak)
	must(b, err)
	if runtime.GOOS != "darwin" { // which counts bytes
		c.peak *= 1024
	}
	c.children = gitsIn(b, trace)
	return c
}

// gitsIn lists the git processes of a trace.
func gitsIn(b *testing.B, trace string) []string {
	b.Helper()
	f, err := os.Open(trace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must(b, err)
	defer f.Close()
	var verbs []string
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e struct {
			Event string
			Argv  []string
		}
		must(b, json.Unmarshal(lines.Bytes(), &e))
		if e.Event == "start" {
			verbs = append(verbs, gitVerb(e.Argv))
		}
	}
	return verbs
}

// gitVerb is the command among the arguments of a git process.
func gitVerb(argv []string) string {
	for i := 1; i < len(argv); i++ {
		if argv[i] == "-c" {
			i++
			continue
		}
		return argv[i]
	}
	return ""
}

func filesBelow(b *testing.B, dir string) (count int, size int64) {
	b.Helper()
	must(b, filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		count, size = count+1, size+info.Size()
		return err
	}))
	return count, size
}

func (w *ratioWorld) printCosts(out io.Writer) {
	if len(w.costs) == 0 {
		return
	}
	fmt.Fprintf(out, "\ncommand at %d Todos\tpeak MB\tat most\tobjects\tbytes\tgit processes\t\n", w.todos)
	for _, c := range w.costs {
		mb := float64(c.peak) / (1 << 20)
		fmt.Fprintf(out, "%s\t%.1f\t64\t%d\t%d\t%d: %s\t%s\n", c.work, mb, c.objects, c.bytes, len(c.children),
			strings.Join(c.children, ", "), verdict(mb, 64, 0))
	}
}
