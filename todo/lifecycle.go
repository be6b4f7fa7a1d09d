package todo

import "slices"

// LifecycleSchema is the schema_version of the result of todo complete, supersede and reopen.
const LifecycleSchema = "loopx_coordination_todo_terminal_lifecycle_result_v0"

// CompleteArgs, SupersedeArgs, ReopenArgs: the verbs' own arguments.
type (
	CompleteArgs struct {
		Evidence, Reason string
		Successors       []ID
	}
	SupersedeArgs struct {
		By     ID
		Reason string
	}
	ReopenArgs struct{ Reason string }
)

// LifecycleResult is the nested result of todo complete, supersede and reopen.
type LifecycleResult struct {
	Schema       string     `json:"schema_version"`
	TodoID       ID         `json:"todo_id"`
	Changed      bool       `json:"changed"`
	Status       WorkStatus `json:"status"`
	Successors   []ID       `json:"successor_todo_ids,omitempty"`
	SupersededBy ID         `json:"superseded_by,omitzero"`
	ReleasedFrom AgentID    `json:"released_from,omitzero"` // reopen: whose claim went
	// LeaseReleased says that the lease ended with the work.
	LeaseReleased bool `json:"lease_released,omitzero"`
}

// Following holds the Todos that can be reached from a set of ids through successor_todo_ids and superseded_by. An id
// that the goal does not have is not in it.
type Following map[ID]Todo

// next returns the ids that the work of a Todo goes on in.
func (t Todo) next() []ID {
	if t.SupersededBy == "" {
		return t.SuccessorTodoIDs
	}
	return append(slices.Clone(t.SuccessorTodoIDs), t.SupersededBy)
}

// decideComplete ends the work on a Todo (continuation.md, section 4): todo_archived, todo_not_open → admit →
// claim_owner_mismatch, also when unclaimed, and the fence; both not for a user Todo → dependency → acceptance →
// successors. Its lease ends in the same commit.
func decideComplete(s State, c Call, a CompleteArgs, after Following, at Instant) (Decision, error) {
	t, err := s.Found(c.Todo)
	if err != nil {
		return Decision{}, err
	}
	if err := checkWork(t, c.Agent); err != nil {
		return Decision{}, err
	}
	if t.Role != RoleUser {
		if t.ClaimedBy != c.Agent {
			return Decision{}, ownedBy(CodeClaimOwnerMismatch, t)
		}
		if err := fence(s, t, c.Agent, c.Proof); err != nil {
			return Decision{}, err
		}
	}
	if err := First(s.CheckDependencies(at), s.CheckAcceptance(), checkSuccessors(t.ID, a.Successors, after)); err != nil {
		return Decision{}, err
	}
	d := Decision{Subject: "todo complete " + string(t.ID)}
	result := LifecycleResult{Schema: LifecycleSchema, TodoID: t.ID, Changed: true, Status: Done, Successors: a.Successors}
	result.LeaseReleased = d.letGo(s, t.ID, c.Agent)
	t = t.ended(a.Reason, at)
	t.SuccessorTodoIDs = a.Successors
	if a.Evidence != "" {
		t.Evidence = a.Evidence
	}
	d.Todos, d.Result = []Todo{t.touched(c.Agent, at)}, result
	return d, nil
}

// decideSupersede ends a Todo because another takes its place: as complete, without dependency and acceptance, and an
// unclaimed Todo may be superseded by any registered agent without fence, unless somebody else's lease is live
// (todo_lease_conflict).
func decideSupersede(s State, c Call, a SupersedeArgs, after Following, at Instant) (Decision, error) {
	t, err := s.Found(c.Todo)
	if err != nil {
		return Decision{}, err
	}
	if err := checkWork(t, c.Agent); err != nil {
		return Decision{}, err
	}
	switch {
	case t.Role == RoleUser:
	case t.ClaimedBy != "" && t.ClaimedBy != c.Agent:
		return Decision{}, ownedBy(CodeClaimOwnerMismatch, t)
	case t.ClaimedBy != "":
		if err := fence(s, t, c.Agent, c.Proof); err != nil {
			return Decision{}, err
		}
	case s.Lease.ForeignTo(c.Agent):
		return Decision{}, leasedBy(CodeLeaseConflict, t, s.Lease)
	}
	if err := checkSuccessors(t.ID, []ID{a.By}, after); err != nil {
		return Decision{}, err
	}
	d := Decision{Subject: "todo supersede " + string(t.ID)}
	result := LifecycleResult{Schema: LifecycleSchema, TodoID: t.ID, Changed: true, Status: Done, SupersededBy: a.By}
	result.LeaseReleased = d.letGo(s, t.ID, c.Agent)
	t = t.ended(a.Reason, at)
	t.SupersededBy = a.By
	d.Todos, d.Result = []Todo{t.touched(c.Agent, at)}, result
	return d, nil
}

