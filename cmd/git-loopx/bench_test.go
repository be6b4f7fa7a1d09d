package main

import (
	"strings"
	"testing"
)

// BenchmarkParse is what a command line costs before anything is done: the grammar of one verb and its flags.
func BenchmarkParse(b *testing.B) {
	for _, line := range []string{
		"version",
		"todo list",
		"todo claim todo_a --agent-id agent-a",
		"todo update todo_a --title x --agent-id agent-a",
		"handoff inspect --goal-id demo --todo-id todo_a --agent-id agent-a --session-id s --format digest",
	} {
		b.Run(strings.Join(strings.Fields(line)[:min(2, len(strings.Fields(line)))], "_"), func(b *testing.B) {
			args := strings.Fields(line)
			for b.Loop() {
				if _, err := parse(args, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
