//go:build unix

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// writer is one process after another, all of one agent, on a Todo of its own and on those that everybody wants.
type writer struct {
	*machine
	dir, agent, own string

	operations  []string // acknowledged
	title, note string   // as acknowledged last
	won         []string // the wanted Todos that it was told it has
}

// work runs n commands. What is acknowledged is kept for the judgement; nothing may fail but a claim that came too late.
func (w *writer) work(n int) error {
	w.own = "todo_of_" + w.agent
	for i := range n {
		id := fmt.Sprintf("%s-%d", w.agent, i)
		args := []string{"todo", "add", "the work of " + w.agent, "--todo-id", w.own, "--claimed-by", w.agent}
		wanted := ""
		switch {
		case i == 0:
		case i%4 == 1:
			w.title = "title " + id
			args = []string{"todo", "update", w.own, "--title", w.title}
		case i%4 == 2:
			w.note = "note " + id
			args = []string{"todo", "note", w.own, "--text", w.note}
		case i%4 == 3:
			wanted = fmt.Sprintf("todo_wanted_%d", i)
			args = []string{"todo", "claim", wanted}
		default:
			args = []string{"todo", "add", "more work " + id}
		}
		r, err := ask(w.loopx(w.dir, append(args, "--agent-id", w.agent, "--operation-id", id)...))
		switch {
		case err != nil:
			return err
		case r.exit == 0 && r.get("status") == "applied" && r.get("operation_id") == id:
			w.operations = append(w.operations, id)
			if wanted != "" {
				w.won = append(w.won, wanted)
			}
		case wanted == "" || r.get("reason_code") != "claim_owner_mismatch":
			return fmt.Errorf("%s: %s", id, r)
		}
	}
	return nil
}

// TestRaceWriters: what is acknowledged is stored, whatever others write and however often git packs refs and collects
// garbage meanwhile.
func TestRaceWriters(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	count, each := 32, max(4, raceRounds(t)/2)
	var writers []*writer
	var agents []string
	for i := range count {
		agents = append(agents, fmt.Sprintf("agent-%02d", i))
	}
	dir := m.goal("repo", agents...)
	m.git(dir, "config", "loopx.timeout", "60s") // all must succeed, on however small a machine
	for i := 3; i < each; i += 4 {
		id := fmt.Sprintf("todo_wanted_%d", i)
		m.does(dir, "todo", "add", id, "--todo-id", id, "--agent-id", agents[0])
	}
	for _, a := range agents {
		writers = append(writers, &writer{machine: m, dir: dir, agent: a})
	}
	before := m.operations(dir)

	done := make(chan struct{})
	var keepers, hands sync.WaitGroup
	for _, args := range [][]string{{"pack-refs", "--all"}, {"gc", "--quiet", "--prune=now"}} {
		keepers.Go(func() {
			for ran := 0; ; ran++ {
				select {
				case <-done:
					t.Logf("git %s ran %d times", args[0], ran)
					return
				case <-time.After(20 * time.Millisecond):
				}
				// Where it meets a lock it gives up, as beside any other git.
				m.command(dir, "git", args...).Run()
			}
		})
	}
	errs := make([]error, count)
	for i, w := range writers {
		hands.Go(func() { errs[i] = w.work(each) })
	}
	hands.Wait()
	close(done)
	keepers.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}

	// By operation id: each acknowledged one is in the history, and nothing else is.
	after := m.operations(dir)
	stored := len(after) - len(before)
	owners := map[string]string{}
	for _, w := range writers {
		for _, id := range w.operations {
			if !after[id] {
				t.Errorf("%s was acknowledged and is not in the history", id)
			}
		}
		stored -= len(w.operations)
		for _, id := range w.won {
			if owners[id] != "" {
				t.Errorf("%s was given to %s and to %s", id, owners[id], w.agent)
			}
			owners[id] = w.agent
		}
	}
	if stored != 0 {
		t.Errorf("%d operations more are stored than were acknowledged", stored)
	}
	// By effect.
	list := m.does(dir, "todo", "list", "--limit", "0").stdout
	for _, w := range writers {
		shown := m.does(dir, "todo", "show", w.own)
		for _, want := range [][2]string{{"todo.title", w.title}, {"note.text", w.note}, {"todo.claimed_by", w.agent}} {
			if got := shown.get(want[0]); got != want[1] {
				t.Errorf("%s: %s is %q, acknowledged was %q", w.own, want[0], got, want[1])
			}
		}
		for _, id := range w.operations {
			if strings.HasSuffix(id, "-4") && !strings.Contains(list, `"more work `+id+`"`) {
				t.Errorf("the Todo added by %s is missing", id)
			}
		}
	}
	for id, agent := range owners {
		if got := m.does(dir, "todo", "show", id).get("todo.claimed_by"); got != agent {
			t.Errorf("%s is claimed by %q, given to %q", id, got, agent)
		}
	}
	if wanted := strings.Count(list, `"todo_id":"todo_wanted_`); wanted != len(owners) {
		t.Errorf("%d of %d wanted Todos have an owner", len(owners), wanted)
	}
	m.does(dir, "fsck")
	if left, err := filepath.Glob(filepath.Join(dir, ".git/objects/pack/*.keep")); len(left) > 0 || err != nil {
		t.Errorf("kept packs were left: %q, %v", left, err)
	}
	m.fsck(dir)
}