// decideReopen opens a Todo again and takes it out of the archive: open and active is no change → todo_superseded →
// admit → another's blocked or deferred work is claim_owner_mismatch. Another's done work loses its claim. What the end
// of the work wrote goes: completed_at, successors, and the reason unless a new one is given; the evidence stays.
func decideReopen(s State, id ID, a ReopenArgs, actor AgentID, at Instant) (Decision, error) {
	t, err := s.Found(id)
	if err != nil {
		return Decision{}, err
	}
	result := LifecycleResult{Schema: LifecycleSchema, TodoID: id, Status: Open}
	d := Decision{Subject: "todo reopen " + string(id)}
	switch {
	case t.Status == Open && t.ArchiveState == Active:
		d.Result = result
		return d, nil
	case t.SupersededBy != "":
		return Decision{}, Reject(CodeTodoSuperseded, "todo %s: superseded by %s", id, t.SupersededBy).With("superseded_by", t.SupersededBy)
	}
	if err := Admit(t, actor); err != nil {
		return Decision{}, err
	}
	if t.ClaimedBy != "" && t.ClaimedBy != actor {
		if t.Status != Done {
			return Decision{}, ownedBy(CodeClaimOwnerMismatch, t)
		}
		result.ReleasedFrom, t.ClaimedBy = t.ClaimedBy, ""
	}
	t.Status, t.ArchiveState = Open, Active
	t.CompletedAt, t.SuccessorTodoIDs, t.Reason = "", nil, a.Reason
	result.Changed = true
	d.Todos, d.Result = []Todo{t.touched(actor, at)}, result
	return d, nil
}

// checkWork stands before both ends of work: todo_archived, todo_not_open, then the codes of [Admit].
func checkWork(t Todo, actor AgentID) error {
	switch {
	case t.ArchiveState == Archived:
		return Reject(CodeTodoArchived, "todo %s: is archived", t.ID)
	case t.Status != Open:
		return Reject(CodeTodoNotOpen, "todo %s: is %s", t.ID, t.Status)
	}
	return Admit(t, actor)
}

// ended returns the Todo done at an instant; a reason that is given replaces the one it had.
func (t Todo) ended(reason string, at Instant) Todo {
	t.Status, t.CompletedAt = Done, at
	if reason != "" {
		t.Reason = reason
	}
	return t
}

// checkSuccessors says whether the work of a Todo may go on in others: todo_successor_not_found, then
// todo_successor_cycle where one of them is the Todo itself or leads back to it.
func checkSuccessors(id ID, successors []ID, after Following) error {
	for _, next := range successors {
		if _, ok := after[next]; !ok && next != id {
			return Reject(CodeSuccessorNotFound, "todo %s: not in the goal", next).With("successor_todo_id", next)
		}
	}
	seen := map[ID]bool{}
	for _, next := range successors {
		if way := wayBack(id, next, after, seen); way != nil {
			slices.Reverse(way)
			cycle := append([]ID{id}, way...)
			return Reject(CodeSuccessorCycle, "todo %s: leads back to %s", next, id).With("cycle", cycle)
		}
	}
	return nil
}

// wayBack returns the way from one Todo to the target, last first; nil where there is none. It visits each Todo once.
func wayBack(target, from ID, after Following, seen map[ID]bool) []ID {
	if from == target {
		return []ID{from}
	}
	if seen[from] {
		return nil
	}
	seen[from] = true
	for _, next := range after[from].next() {
		if way := wayBack(target, next, after, seen); way != nil {
			return append(way, from)
		}
	}
	return nil
}

// check is step 1 for todo complete: invalid_coordination_todo_terminal_lifecycle. It returns the arguments in stored form.
func (a CompleteArgs) check() (CompleteArgs, error) {
	a.Successors = SetOf(a.Successors)
	if !setOK(a.Successors, MaxReferences, ID.Valid) {
		return a, Fail(CodeInvalidLifecycle, "successors must be at most %d complete todo ids", MaxReferences)
	}
	return a, checkRemarks(a.Evidence, a.Reason)
}

func (a SupersedeArgs) check() error {
	if !a.By.Valid() {
		return Fail(CodeInvalidLifecycle, "the todo that takes the place must be a complete todo id")
	}
	return checkRemarks("", a.Reason)
}

func (a ReopenArgs) check() error { return checkRemarks("", a.Reason) }

func checkRemarks(evidence, reason string) error {
	return checkMembers(CodeInvalidLifecycle, Todo{Text: "text", Evidence: evidence, Reason: reason})
}

func (a CompleteArgs) request() map[string]any {
	m := map[string]any{}
	given(m, "evidence", a.Evidence)
	given(m, "reason", a.Reason)
	givenList(m, "successor_todo_ids", a.Successors)
	return m
}

func (a SupersedeArgs) request() map[string]any {
	m := map[string]any{"superseded_by": a.By}
	given(m, "reason", a.Reason)
	return m
}

func (a ReopenArgs) request() map[string]any {
	m := map[string]any{}
	given(m, "reason", a.Reason)
	return m
}
