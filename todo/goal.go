package todo

// ModeSchema is the schema_version of the result of goal mode set.
const ModeSchema = "goal_handoff_mode_v0"

// GoalResult is the nested result of goal create.
type GoalResult struct {
	GoalID      GoalID `json:"goal_id"`
	ScopeID     string `json:"scope_id"`
	HandoffMode Mode   `json:"handoff_mode"`
}

// ModeResult is the nested result of goal mode set.
type ModeResult struct {
	Schema      string `json:"schema_version"`
	HandoffMode Mode   `json:"handoff_mode"`
	Previous    Mode   `json:"previous_handoff_mode"`
	Changed     bool   `json:"changed"`
}

// ClaimedTodo is a Todo with its owner, as refusals and results list it.
type ClaimedTodo struct {
	TodoID    ID         `json:"todo_id"`
	ClaimedBy AgentID    `json:"claimed_by"`
	Status    WorkStatus `json:"status"`
}

// checkMode says whether this version can put a goal into a mode: invalid_handoff_mode if not. hard_lease is a mode of
// goals that this version reads, but it has no leases to go with it.
func checkMode(m Mode) error {
	switch m {
	case SoftClaim:
		return nil
	case HardLease:
		return failed(CodeInvalidHandoffMode, "mode %q: needs leases, which this version does not have yet", m)
	}
	return failed(CodeInvalidHandoffMode, "mode %q: not one of %s, %s", clean(string(m)), SoftClaim, HardLease)
}

func checkGoalTitle(title string) error {
	if title != "" && !lineOK(title, MaxTitle) {
		return failed(CodeInvalidGoalRequest, "title must be one line of at most %d characters", MaxTitle)
	}
	return nil
}

// decideCreate makes a new goal (continuation.md, section 4). exists says that its ref is there: goal_exists.
func decideCreate(exists bool, g Goal) (Decision, error) {
	if exists {
		return Decision{}, rejected(CodeGoalExists, "goal %s: is there already", g.ID)
	}
	return Decision{
		Subject: "goal create " + string(g.ID),
		Goal:    &g,
		Result:  GoalResult{GoalID: g.ID, ScopeID: g.ScopeID, HandoffMode: g.HandoffMode},
	}, nil
}

// decideMode changes what taking work needs: the same mode is no change, and claimed work that is not done (claimed)
// or a live lease is in the way: handoff_mode_not_quiescent.
func decideMode(g Goal, m Mode, claimed []ClaimedTodo) (Decision, error) {
	d := Decision{
		Subject: "goal mode set " + string(g.ID),
		Result:  ModeResult{Schema: ModeSchema, HandoffMode: m, Previous: g.HandoffMode, Changed: g.HandoffMode != m},
	}
	if g.HandoffMode == m {
		return d, nil
	}
	if len(claimed) > 0 {
		return Decision{}, rejected(CodeModeNotQuiescent, "goal %s: %d claimed todos are not done", g.ID, len(claimed)).
			with("claimed_todos", claimed).with("active_leases", []any{})
	}
	g.HandoffMode = m
	d.Goal = &g
	return d, nil
}
