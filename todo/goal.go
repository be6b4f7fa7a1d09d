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

// ActiveLease is a live lease, as refusals and results list it.
type ActiveLease struct {
	TodoID    ID      `json:"todo_id"`
	Owner     AgentID `json:"owner"`
	ExpiresAt Instant `json:"expires_at"`
	Version   int64   `json:"version"`
}

// checkMode is the code invalid_handoff_mode for a word that is no mode.
func checkMode(m Mode) error {
	if m == SoftClaim || m == HardLease {
		return nil
	}
	return Fail(CodeInvalidHandoffMode, "mode %q: not one of %s, %s", Clean(string(m)), SoftClaim, HardLease)
}

func checkGoalTitle(title string) error {
	if title != "" && !lineOK(title, MaxTitle) {
		return Fail(CodeInvalidGoalRequest, "title must be one line of at most %d characters", MaxTitle)
	}
	return nil
}

// decideCreate makes a new goal (continuation.md, section 4). exists says that its ref is there: goal_exists.
func decideCreate(exists bool, g Goal) (Decision, error) {
	if exists {
		return Decision{}, Reject(CodeGoalExists, "goal %s: is there already", g.ID)
	}
	return Decision{
		Subject: "goal create " + string(g.ID),
		Goal:    &g,
		Result:  GoalResult{GoalID: g.ID, ScopeID: g.ScopeID, HandoffMode: g.HandoffMode},
	}, nil
}

// decideMode changes what taking work needs: the same mode is no change, and claimed work that is not done (claimed)
// or a live lease is in the way: handoff_mode_not_quiescent.
func decideMode(g Goal, m Mode, claimed []ClaimedTodo, live []ActiveLease) (Decision, error) {
	d := Decision{
		Subject: "goal mode set " + string(g.ID),
		Result:  ModeResult{Schema: ModeSchema, HandoffMode: m, Previous: g.HandoffMode, Changed: g.HandoffMode != m},
	}
	if g.HandoffMode == m {
		return d, nil
	}
	if len(claimed)+len(live) > 0 {
		return Decision{}, Reject(CodeModeNotQuiescent, "goal %s: %d claimed todos are not done, %d leases are live", g.ID, len(claimed), len(live)).
			With("claimed_todos", append([]ClaimedTodo{}, claimed...)).With("active_leases", append([]ActiveLease{}, live...))
	}
	g.HandoffMode = m
	d.Goal = &g
	return d, nil
}
