package todo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// vectorWork is the work digest of T of continuation.md, section 2; otherWork is that of nothing here.
const (
	vectorWork = "f003e4c90502341146feb67d245ccb1e8809891e5c0138499b3c1b02fefe6334"
	otherWork  = "0000000000000000000000000000000000000000000000000000000000000000"
)

// holding puts the goal under an acceptance hold.
func holding(a Acceptance) func(*State) { return func(s *State) { s.Goal.Acceptance = &a } }

var (
	holdAll    = Acceptance{Enabled: true, Scope: HoldAll}
	holdOther  = Acceptance{Enabled: true, Scope: HoldSelected, TodoIDs: []ID{"todo_0", "todo_b"}}
	holdThis   = Acceptance{Enabled: true, Scope: HoldSelected, TodoIDs: []ID{"todo_0", "todo_a", "todo_b"}}
	notEnabled = Acceptance{Scope: HoldAll}
)

// bound is an acceptance hold with what todo_a was confirmed as.
func bound(a Acceptance, digest string) Acceptance {
	a.Bindings = map[ID]string{"todo_a": digest}
	return a
}

func TestGuard(t *testing.T) {
	unbound := func(applicable bool) Guard {
		return Guard{Applicable: applicable, Allowed: !applicable, State: "unbound", Code: "goal_acceptance_unbound", Digest: vectorWork}
	}
	ready := func(applicable bool) Guard {
		return Guard{Applicable: applicable, Allowed: true, State: "ready", Code: "goal_acceptance_ready", Digest: vectorWork, BoundDigest: vectorWork}
	}
	stale := func(applicable bool) Guard {
		return Guard{Applicable: applicable, Allowed: !applicable, State: "stale", Code: "goal_acceptance_stale", Digest: vectorWork, BoundDigest: otherWork}
	}
	for _, c := range []struct {
		name  string
		state State
		want  Guard
	}{
		{"never configured", demo(), unbound(false)},
		{"all are held", demo(holding(holdAll)), unbound(true)},
		{"all are held, confirmed", demo(holding(bound(holdAll, vectorWork))), ready(true)},
		{"all are held, changed since", demo(holding(bound(holdAll, otherWork))), stale(true)},
		{"named", demo(holding(holdThis)), unbound(true)},
		{"named, confirmed", demo(holding(bound(holdThis, vectorWork))), ready(true)},
		{"not named", demo(holding(holdOther)), unbound(false)},
		{"not named, changed since", demo(holding(bound(holdOther, otherWork))), stale(false)},
		{"disabled, confirmed", demo(holding(bound(notEnabled, vectorWork))), ready(false)},
		{"disabled, changed since", demo(holding(bound(notEnabled, otherWork))), stale(false)},
		{"done, claimed by another, and noted", demo(holding(bound(holdAll, vectorWork)), inStatus(Done), claimedBy("agent-b"), noted(freeNote(t, "x"))), ready(true)},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.state.Goal.Guard(*c.state.Todo)); diff != "" {
				t.Error(diff)
			}
			want := c.want.Code
			if c.want.Allowed {
				want = ""
			}
			err := c.state.CheckAcceptance()
			wantCode(t, Decision{}, err, want)
			if err != nil && AsRefusal(err).Detail["acceptance"] != c.want {
				t.Errorf("got detail %+v", AsRefusal(err).Detail)
			}
		})
	}
	user := demo(holding(holdAll), ofUser)
	if g := user.Goal.Guard(*user.Todo); g.Applicable || !g.Allowed {
		t.Errorf("a user's Todo, where all of agents are held: %+v", g)
	}
	user = demo(holding(holdThis), ofUser)
	if g := user.Goal.Guard(*user.Todo); !g.Applicable || g.Allowed {
		t.Errorf("a user's Todo that is named: %+v", g)
	}
	wantCode(t, Decision{}, demo(absent, holding(holdAll)).CheckAcceptance(), "")
}

