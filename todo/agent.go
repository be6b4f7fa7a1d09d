package todo

import (
	"slices"
	"strings"
)

// AgentResult is the nested result of agent add and remove. The lists say what a removed agent still holds: claims
// stay, leases stop being effective.
type AgentResult struct {
	AgentID         AgentID       `json:"agent_id"`
	Changed         bool          `json:"changed"`
	ClaimedTodos    []ClaimedTodo `json:"claimed_todos,omitzero"`
	ActiveLeases    []ActiveLease `json:"active_leases,omitzero"`
	UnreadableTodos []ID          `json:"unreadable_todos,omitempty"` // whose claims or leases cannot be told
}

func checkAgent(a AgentID, label string) error {
	switch {
	case !a.Valid():
		return Fail(CodeInvalidGoalRequest, "agent id %q: not well formed", Clean(string(a)))
	case label != "" && !lineOK(label, MaxTitle):
		return Fail(CodeInvalidGoalRequest, "label must be one line of at most %d characters", MaxTitle)
	}
	return nil
}

func findAgent(g Goal, a AgentID) (int, bool) {
	return slices.BinarySearchFunc(g.Agents, a, func(known Agent, a AgentID) int { return strings.Compare(string(known.ID), string(a)) })
}

// decideAddAgent registers an agent. Who is registered with that label, or with any where none is given, is no change.
func decideAddAgent(g Goal, a AgentID, label string, at Instant) Decision {
	d := Decision{Subject: "agent add " + string(a)}
	i, there := findAgent(g, a)
	if there && (label == "" || g.Agents[i].Label == label) {
		d.Result = AgentResult{AgentID: a}
		return d
	}
	agents := slices.Clone(g.Agents)
	if there {
		agents[i].Label = label
	} else {
		agents = slices.Insert(agents, i, Agent{ID: a, Label: label, AddedAt: at})
	}
	g.Agents = agents
	d.Goal, d.Result = &g, AgentResult{AgentID: a, Changed: true}
	return d
}

// decideRemoveAgent takes an agent from the list; who is not in it is no change. held lists the claims that stay, live the
// leases that are not effective any more.
func decideRemoveAgent(g Goal, a AgentID, held []ClaimedTodo, live []ActiveLease, unreadable []ID) Decision {
	result := AgentResult{
		AgentID: a, ClaimedTodos: append([]ClaimedTodo{}, held...), ActiveLeases: append([]ActiveLease{}, live...),
		UnreadableTodos: unreadable,
	}
	d := Decision{Subject: "agent remove " + string(a)}
	if i, there := findAgent(g, a); there {
		g.Agents = slices.Delete(slices.Clone(g.Agents), i, i+1)
		result.Changed = true
		d.Goal = &g
	}
	d.Result = result
	return d
}
