package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

func handoffVerbs() []verb {
	family := string(todo.CodeInvalidContinuation)
	return []verb{
		{words: "prepare", family: family, flags: func() command { return &handoffPrepare{} },
			about:   "leave a note for the next one on a Todo of yours",
			detail:  "The note comes from a file of JSON, or is a rationale with its sources.",
			example: "git loopx handoff prepare todo_a --operation-id handoff-1 --expected-revision \"$REVISION\" --from-context ./handoff-context.json"},
		{words: "inspect", family: family, digest: true, flags: func() command { return &handoffInspect{} },
			about:   "see what a receiver would find, and whether it could take over",
			detail:  "It writes nothing at all.",
			example: "git loopx handoff inspect todo_a --agent-id agent-b --format digest"},
		{words: "adopt", family: family, flags: func() command { return &handoffAdopt{} },
			about:   "take a Todo over by its note",
			detail:  "The revision is the one that inspect showed.",
			example: "git loopx handoff adopt todo_a --agent-id agent-b --operation-id resume-1 --expected-revision \"$REVISION\""},
	}
}

// handoffFlags are those of all three verbs (continuation.md, section 7.2).
type handoffFlags struct {
	todoFlags
	GoalID string `name:"goal-id" nonempty:"" placeholder:"GOAL" help:"The goal; else LOOPX_GOAL, the branch's binding, git config loopx.goal, .loopx.toml."`
	agentFlags
	proofFlags
}

// namedGoal is that of goalFlags, which these verbs do without: their goal is never just the only one here.
func (f handoffFlags) namedGoal() string { return f.GoalID }

// workspaceFlags are those of the verbs that look at the receiver's surroundings.
type workspaceFlags struct {
	Workspace string   `nonempty:"" placeholder:"DIR" help:"Where the work will go on; the current directory unless given."`
	Artifact  []string `sep:"none" placeholder:"PATH" help:"A file that must be there, relative to the workspace; repeatable."`
}

// handoffCall is call for these verbs. What is missing is refused by the rules, with everything else that is.
func (j *job) handoffCall(ctx context.Context, f *handoffFlags, op operationFlags) (todo.Call, error) {
	id, err := j.todoNamed(f.todoFlags)
	if err != nil {
		return todo.Call{}, err
	}
	call, err := j.call(ctx, goalFlags{f.GoalID}, f.agentFlags, op, false, false)
	if err == nil && call.Goal == "" {
		err = j.missingGoal(ctx)
	}
	call.Todo, call.Proof = id, f.proof()
	return call, err
}

type handoffPrepare struct {
	handoffFlags
	operationFlags
	FromContext string   `nonempty:"" placeholder:"FILE" help:"The note as JSON; - is standard input."`
	Rationale   *string  `placeholder:"TEXT" help:"Without a file: what the next one must know."`
	SourceRef   []string `sep:"none" placeholder:"REF" help:"Without a file: where it comes from; repeatable."`
	outputFlags
}

// maxContext is the largest context file, in bytes (continuation.md, section 7.2).
const maxContext = 1 << 20

func (c *handoffPrepare) run(ctx context.Context, j *job) (*answer, error) {
	request := handoff.PrepareRequest{Rationale: c.Rationale, SourceRefs: c.SourceRef}
	var err error
	if c.FromContext != "" {
		if request.Context, err = j.read(ctx, "--from-context", c.FromContext, maxContext); err != nil {
			return nil, err
		}
	}
	if request.Call, err = j.handoffCall(ctx, &c.handoffFlags, c.operationFlags); err != nil {
		return nil, err
	}
	a, err := onTodo(ctx, j, request.Goal, request.Todo, func(id todo.ID) (handoff.PrepareAnswer, error) {
		request.Todo = id
		return j.handoffs().Prepare(ctx, request)
	})
	if err != nil {
		return nil, err
	}
	said := j.mutated(a.Answer)
	said.members.set("note_readback_verified", a.NoteVerified)
	said.members.set("note_state", a.NoteState)
	said.printf("  note       %s\n", a.NoteState)
	switch {
	case a.Refused == nil && request.Proof.Given():
		said.notef("hint: the lease goes on with: git loopx lease transfer %s --goal-id %s --owner %s --idempotency-key %s --expected-version %d --new-owner AGENT --new-idempotency-key KEY --transfer-claim",
			a.Todo, a.Goal, request.Agent, *request.Proof.IdempotencyKey, *request.Proof.ExpectedVersion)
	case a.Refused == nil:
		said.notef("hint: the next one looks with: git loopx handoff inspect %s --goal-id %s --agent-id AGENT --session-id SESSION", a.Todo, a.Goal)
	}
	return said, nil
}

type handoffInspect struct {
	handoffFlags
	workspaceFlags
	outputFlags
}

