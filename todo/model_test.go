package todo

import (
	"flag"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/git-loopx/git-loopx/gitstore"
)

// step is one command of one agent.
type step struct {
	Verb  string
	Agent AgentID
	Todo  ID
	Other ID
	Word  WorkStatus
	Force bool
}

func steps() *rapid.Generator[[]step] {
	agents := rapid.SampledFrom([]AgentID{"agent-a", "agent-b", "agent-c", "stranger"})
	ids := rapid.SampledFrom([]ID{"todo_1", "todo_2", "todo_3"})
	one := rapid.Custom(func(t *rapid.T) step {
		return step{
			Verb:  rapid.SampledFrom([]string{"add", "claim", "claim", "release", "update", "note", "complete", "complete", "supersede", "reopen", "archive", "text", "wait", "enable", "bind", "bind", "disable"}).Draw(t, "verb"),
			Agent: agents.Draw(t, "agent"), Todo: ids.Draw(t, "todo"), Other: ids.Draw(t, "other"),
			Word:  rapid.SampledFrom([]WorkStatus{Open, Blocked, Deferred}).Draw(t, "word"),
			Force: rapid.Bool().Draw(t, "force"),
		}
	})
	return rapid.SliceOfN(one, 20, 40)
}

// run gives a step to the ledger.
func (s step) run(f *fixture, operation string) (Answer, error) {
	c := f.call(s.Agent, s.Todo)
	c.Operation = operation
	switch s.Verb {
	case "add":
		args := AddArgs{Text: string(s.Todo)}
		if s.Force {
			args.ClaimedBy = s.Agent
		}
		return f.Add(f.ctx(), c, args)
	case "claim":
		return f.Claim(f.ctx(), c, s.Agent)
	case "release":
		if s.Force {
			return f.Release(f.ctx(), c, ReleaseArgs{Override: true, Reason: "r"})
		}
		return f.Release(f.ctx(), c, ReleaseArgs{})
	case "update":
		return f.Update(f.ctx(), c, UpdateArgs{Status: &s.Word})
	case "text":
		return f.Update(f.ctx(), c, UpdateArgs{Text: ptr(s.text())})
	case "wait":
		return f.Update(f.ctx(), c, UpdateArgs{DependsOn: &[]ID{s.Other}})
	case "enable":
		if s.Force {
			return f.EnableAcceptance(f.ctx(), c, nil)
		}
		return f.EnableAcceptance(f.ctx(), c, []ID{s.Todo})
	case "bind":
		return f.BindAcceptance(f.ctx(), c, []ID{s.Todo})
	case "disable":
		return f.DisableAcceptance(f.ctx(), c)
	case "note":
		return f.SetNote(f.ctx(), c, NoteArgs{Text: "by " + string(s.Agent)})
	case "complete":
		return f.Complete(f.ctx(), c, CompleteArgs{})
	case "supersede":
		return f.Supersede(f.ctx(), c, SupersedeArgs{By: s.Other})
	case "reopen":
		return f.Reopen(f.ctx(), c, ReopenArgs{})
	case "archive":
		return f.Archive(f.ctx(), c)
	}
	panic(s.Verb)
}

// text is what a step makes the work of its Todo.
func (s step) text() string { return "work on " + string(s.Todo) + " until " + string(s.Word) }

