package main

import (
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

// noteText prints the note on a Todo for a person: what it is worth first, then what it says. alone leaves the heading
// out of a free-text note, so that showing a note gives back what was written.
func (a *answer) noteText(n todo.NoteView, alone bool) {
	switch {
	case n.Text != "" && alone:
		for _, line := range handoff.VisibleLines(n.Text) {
			a.printf("%s\n", line)
		}
		return
	case n.Text != "":
		a.printf("note\n")
		for _, line := range handoff.VisibleLines(n.Text) {
			a.printf("  > %s\n", line)
		}
		return
	case n.State == todo.NoteMissing:
		a.printf("note        none\n")
		return
	}
	a.printf("note        %s\n", n.State)
	if n.Error != "" {
		a.printf("  %s: %s\n", n.Error, handoff.Visible(n.Reason))
	}
	for _, f := range n.Findings {
		a.printf("  %s: %s\n", handoff.Visible(f.Field), f.Code)
	}
	if n.Continuation != nil {
		a.continuationText(*n.Continuation)
	}
}

// continuationText prints a continuation note for a person. Stored text is indented, so that none of its lines passes
// for one of ours.
func (a *answer) continuationText(n todo.Note) {
	if n.SourceAgent != "" || n.SourceSession != "" {
		a.printf("  by %s, session %s, %s\n", orDash(string(n.SourceAgent)), orDash(n.SourceSession), orDash(string(n.PreparedAt)))
	}
	a.part("summary", n.WorkSummary)
	a.part("rationale", n.Rationale)
	var items []string
	for _, x := range n.ApproachesTried {
		items = append(items, x.Approach+" → "+x.Outcome+": "+x.Reason)
	}
	a.part("tried", items...)
	a.part("next steps", n.NextSteps...)
	items = nil
	for _, x := range n.KeyDecisions {
		items = append(items, x.Decision+": "+x.Rationale)
	}
	a.part("decisions", items...)
	items = nil
	for _, x := range n.FilesTouched {
		item := x.Path + " (" + x.Action + ")"
		if x.Summary != "" {
			item += " — " + x.Summary
		}
		items = append(items, item)
	}
	a.part("files", items...)
	a.part("questions", n.OpenQuestions...)
	a.part("sources", n.SourceRefs...)
}

// part prints one part of a note, if it says anything.
func (a *answer) part(name string, texts ...string) {
	titled := false
	for _, text := range texts {
		if text == "" {
			continue
		}
		if !titled {
			a.printf("  %s\n", name)
			titled = true
		}
		for i, line := range handoff.VisibleLines(text) {
			a.printf("    %s %s\n", []string{"-", " "}[min(i, 1)], line)
		}
	}
}
