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
	a.listed(name, rows, len(rows), total)
	return rows
}

// listed sets the members of a list that is cut already.
func (a *answer) listed(name string, rows any, returned, total int) {
	a.members.set(name, rows)
	a.members.set("total", total)
	a.members.set("returned", returned)
	a.members.set("truncated", returned < total)
	if returned < total {
		a.notef("hint: %d of %d are shown; --limit 0 shows all", returned, total)
	}
}

const spaces = "                                "

// table prints rows with their columns side by side.
func (a *answer) table(rows [][]string) {
	var width []int
	size := 0
	for _, row := range rows {
		for i, cell := range row {
			if i == len(width) {
				width = append(width, 0)
			}
			if i < len(row)-1 {
				width[i] = max(width[i], utf8.RuneCountInString(cell))
			} else {
				size += len(cell)
			}
		}
	}
	for _, w := range width {
		size += len(rows) * (w + 2)
	}
	a.text.Grow(size)
	for _, row := range rows {
		for len(row) > 0 && strings.TrimRight(row[len(row)-1], " ") == "" {
			row = row[:len(row)-1] // lines end without spaces
		}
		for i, cell := range row {
			if i == len(row)-1 {
				a.text.WriteString(strings.TrimRight(cell, " "))
				break
			}
			a.text.WriteString(cell)
			for n := width[i] - utf8.RuneCountInString(cell) + 2; n > 0; n -= len(spaces) {
				a.text.WriteString(spaces[:min(n, len(spaces))])
			}
		}
		a.text.WriteByte('\n')
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
