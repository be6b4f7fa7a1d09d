package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

func (w *ratioWorld) version(b *testing.B) {
	w.against(b, ratioRow{work: "version", against: "git version", atMost: 3},
		always("version"), w.scratch, w.process(w.scratch, "", "git", "version"))
}

// The verbs that are measured, in the long form that is the contract.

func inspectArgs() func(*testing.B) []string {
	return always("--format", "json", "handoff", "inspect", "--goal-id", "demo", "--todo-id", "todo_held",
		"--agent-id", "agent-b", "--session-id", "target-session", "--workspace", ".")
}

func showArgs() func(*testing.B) []string {
	return always("todo", "show", "--goal-id", "demo", "--todo-id", "todo_held")
}

func (w *ratioWorld) add() func(*testing.B) []string {
	return func(*testing.B) []string {
		return []string{"todo", "add", "--goal-id", "demo", "--agent-id", "agent-a", "--priority", "P2", "--label", "ci",
			"--text", fmt.Sprintf("Another thing to do, number %d: look at the log of the failed run and say what it was", w.next())}
	}
}

// claim makes the Todo first that is claimed.
func (w *ratioWorld) claim(r *ratioRepo) func(*testing.B) []string {
	return func(b *testing.B) []string {
		id := fmt.Sprintf("todo_claim%d", w.next())
		output(b, w.command(r.dir, "git-loopx", "todo", "add", "--goal-id", "demo", "--agent-id", "agent-a", "--todo-id", id,
			"--text", "A Todo to claim: "+id))
		return []string{"todo", "claim", "--goal-id", "demo", "--agent-id", "agent-b", "--todo-id", id}
	}
}

func (w *ratioWorld) prepare(r *ratioRepo) func(*testing.B) []string {
	return func(b *testing.B) []string {
		return []string{"handoff", "prepare", "--goal-id", "demo", "--todo-id", "todo_held", "--agent-id", "agent-a",
			"--session-id", "source-session", "--operation-id", fmt.Sprintf("handoff-%d", w.next()),
			"--expected-revision", w.git(b, r.dir, "rev-parse", r.ref),
			"--rationale", "The loop gave up after three tries, which was too soon on slow disks and too late on fast ones",
			"--source-ref", "artifact:decision.md"}
	}
}

// catHeld is git's way to show one Todo.
func (w *ratioWorld) catHeld(r *ratioRepo) work {
	return w.process(r.dir, "", "git", "cat-file", "-p", r.ref+":"+todo.TodoPath("todo_held"))
}

// fiveGits is git's way to commit one file in a directory durably: five processes, each waiting for the one before.
func (w *ratioWorld) fiveGits(r *ratioRepo) work {
	const ref = "refs/bench/five"
	return func(b *testing.B) func() error {
		content := fmt.Sprintf(`{"id":"todo_%d","schema_version":"todo_item_v0","status":"open","text":"Another thing to do: look at the log of the failed run and say what it was","todo_id":"todo_%d"}`+"\n", w.next(), w.drawn)
		parent := w.git(b, r.dir, "for-each-ref", "--format=%(objectname)", ref)
		return func() error {
			var failed error
			git := func(stdin string, args ...string) string {
				if failed != nil {
					return ""
				}
				cmd := w.command(r.dir, "git", append([]string{"-c", "core.fsync=all"}, args...)...)
				cmd.Stdin = strings.NewReader(stdin)
				out, err := cmd.Output()
				failed = w.failed(cmd, err)
				return strings.TrimSpace(string(out))
			}
			blob := git(content, "hash-object", "-w", "--stdin")
			bucket := git("100644 blob "+blob+"\ttodo.json\n", "mktree")
			root := git("040000 tree "+bucket+"\ttodos\n", "mktree")
			line := []string{"commit-tree", "-m", "todo add", root}
			if parent != "" {
				line = append(line, "-p", parent)
			}
			commit := git("", line...)
			git("", "update-ref", ref, commit, parent)
			return failed
		}
	}
}

