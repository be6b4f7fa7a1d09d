package todo

import (
	"maps"
	"strings"
)

// modelTodo is all that the model knows of a Todo.
type modelTodo struct {
	Owner      AgentID
	Status     WorkStatus
	Archived   bool
	Superseded ID
	Note       string
	Text       string
	Waits      string // the one Todo that it depends on
	Holds      string // what is shown to hold it; not kept, but worked out
}

// model is the ledger without git: a few maps.
type model struct {
	todos map[ID]modelTodo
	*modelHold
}

// modelHold is the acceptance hold.
type modelHold struct {
	on    bool
	only  ID            // "" is all
	bound map[ID]string // what the work was when it was confirmed
}

func newModel() model {
	return model{map[ID]modelTodo{}, &modelHold{bound: map[ID]string{}}}
}

// work is what a confirmation is for.
func (x modelTodo) work() string { return x.Text + " after " + x.Waits }

// leadsTo says whether a chain of superseded_by reaches a Todo.
func (m model) leadsTo(from, to ID) bool {
	for ; from != ""; from = m.todos[from].Superseded {
		if from == to {
			return true
		}
	}
	return false
}

// dependency says how a dependency of one Todo on another holds its work.
func (m model) dependency(self ID, on string) Code {
	if on == "" {
		return ""
	}
	id := ID(on)
	if _, there := m.todos[id]; !there || m.leadsTo(id, self) {
		return CodeDependencyInvalid
	}
	for m.todos[id].Superseded != "" {
		id = m.todos[id].Superseded
	}
	switch x := m.todos[id]; {
	case x.Status == Done:
		return ""
	case x.Archived:
		return CodeDependencyInvalid
	}
	return CodeDependencyPending
}

// comesBack says whether who waits for a Todo would wait for itself.
func (m model) comesBack(self ID, on string) bool {
	for range len(m.todos) + 1 {
		x := m.todos[ID(on)]
		if on = x.Waits; x.Superseded != "" {
			on = string(x.Superseded)
		}
		if ID(on) == self {
			return true
		}
	}
	return false
}

// acceptance says how the hold holds a Todo.
func (m model) acceptance(id ID, x modelTodo) Code {
	was, confirmed := m.bound[id]
	switch {
	case !m.on || m.only != "" && m.only != id, confirmed && was == x.work():
		return ""
	case !confirmed:
		return CodeAcceptanceUnbound
	}
	return CodeAcceptanceStale
}

// hold applies a step that is for the hold.
func (m model) hold(s step) (Code, bool) {
	x, there := m.todos[s.Todo]
	if s.Verb == "disable" {
		was := m.on
		m.on = false
		return "", was
	}
	only := s.Todo
	if s.Verb == "enable" && s.Force {
		only = ""
	} else if !there {
		return CodeTodoNotFound, false
	}
	if s.Verb == "bind" {
		was := m.bound[s.Todo]
		m.bound[s.Todo] = x.work()
		return "", was != x.work()
	}
	changed := !m.on || m.only != only
	m.on, m.only = true, only
	return "", changed
}

// seen is what the answers of the ledger must describe.
func (m model) seen() map[ID]modelTodo {
	seen := maps.Clone(m.todos)
	for id, x := range seen {
		if x.Status != Done && !x.Archived {
			x.Holds = strings.TrimSpace(string(m.dependency(id, x.Waits)) + " " + string(m.acceptance(id, x)))
		}
		seen[id] = x
	}
	return seen
}

func spaced[T ~string](values []T) string {
	var out []string
	for _, v := range values {
		out = append(out, string(v))
	}
	return strings.Join(out, " ")
}