// apply says how a step ends and, where it is accepted, puts it into the map.
func (m model) apply(s step) (code Code, changed bool) {
	switch s.Verb {
	case "enable", "bind", "disable":
		return m.hold(s)
	}
	if s.Agent == "stranger" {
		return CodeActorNotRegistered, false
	}
	x, there := m.todos[s.Todo]
	if s.Verb == "add" {
		if there {
			return CodeTodoExists, false
		}
		x = modelTodo{Status: Open, Text: string(s.Todo)}
		if s.Force {
			if code := m.acceptance(s.Todo, x); code != "" {
				return code, false
			}
			x.Owner = s.Agent
		}
		m.todos[s.Todo] = x
		return "", true
	}
	if !there {
		return CodeTodoNotFound, false
	}
	was, mine := x, x.Owner == s.Agent
	switch s.Verb {
	case "claim":
		switch {
		case x.Status != Open:
			return CodeTodoNotOpen, false
		case x.Archived:
			return CodeTodoArchived, false
		case x.Owner != "" && !mine:
			return CodeClaimOwnerMismatch, false
		case m.acceptance(s.Todo, x) != "":
			return m.acceptance(s.Todo, x), false
		}
		x.Owner = s.Agent
	case "release":
		switch {
		case x.Owner == "":
		case x.Status == Done:
			return CodeTodoNotOpen, false
		case !mine && !s.Force:
			return CodeClaimOwnerMismatch, false
		}
		x.Owner = ""
	case "update", "note", "text", "wait":
		switch {
		case x.Archived:
			return CodeTodoArchived, false
		case x.Status == Done:
			return CodeUpdateTarget, false
		case x.Owner != "" && !mine:
			return CodeUpdateOwnerMismatch, false
		case s.Verb == "note":
			x.Note = "by " + string(s.Agent)
		case s.Verb == "text":
			x.Text = s.text()
		case s.Verb == "wait":
			if m.dependency(s.Todo, string(s.Other)) == CodeDependencyInvalid || m.comesBack(s.Todo, string(s.Other)) {
				return CodeDependencyInvalid, false
			}
			x.Waits = string(s.Other)
		default:
			x.Status = s.Word
		}
	case "complete", "supersede":
		switch {
		case x.Archived:
			return CodeTodoArchived, false
		case x.Status != Open:
			return CodeTodoNotOpen, false
		case !mine && (s.Verb == "complete" || x.Owner != ""):
			return CodeClaimOwnerMismatch, false
		}
		if s.Verb == "complete" {
			for _, code := range []Code{m.dependency(s.Todo, x.Waits), m.acceptance(s.Todo, x)} {
				if code != "" {
					return code, false
				}
			}
		} else {
			_, there := m.todos[s.Other]
			switch {
			case !there && s.Other != s.Todo:
				return CodeSuccessorNotFound, false
			case m.leadsTo(s.Other, s.Todo):
				return CodeSuccessorCycle, false
			}
			x.Superseded = s.Other
		}
		x.Status = Done
	case "reopen":
		switch {
		case x.Status == Open && !x.Archived:
		case x.Superseded != "":
			return CodeTodoSuperseded, false
		case x.Owner != "" && !mine && x.Status != Done:
			return CodeClaimOwnerMismatch, false
		default:
			if !mine {
				x.Owner = ""
			}
			x.Status, x.Archived = Open, false
		}
	case "archive":
		if !x.Archived && x.Status != Done && (x.Status != Deferred || x.Owner != "") {
			return CodeTodoNotDone, false
		}
		x.Archived = true
	}
	m.todos[s.Todo] = x
	return "", x != was
}

// observed is what the ledger's answers describe.
func observed(f *fixture) (map[ID]modelTodo, error) {
	m := map[ID]modelTodo{}
	list, err := f.List(f.ctx(), "demo", Filter{All: true})
	if err != nil {
		return nil, err
	}
	for _, v := range list.Rows {
		show, err := f.Show(f.ctx(), "demo", v.TodoID)
		if err != nil {
			return nil, err
		}
		if d := cmp.Diff(v, show.View); d != "" {
			return nil, fmt.Errorf("list and show of %s differ: %s", v.TodoID, d)
		}
		m[v.TodoID] = modelTodo{
			Owner: v.ClaimedBy, Status: v.Status, Archived: v.Archive == Archived, Superseded: v.SupersededBy, Note: show.Note.Text,
			Text: v.Text, Waits: spaced(v.DependsOn), Holds: spaced(show.Holds),
		}
	}
	return m, nil
}

// Whatever three agents and a stranger do in whatever order, each command ends as a plain map says; the revision moves
// exactly when a command is accepted; and repeating all that was accepted changes nothing more.
func TestModel(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	if was == "100" { // the default; each check is a repository
		checks.Set("10")
		defer checks.Set(was)
	}
	rapid.Check(t, func(rt *rapid.T) {
		f := newDemo(t)
		m := newModel()
		type accepted struct {
			step step
			id   string
		}
		var log []accepted
		tip := f.tip()
		for i, s := range steps().Draw(rt, "steps") {
			operation := fmt.Sprint("op ", i)
			want, changed := m.apply(s)
			a, err := s.run(f, operation)
			if got := CodeOf(err); got != want || err != nil && got == "" {
				rt.Fatalf("%d %+v: got %q (%v), want %q", i, s, got, err, want)
			}
			if err != nil {
				continue
			}
			if a.Changed != changed || (a.Status == gitstore.Applied) != changed || a.Revision == tip {
				rt.Fatalf("%d %+v: got %+v, want changed %v", i, s, a, changed)
			}
			tip = a.Revision
			log = append(log, accepted{s, operation})
		}
		compare := func(when string) {
			got, err := observed(f)
			if err != nil {
				rt.Fatal(err)
			}
			if d := cmp.Diff(m.seen(), got); d != "" || f.tip() != tip {
				rt.Fatalf("%s: tip %s, want %s: %s", when, f.tip(), tip, d)
			}
		}
		compare("at the end")
		for _, l := range log {
			a, err := l.step.run(f, l.id)
			if err != nil || a.Status != gitstore.Replayed || a.Changed {
				rt.Fatalf("%s %+v again: got %+v, %v", l.id, l.step, a, err)
			}
			x := m.todos[l.step.Todo]
			if holds := x.Owner == l.step.Agent && x.Status == Open && !x.Archived && m.acceptance(l.step.Todo, x) == ""; l.step.Verb == "claim" && (a.Refused == nil) != holds {
				rt.Fatalf("%s %+v again: refused %v, the claim holds: %v", l.id, l.step, a.Refused, holds)
			}
		}
		compare("after all was repeated")
	})
}