func (w *ratioWorld) read(b *testing.B) {
	r := w.small(b)
	const cat = "cat-file -p <ref>:<path>"
	b.Run("inspect", func(b *testing.B) {
		w.against(b, ratioRow{work: "handoff inspect", against: cat, atMost: 3.5, stretch: 2}, inspectArgs(), r.dir, w.catHeld(r))
	})
	b.Run("show", func(b *testing.B) {
		w.against(b, ratioRow{work: "todo show", against: cat, atMost: 3.5, stretch: 2}, showArgs(), r.dir, w.catHeld(r))
	})
	b.Run("short", func(b *testing.B) {
		w.against(b, ratioRow{work: "todo show, goal not named", against: cat, atMost: 3.5, stretch: 2},
			always("todo", "show", "todo_held"), r.dir, w.catHeld(r))
	})
	b.Run("packed", func(b *testing.B) {
		packed := w.packed(b)
		w.against(b, ratioRow{work: fmt.Sprintf("todo show of %d, after git gc", w.todos), against: cat, atMost: 3.5, stretch: 2},
			showArgs(), packed.dir, w.catHeld(packed))
	})
}

func (w *ratioWorld) write(b *testing.B) {
	w.writeTo(b, "", w.small)
	w.writeTo(b, fmt.Sprintf(" to %d", w.todos), w.many)
}

func (w *ratioWorld) writeTo(b *testing.B, where string, repo func(*testing.B) *ratioRepo) {
	measure := func(name string, args func(*ratioRepo) func(*testing.B) []string) {
		b.Run(strings.ReplaceAll(name+where, " ", "_"), func(b *testing.B) {
			r := repo(b)
			w.against(b, ratioRow{work: name + where, against: "five git processes, synced", atMost: 1, stretch: 0.6},
				args(r), r.dir, w.fiveGits(r))
		})
	}
	measure("todo add", func(*ratioRepo) func(*testing.B) []string { return w.add() })
	measure("todo claim", w.claim)
	measure("handoff prepare", w.prepare)
}

func (w *ratioWorld) million(b *testing.B) {
	big := w.newGoal(b, w.newBig(b))
	small := w.newGoal(b, w.newRepo(b, w.scratch)) // its twin: w.small has seen more
	measure := func(name string, args func(*ratioRepo) func(*testing.B) []string) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			times := sideBySide(b, w.rounds, w.through("git", big.dir, args(big)), w.through("git", small.dir, args(small)))
			w.report(b, ratioRow{work: fmt.Sprintf("%s beside %d objects", name, w.objects), against: "in a small repository",
				ours: times[0], theirs: times[1], atMost: 1.3})
		})
	}
	measure("handoff inspect", func(*ratioRepo) func(*testing.B) []string { return inspectArgs() })
	measure("todo show", func(*ratioRepo) func(*testing.B) []string { return showArgs() })
	measure("todo add", func(*ratioRepo) func(*testing.B) []string { return w.add() })
	measure("todo claim", w.claim)
	measure("handoff prepare", w.prepare)
	for _, r := range []*ratioRepo{small, big} { // the goal's own objects into a pack beside the large one
		w.git(b, r.dir, "repack", "-q", "-d")
		w.git(b, r.dir, "pack-refs", "--all")
	}
	measure("packed todo show", func(*ratioRepo) func(*testing.B) []string { return showArgs() })
	measure("packed todo add", func(*ratioRepo) func(*testing.B) []string { return w.add() })
}