func (c *handoffInspect) run(ctx context.Context, j *job) (*answer, error) {
	id, err := j.todoNamed(c.todoFlags)
	if err != nil {
		return nil, err
	}
	settings := !j.said(c.GoalID, "LOOPX_GOAL") || !j.said(c.AgentID, "LOOPX_AGENT")
	if _, err := j.open(false, settings); err != nil {
		return nil, err
	}
	request := handoff.InspectRequest{Session: j.sessionNamed(c.SessionID), Workspace: j.path(c.Workspace),
		Artifacts: c.Artifact, Proof: c.proof()}
	if request.Goal, err = j.goalNamed(ctx, c.GoalID, false); err != nil {
		return nil, err
	}
	if request.Goal == "" {
		return nil, j.missingGoal(ctx)
	}
	if request.Agent, err = j.agentNamed(ctx, c.AgentID); err != nil {
		return nil, err
	}
	p, err := onTodo(ctx, j, request.Goal, id, func(id todo.ID) (handoff.Packet, error) {
		request.Todo = id
		return j.handoffs().Inspect(ctx, request)
	})
	if err != nil {
		return nil, err
	}
	said := &answer{}
	if err := said.members.merge(p); err != nil {
		return nil, err
	}
	if j.line.digest {
		text := handoff.DigestText(p)
		said.members.set("digest_text", text)
		said.printf("%s", text)
		return said, nil
	}
	said.packetText(p)
	return said, nil
}

type handoffAdopt struct {
	handoffFlags
	operationFlags
	workspaceFlags
	TargetAgentID string `nonempty:"" placeholder:"AGENT" help:"Who shall own it: the agent that acts, which is the default."`
	outputFlags
}

func (c *handoffAdopt) run(ctx context.Context, j *job) (*answer, error) {
	request := handoff.AdoptRequest{Target: todo.AgentID(j.id(c.TargetAgentID)), Workspace: j.path(c.Workspace),
		Artifacts: c.Artifact}
	var err error
	if request.Call, err = j.handoffCall(ctx, &c.handoffFlags, c.operationFlags); err != nil {
		return nil, err
	}
	a, err := onTodo(ctx, j, request.Goal, request.Todo, func(id todo.ID) (handoff.AdoptAnswer, error) {
		request.Todo = id
		return j.handoffs().Adopt(ctx, request)
	})
	if err != nil {
		return nil, err
	}
	said := j.mutated(a.Answer)
	if slices.Equal(a.Failures, []todo.Code{handoff.CodeRevisionMismatch}) {
		said.refused.hint = fmt.Sprintf("nothing else has changed: git loopx todo claim %s --goal-id %s --agent-id %s tells whether the work may go on", a.Todo, a.Goal, a.Target)
	}
	said.members.set("target_agent_id", a.Target)
	said.members.set("current_authority_verified", a.Verified)
	said.members.set("verification_failures", append([]todo.Code{}, a.Failures...))
	if a.Adoption != nil {
		said.members.set("adoption", a.Adoption)
	} else {
		said.members.set("claim", a.Claim)
	}
	if err := said.members.merge(a.Packet); err != nil {
		return nil, err
	}
	said.printf("  verified   %s\n", yesNo(a.Verified))
	return said, nil
}

// packetText prints what inspect found for a person: what decides comes first, the revision in full.
func (a *answer) packetText(p handoff.Packet) {
	line := func(name, text string) {
		if text != "" {
			a.printf("%-11s %s\n", name, handoff.Visible(text))
		}
	}
	line("todo", string(p.TodoID))
	line("goal", string(p.GoalID))
	line("revision", string(p.Revision))
	line("can adopt", yesNo(p.CanAdopt))
	for _, b := range p.Blockers {
		line("blocker", string(b))
	}
	line("status", string(p.TodoStatus))
	line("claimed by", string(p.ClaimedBy))
	if p.DependencyState != todo.DependenciesReady {
		line("depends", string(p.DependencyState))
	}
	if p.Authority != nil {
		line("execution", string(p.Authority.Code))
	}
	line("note", string(p.NoteState))
	if p.SourceAgent != "" {
		line("prepared by", string(p.SourceAgent)+", session "+p.SourceSession+", "+string(p.PreparedAt))
	}
	for _, f := range p.NoteFindings {
		line("finding", f.Field+": "+string(f.Code))
	}
	for _, artifact := range p.Availability.Artifacts {
		if artifact.Available {
			line("artifact", artifact.Ref)
		} else {
			line("artifact", artifact.Ref+": "+string(artifact.Reason))
		}
	}
	for i, s := range handoff.VisibleLines(p.NextStep) {
		a.printf("%-11s %s\n", []string{"next step", ""}[min(i, 1)], s)
	}
	if p.Digest != nil || p.OutdatedDigest != nil {
		a.notef("hint: --format digest prints the note")
	}
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}
