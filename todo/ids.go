package todo

import "github.com/git-loopx/git-loopx/gitstore"

// GoalID names a workstream: ^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$, no "..", not ending in ".lock" (README.md).
type GoalID string

// AgentID names a participant: ^[a-z][a-z0-9_.:@-]{0,79}$, compared verbatim.
type AgentID string

// ID names a Todo: ^todo_[a-z0-9_-]{1,64}$.
type ID string

// Ref returns the authority ref of a goal.
func (g GoalID) Ref() gitstore.RefName { return gitstore.RefName("refs/loopx/goals/" + string(g)) }