func (w *ratioWorld) list(b *testing.B) {
	measure := func(state string, repo func(*testing.B) *ratioRepo, flags ...string) {
		name := strings.Join(append([]string{"todo list"}, flags...), " ")
		b.Run(strings.ReplaceAll(name+state, " ", "_"), func(b *testing.B) {
			r := repo(b)
			ids := filepath.Join(r.dir, ".git", "ids")
			blobs := w.git(b, r.dir, "ls-tree", "-r", "--format=%(objectname)", r.ref+":todos") + "\n"
			must(b, os.WriteFile(ids, []byte(blobs), 0o666))
			rounds := w.rounds
			w.rounds = w.slow
			defer func() { w.rounds = rounds }()
			w.against(b, ratioRow{work: fmt.Sprintf("%s of %d%s", name, strings.Count(blobs, "\n"), state),
				against: "cat-file --batch of them", atMost: 1, stretch: 0.3},
				always(append([]string{"todo", "list", "--goal-id", "demo"}, flags...)...), r.dir,
				w.process(r.dir, ids, "git", "cat-file", "--batch"))
		})
	}
	for _, at := range []struct {
		state string
		repo  func(*testing.B) *ratioRepo
	}{{", after git gc", w.packed}, {", loose", w.loose}} {
		measure(at.state, at.repo)
		measure(at.state, at.repo, "--limit", "0")
		measure(at.state, at.repo, "--limit", "0", "--json")
	}
}

// ready is measured against list in a goal whose Todos wait for each other, both with a warm cache.
func (w *ratioWorld) ready(b *testing.B) {
	r := w.waits(b)
	goal := []string{"--goal-id", "demo"}
	for _, flags := range [][]string{nil, {"--json"}, {"--limit", "0"}, {"--explain"}} {
		name := strings.Join(append([]string{"todo ready"}, flags...), " ")
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			line := slices.Concat([]string{"todo", "ready", "--agent-id", "agent-a"}, goal, flags)
			list := slices.Concat([]string{"todo", "list"}, goal, flags)
			if len(flags) > 0 && flags[0] == "--explain" {
				list = slices.Concat([]string{"todo", "list", "--limit", "0"}, goal) // as many rows
			}
			w.against(b, ratioRow{work: fmt.Sprintf("%s of %d that wait", name, w.todos), against: strings.Join(list, " "), atMost: 1.5},
				always(line...), r.dir, w.through("git", r.dir, always(list...)))
			c := w.costOf(b, r, line)
			c.work = name + " of Todos that wait"
			b.ReportMetric(float64(c.peak)/(1<<20), "MB")
			w.costs = append(w.costs, c)
		})
	}
}

// crowd runs many commands on one goal, 32 at a time and one after another, each time in a new repository.
func (w *ratioWorld) crowd(b *testing.B) {
	at := func(once int) work {
		return func(b *testing.B) func() error {
			r := w.newGoal(b, w.newRepo(b, w.scratch))
			before := w.git(b, r.dir, "rev-list", "--count", r.ref)
			b.Cleanup(func() { w.allThere(b, r, before) })
			lines := make(chan []string, w.crowded)
			for range w.crowded {
				lines <- w.add()(b)
			}
			close(lines)
			return func() error {
				var wait sync.WaitGroup
				errs := make(chan error, w.crowded)
				for range once {
					wait.Go(func() {
						for line := range lines {
							cmd := w.command(r.dir, "git", append([]string{"loopx"}, line...)...)
							if err := cmd.Run(); err != nil {
								errs <- w.failed(cmd, err)
							}
						}
					})
				}
				wait.Wait()
				close(errs)
				return <-errs
			}
		}
	}
	times := sideBySide(b, 2, at(32), at(1))
	w.report(b, ratioRow{work: fmt.Sprintf("%d commands, 32 at a time", w.crowded), against: "one after another",
		ours: times[0], theirs: times[1], atMost: 1.5})
}

// allThere fails unless every command of a crowd has its Todo and its commit.
func (w *ratioWorld) allThere(b *testing.B, r *ratioRepo, before string) {
	var list struct{ Total int }
	out := output(b, w.command(r.dir, "git-loopx", "todo", "list", "--goal-id", "demo", "--limit", "0", "--json"))
	must(b, json.Unmarshal([]byte(out), &list))
	if want := w.crowded + 20; list.Total != want {
		b.Errorf("%d Todos are there, want %d", list.Total, want)
	}
	var had, has int
	fmt.Sscan(before, &had)
	fmt.Sscan(w.git(b, r.dir, "rev-list", "--count", r.ref), &has)
	if has != had+w.crowded {
		b.Errorf("%d commits are there, want %d", has, had+w.crowded)
	}
	w.git(b, r.dir, "fsck", "--strict", "--no-dangling")
}