// Only what the work is can make a confirmation stale (continuation.md, section 10).
func TestWhatMakesAConfirmationStale(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Todo)
		want   GuardState
	}{
		{"text", func(t *Todo) { t.Text = "other" }, GuardStale},
		{"title", func(t *Todo) { t.Title = "other" }, GuardStale},
		{"role", func(t *Todo) { t.Role = RoleUser }, GuardStale},
		{"task class", func(t *Todo) { t.TaskClass = "fix" }, GuardStale},
		{"write scopes", func(t *Todo) { t.RequiredWriteScopes = []string{"src/**"} }, GuardStale},
		{"dependencies", func(t *Todo) { t.DependsOn = []ID{"todo_b"} }, GuardStale},
		{"priority", func(t *Todo) { t.Priority = "P0" }, GuardReady},
		{"labels", func(t *Todo) { t.Labels = []string{"disk"} }, GuardReady},
		{"claim", func(t *Todo) { t.ClaimedBy = "agent-b" }, GuardReady},
		{"status", func(t *Todo) { t.Status = Blocked }, GuardReady},
		{"time to resume", func(t *Todo) { t.ResumeAt = testAt }, GuardReady},
		{"who is admitted", func(t *Todo) { t.BoundAgent, t.ExcludedAgents = "agent-a", []AgentID{"agent-b"} }, GuardReady},
		{"evidence and reason", func(t *Todo) { t.Evidence, t.Reason = "log", "measured" }, GuardReady},
	} {
		d := decideBind(demo().Goal, []Todo{vectorTodo()})
		next := vectorTodo()
		c.change(&next)
		if got := d.Goal.Guard(next).State; got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// What is held: taking work and finishing it. Giving it away and looking after it are not, or the hold would trap the work
// with its holder.
func TestWhatTheHoldHolds(t *testing.T) {
	claim := ClaimRequest{Command: "todo claim", Todo: "todo_a", Actor: "agent-a", Claimant: "agent-a", At: testAt}
	decided := func(_ Decision, err error) error { return err }
	for _, c := range []struct {
		name string
		err  func(State) error
		held bool
	}{
		{"claim", func(s State) error { s.Todo.ClaimedBy = ""; return decided(DecideClaim(s, claim)) }, true},
		{"claim of what is mine", func(s State) error { return decided(DecideClaim(s, claim)) }, true},
		{"a claim that is judged again", func(s State) error { return VerifyClaim(s, "todo_a", "agent-a") }, true},
		{"complete", func(s State) error { return decided(decideComplete(s, by("agent-a"), CompleteArgs{}, nil, testAt)) }, true},
		{"supersede", func(s State) error {
			return decided(decideSupersede(s, by("agent-a"), SupersedeArgs{By: "todo_b"}, after([]ID{"todo_b"}), testAt))
		}, false},
		{"update", func(s State) error {
			return decided(decideUpdate(s, by("agent-a"), UpdateArgs{Text: ptr("x")}, Dependencies{}, testAt))
		}, false},
		{"note", func(s State) error { return decided(decideNote(s, by("agent-a"), NoteArgs{Text: "x"}, testAt)) }, false},
		{"release", func(s State) error { return decided(decideRelease(s, by("agent-a"), ReleaseArgs{}, testAt)) }, false},
		{"reopen", func(s State) error {
			s.Todo.Status = Done
			return decided(decideReopen(s, "todo_a", ReopenArgs{}, "agent-a", testAt))
		}, false},
		{"archive", func(s State) error {
			s.Todo.Status = Done
			return decided(decideArchive(s, "todo_a", "agent-a", testAt))
		}, false},
	} {
		for code, a := range map[Code]Acceptance{
			"":                    bound(holdAll, vectorWork),
			CodeAcceptanceUnbound: holdAll,
			CodeAcceptanceStale:   bound(holdThis, otherWork),
		} {
			want := code
			if !c.held {
				want = ""
			}
			if got := CodeOf(c.err(demo(holding(a)))); got != want {
				t.Errorf("%s: got %q, want %q", c.name, got, want)
			}
		}
	}
}

// The order of the checks around the hold: another's claim, the fence and what the work waits for come before it when work
// ends, the successors after it.
func TestOrderAroundTheHold(t *testing.T) {
	waiting := func(s *State) { s.Todo.ResumeAt = "2026-09-15T00:00:00Z" }
	unknown := CompleteArgs{Successors: []ID{"todo_b"}}
	proof := proving("agent-a", "execution", 3)
	for _, c := range []struct {
		name  string
		state State
		call  Call
		want  Code
	}{
		{"another's", demo(holding(holdAll), waiting, claimedBy("agent-b")), by("agent-a"), CodeClaimOwnerMismatch},
		{"no proof", demo(holding(holdAll), waiting, hardLease, leaseOf("agent-a")), by("agent-a"), CodeLeaseFenceRequired},
		{"waiting", demo(holding(holdAll), waiting, hardLease, leaseOf("agent-a")), proof, CodeDependencyPending},
		{"never confirmed", demo(holding(holdAll)), by("agent-a"), CodeAcceptanceUnbound},
		{"unknown successor", demo(holding(bound(holdAll, vectorWork))), by("agent-a"), CodeSuccessorNotFound},
	} {
		d, err := decideComplete(c.state, c.call, unknown, nil, testAt)
		t.Run(c.name, func(t *testing.T) { wantCode(t, d, err, c.want) })
	}
}

func TestAcceptanceEffects(t *testing.T) {
	twice := Acceptance{Enabled: true, Scope: HoldAll, Bindings: map[ID]string{"todo_a": vectorWork, "todo_b": otherWork}}
	confirmed := []Bound{{"todo_a", vectorWork}}
	enable := func(ids ...ID) func(Goal) Decision { return func(g Goal) Decision { return decideEnable(g, ids) } }
	bind := func(g Goal) Decision { return decideBind(g, []Todo{vectorTodo()}) }
	for _, c := range []struct {
		name   string
		before *Acceptance
		decide func(Goal) Decision
		after  *Acceptance // nil: no change
		bound  []Bound
	}{
		{"enable", nil, enable(), &holdAll, nil},
		{"enable some", nil, enable("todo_0", "todo_b"), &holdOther, nil},
		{"enable again", &holdAll, enable(), nil, nil},
		{"enable the same again", &holdOther, enable("todo_0", "todo_b"), nil, nil},
		{"enable others", &holdThis, enable("todo_0", "todo_b"), &holdOther, nil},
		{"enable all after some", ptr(bound(holdOther, otherWork)), enable(), ptr(bound(holdAll, otherWork)), nil},
		{"enable after it was disabled", ptr(bound(notEnabled, otherWork)), enable(), ptr(bound(holdAll, otherWork)), nil},
		{"bind before anything is held", nil, bind, ptr(bound(notEnabled, vectorWork)), confirmed},
		{"bind", &holdThis, bind, ptr(bound(holdThis, vectorWork)), confirmed},
		{"bind what changed", ptr(bound(holdAll, otherWork)), bind, ptr(bound(holdAll, vectorWork)), confirmed},
		{"bind again", ptr(bound(holdAll, vectorWork)), bind, nil, confirmed},
		{"bind beside another", &Acceptance{Enabled: true, Scope: HoldAll, Bindings: map[ID]string{"todo_b": otherWork}}, bind, &twice, confirmed},
		{"disable", ptr(bound(holdAll, vectorWork)), decideDisable, ptr(bound(notEnabled, vectorWork)), nil},
		{"disable keeps whom it was for", &holdOther, decideDisable, &Acceptance{Scope: HoldSelected, TodoIDs: holdOther.TodoIDs}, nil},
		{"disable again", &notEnabled, decideDisable, nil, nil},
		{"disable what was never configured", nil, decideDisable, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := demo().Goal
			g.Acceptance = c.before
			before := g.acceptance() // a copy
			d := c.decide(g)
			var got *Acceptance
			if d.Goal != nil {
				got = d.Goal.Acceptance
				if _, err := EncodeGoal(*d.Goal); err != nil {
					t.Error(err)
				}
			}
			if diff := cmp.Diff(c.after, got); diff != "" {
				t.Error(diff)
			}
			now := c.after
			if now == nil {
				now = c.before
			}
			want := AcceptanceResult{Bound: c.bound, Changed: c.after != nil}
			if now != nil {
				want.Enabled, want.Scope, want.TodoIDs = now.Enabled, now.Scope, now.TodoIDs
			}
			if diff := cmp.Diff(want, d.Result); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, g.acceptance()); diff != "" {
				t.Errorf("the rule changed what it was given: %s", diff)
			}
		})
	}
}
