//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// TestRaceReady: processes that take what is ready, all at once, get each Todo exactly once, and none is left.
func TestRaceReady(t *testing.T) {
	t.Parallel()
	const processes, todos = 64, 200
	m := newMachine(t)
	agents := make([]string, processes)
	for i := range agents {
		agents[i] = fmt.Sprintf("agent-%02d", i)
	}
	for round := range min(raceRounds(t), 10) {
		dir := m.path(fmt.Sprint("round", round))
		m.git(m.dir, "init", "-q", dir)
		m.git(dir, "config", "loopx.timeout", "60s") // all must be served, on however small a machine
		m.does(dir, "init", "demo")
		hard := round%2 == 1
		if hard {
			m.does(dir, "goal", "mode", "set", "--mode", "hard_lease")
		}
		for _, a := range agents {
			m.does(dir, "agent", "add", a)
		}
		lines := &strings.Builder{}
		for i := range todos {
			fmt.Fprintf(lines, `{"op":"add","todo_id":"todo_%03d","text":"work %d"}`+"\n", i, i)
		}
		m.write(m.path("todos.jsonl"), lines.String())
		m.does(dir, "todo", "apply", m.path("todos.jsonl"), "--agent-id", agents[0])

		taken := map[string]string{}
		for left := todos; left > 0; {
			cmds := make([]*exec.Cmd, processes)
			for i, a := range agents {
				args := []string{"todo", "ready", "--claim", "--agent-id", a}
				if hard {
					args = append(args, "--task-lease-idempotency-key", fmt.Sprintf("%s/%d", a, left))
				}
				cmds[i] = m.loopx(dir, args...)
			}
			got := 0
			for i, r := range atOnce(t, cmds) {
				id := r.get("todo.todo_id")
				switch {
				case r.exit != 0:
					t.Fatalf("round %d: %s: %s", round, agents[i], r)
				case r.get("todo") == "null" && left < processes: // nothing was ready any more
				case r.get("status") != "applied" || r.get("todo.claimed_by") != agents[i] || taken[id] != "":
					t.Fatalf("round %d: %s got %s, which %q has: %s", round, agents[i], id, taken[id], r)
				default:
					taken[id] = agents[i]
					got++
				}
			}
			if want := min(left, processes); got != want {
				t.Fatalf("round %d: %d of %d Todos were handed out", round, got, want)
			}
			left -= got
		}
		var list struct {
			Todos []struct {
				TodoID    string `json:"todo_id"`
				ClaimedBy string `json:"claimed_by"`
			} `json:"todos"`
		}
		if err := json.Unmarshal([]byte(m.does(dir, "todo", "list", "--limit", "0").stdout), &list); err != nil {
			t.Fatal(err)
		}
		if len(list.Todos) != todos || len(taken) != todos {
			t.Errorf("round %d: %d Todos, %d of them handed out", round, len(list.Todos), len(taken))
		}
		for _, row := range list.Todos {
			if row.ClaimedBy != taken[row.TodoID] {
				t.Errorf("round %d: %s was handed out to %q and is claimed by %q", round, row.TodoID, taken[row.TodoID], row.ClaimedBy)
			}
		}
		m.fsck(dir)
	}
}
