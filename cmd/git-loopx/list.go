package main

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/handoff"
)

// checkLimit refuses a limit that is none.
func (j *job) checkLimit(limit int) error {
	if limit < 0 {
		return j.usagef("--limit: %d is negative; 0 is all", limit)
	}
	return nil
}

// listed sets the members that every list has, and cuts the rows to the limit. total may be more than the rows at hand.
func listed[T any](a *answer, name string, rows []T, total, limit int) []T {
	if limit > 0 && len(rows) > limit {
		rows = rows[:limit]
	}
	if rows == nil {
		rows = []T{}
	}
	a.members.set(name, rows)
	a.members.set("total", total)
	a.members.set("returned", len(rows))
	a.members.set("truncated", len(rows) < total)
	if len(rows) < total {
		a.notef("hint: %d of %d are shown; --limit 0 shows all", len(rows), total)
	}
	return rows
}

// table prints rows with their columns side by side.
func (a *answer) table(rows [][]string) {
	var width []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			if i < len(row)-1 {
				width[i] = max(width[i], utf8.RuneCountInString(cell))
			}
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			if i < len(row)-1 {
				line.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell)+2))
			}
		}
		a.printf("%s\n", strings.TrimRight(line.String(), " "))
	}
}

// counted says "1 agent", "2 agents".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// labelled is the label after an agent's name.
func labelled(label string) string {
	if label == "" {
		return ""
	}
	return " (" + handoff.Visible(label) + ")"
}
