//go:build unix

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

var rounds = flag.Int("rounds", 20, "rounds of each race between processes")

// raceRounds are fewer with -short, and the test says so.
func raceRounds(t *testing.T) int {
	if testing.Short() {
		t.Logf("-short: 2 rounds instead of %d", *rounds)
		return 2
	}
	return *rounds
}

// atOnce starts all commands as close together as can be and returns their answers in the same order.
func atOnce(t *testing.T, cmds []*exec.Cmd) []reply {
	t.Helper()
	var (
		wait    sync.WaitGroup
		start   = make(chan struct{})
		replies = make([]reply, len(cmds))
		errs    = make([]error, len(cmds))
	)
	for i, cmd := range cmds {
		wait.Go(func() {
			<-start
			replies[i], errs[i] = ask(cmd)
		})
	}
	close(start)
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	return replies
}

// lockless takes the advisory locks away, if it shall: they are for fairness only, and what is promised holds without
// them too. The function returned gives them back.
func (m *machine) lockless(dir string, shall bool) (restore func()) {
	m.t.Helper()
	locks := filepath.Join(dir, ".git/loopx/locks")
	if !shall {
		return func() {}
	}
	if err := os.RemoveAll(locks); err != nil {
		m.t.Fatal(err)
	}
	m.write(locks, "not a directory")
	return func() { os.Remove(locks) }
}

// TestRaceClaim: of 64 processes that claim one Todo at once exactly one gets it, and the others learn whose it is.
func TestRaceClaim(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	agents := make([]string, 64)
	for i := range agents {
		agents[i] = fmt.Sprintf("agent-%02d", i)
	}
	dir := m.goal("repo", agents...)
	for round := range raceRounds(t) {
		id := fmt.Sprintf("todo_%d", round)
		m.does(dir, "todo", "add", "work "+id, "--todo-id", id, "--agent-id", agents[0])
		restore := m.lockless(dir, round%2 == 1)
		before := m.tip(dir)
		cmds := make([]*exec.Cmd, len(agents))
		for i, a := range agents {
			cmds[i] = m.loopx(dir, "todo", "claim", id, "--agent-id", a)
		}
		replies := atOnce(t, cmds)
		restore()
		winner := ""
		for i, r := range replies {
			switch {
			case r.exit == 0 && r.get("status") == "applied":
				if winner != "" {
					t.Errorf("round %d: %s and %s both got it", round, winner, agents[i])
				}
				winner = agents[i]
			case r.exit != 1 || r.get("reason_code") != "claim_owner_mismatch":
				t.Errorf("round %d: %s: %s", round, agents[i], r)
			}
		}
		if got := m.does(dir, "todo", "show", id).get("todo.claimed_by"); got != winner || winner == "" {
			t.Errorf("round %d: claimed by %q, applied for %q", round, got, winner)
		}
		if log := m.git(dir, "log", "--format=%s|%(trailers:key=Loopx-Agent,valueonly,separator=)", before+".."+demoRef); log != "todo claim "+id+"|"+winner {
			t.Errorf("round %d: the history has %q", round, log)
		}
	}
	m.fsck(dir)
}

// racer is the operation id of the first (0) or second (1) command of a pair.
func racer(i, round int) string { return fmt.Sprintf("%s-%d", [...]string{"one", "two"}[i], round) }

// race runs two commands at once in many rounds, with and without advisory locks: one is applied, and the other is a
// conflict or one of the refusals given.
func (m *machine) race(dir string, rounds int, pair func(round int) [2]*exec.Cmd, refusals ...string) {
	m.t.Helper()
	refused := map[string]int{}
	for round := range rounds {
		restore := m.lockless(dir, round%2 == 1)
		cmds := pair(round)
		before := m.tip(dir)
		replies := atOnce(m.t, cmds[:])
		restore()
		first := 0
		if replies[0].exit != 0 {
			first = 1
		}
		won, lost := replies[first], replies[1-first]
		if won.get("status") != "applied" || lost.exit == 0 {
			m.t.Fatalf("round %d: want one applied:\n%s\n%s", round, won, lost)
		}
		code := lost.get("reason_code")
		conflict := code == "provider_revision_mismatch" && lost.exit == exitConflict && lost.get("status") == "conflict" &&
			lost.get("current_provider_revision") == won.get("original_receipt.provider_revision")
		if !conflict && (lost.exit != exitRefused || !slices.Contains(refusals, code)) {
			m.t.Errorf("round %d: the one that lost: %s", round, lost)
		}
		refused[code]++
		if n := m.git(dir, "rev-list", "--count", before+".."+demoRef); n != "1" {
			m.t.Errorf("round %d: %s commits", round, n)
		}
		if m.does(dir, "todo", "receipt", racer(1-first, round)).get("status") != "missing" {
			m.t.Errorf("round %d: the one that lost left a receipt", round)
		}
	}
	m.t.Logf("the others were refused with %v", refused)
	m.fsck(dir)
}

// TestRacePrepare: of two prepares on one revision one is applied and the other a conflict (continuation.md, case 14).
func TestRacePrepare(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	dir := m.goal("repo", "agent-a")
	m.does(dir, "todo", "add", "work", "--todo-id", "todo_a", "--agent-id", "agent-a", "--claimed-by", "agent-a")
	m.race(dir, raceRounds(t), func(round int) (pair [2]*exec.Cmd) {
		for i := range pair {
			pair[i] = m.loopx(dir, "handoff", "prepare", "todo_a", "--goal-id", "demo", "--agent-id", "agent-a", "--session-id", "s",
				"--operation-id", racer(i, round), "--expected-revision", m.tip(dir), "--rationale", racer(i, round))
		}
		return pair
	})
}

// TestRaceAdopt: of two that adopt at once one is applied; the other is a conflict, or finds the note spent if it looked
// after that (continuation.md, case 34).
func TestRaceAdopt(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	dir := m.goal("repo", "agent-a", "agent-b", "agent-c")
	m.race(dir, raceRounds(t), func(round int) (pair [2]*exec.Cmd) {
		id := fmt.Sprintf("todo_%d", round)
		m.does(dir, "todo", "add", "work "+id, "--todo-id", id, "--agent-id", "agent-a", "--claimed-by", "agent-a")
		m.does(dir, "handoff", "prepare", id, "--goal-id", "demo", "--agent-id", "agent-a", "--session-id", "s",
			"--operation-id", "prepare-"+id, "--expected-revision", m.tip(dir), "--rationale", "because")
		for i, agent := range []string{"agent-b", "agent-c"} {
			pair[i] = m.loopx(dir, "handoff", "adopt", id, "--goal-id", "demo", "--agent-id", agent, "--session-id", agent,
				"--operation-id", racer(i, round), "--expected-revision", m.tip(dir))
		}
		return pair
	}, "continuation_not_ready")
}
