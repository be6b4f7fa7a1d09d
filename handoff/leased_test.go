package handoff

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/todo"
)

// Cases 46, 48, 50 and 55 to 56 of continuation.md, section 12, and the leased order of section 7.5: everything in the
// way, in its order, the same in inspect and adopt.
func TestLeased(t *testing.T) {
	before := prepared(t, leasedTo(demo(), "agent-a"))
	b := transferred(before)
	waits := transferred(prepared(t, waiting(leasedTo(demo(), "agent-a"))))
	unclaimed := func(s todo.State) todo.State { return with(s, func(x *todo.Todo) { x.ClaimedBy = "" }) }
	stale := func(s todo.State) todo.State { return with(s, func(x *todo.Todo) { x.Text = "Another text" }) }
	excluded := func(s todo.State) todo.State {
		return with(s, func(x *todo.Todo) { x.ExcludedAgents = []todo.AgentID{"agent-b"} })
	}
	right, none := todo.ProofOf("execution-b", 4), todo.Proof{}
	for _, row := range []struct {
		name      string
		state     todo.State
		proof     todo.Proof
		session   string // "" is target-session
		authority todo.Code
		blockers  string
	}{
		{"transferred, with the proof", b, right, "", fenceVerified, "[]"},
		{"transferred, without", b, none, "", todo.CodeLeaseFenceRequired, "[lease_fence_required]"},
		{"the source's proof", b, todo.ProofOf("execution-a", 3), "", todo.CodeLeaseCASMismatch, "[lease_cas_mismatch]"},
		{"another version", b, todo.ProofOf("execution-b", 5), "", todo.CodeVersionMismatch, "[version_mismatch]"},
		{"lease over", over(b), right, "", todo.CodeModeRequiresLease, "[handoff_mode_requires_lease]"},
		{"lease over but for others", justOver(b), right, "", todo.CodeModeRequiresLease, "[handoff_mode_requires_lease]"},
		{"lease over, without proof", over(b), none, "", todo.CodeModeRequiresLease, "[handoff_mode_requires_lease]"},
		{"no lease ever", func() todo.State { s := b; s.Lease = todo.Holding{}; return s }(), right, "", todo.CodeModeRequiresLease, "[handoff_mode_requires_lease]"},
		{"the lease alone was transferred", with(b, func(x *todo.Todo) { x.ClaimedBy = "agent-a" }), right, "", todo.CodeLeaseClaimDivergence,
			"[continuation_transfer_required handoff_mode_lease_claim_divergence note_stale]"},
		{"the claim alone was transferred", func() todo.State { s := b; s.Lease = before.Lease; return s }(), right, "", todo.CodeLeaseClaimDivergence,
			"[handoff_mode_lease_claim_divergence]"},
		{"not transferred", before, none, "", todo.CodeLeaseFenceRequired, "[continuation_transfer_required]"},
		{"not transferred, with the source's proof", before, todo.ProofOf("execution-a", 3), "", todo.CodeLeaseCASMismatch, "[continuation_transfer_required]"},
		{"not transferred, lease over", over(before), none, "", todo.CodeModeRequiresLease, "[continuation_transfer_required handoff_mode_requires_lease]"},
		{"nobody's, with the lease", unclaimed(b), right, "", fenceVerified, "[continuation_transfer_required note_stale]"},
		{"nobody's, with the lease, no proof", unclaimed(b), none, "", todo.CodeLeaseFenceRequired, "[continuation_transfer_required lease_fence_required note_stale]"},
		{"soft_claim, leased all the same", soft(b), right, "", fenceVerified, "[]"},
		{"soft_claim, leased, no proof", soft(b), none, "", todo.CodeLeaseFenceRequired, "[lease_fence_required]"},
		{"soft_claim, proof of a lease that is over", soft(over(b)), right, "", todo.CodeModeRequiresLease, "[handoff_mode_requires_lease]"},
		{"soft_claim, lease over", soft(over(b)), none, "", "", "[]"},
		{"soft_claim, lease over but for others", soft(justOver(b)), none, "", "", "[]"},
		{"soft_claim, another's lease over but for others", soft(justOver(before)), none, "", todo.CodeLeaseFenceRequired, "[continuation_transfer_required]"},
		{"held", unconfirmed(b), right, "", todo.CodeAcceptanceUnbound, "[goal_acceptance_unbound]"},
		{"held, without proof", unconfirmed(b), none, "", todo.CodeAcceptanceUnbound, "[goal_acceptance_unbound lease_fence_required]"},
		{"waits", waits, right, "", todo.CodeDependencyPending, "[todo_dependency_pending]"},
		{"its time has come", transferred(prepared(t, with(leasedTo(demo(), "agent-a"), func(x *todo.Todo) { x.ResumeAt = at }))), right, "", fenceVerified, "[]"},
		{"waits, without proof", waits, none, "", todo.CodeLeaseFenceRequired, "[lease_fence_required todo_dependency_pending]"},
		{"no note", func() todo.State { s := b; s.Note = nil; return s }(), right, "", fenceVerified, "[note_missing]"},
		{"text changed before the transfer", transferred(stale(before)), right, "", fenceVerified, "[note_stale]"},
		{"text changed since", stale(b), right, "", fenceVerified, "[note_stale]"},
		{"from the note's session", b, right, "source-session", fenceVerified, "[continuation_same_session]"},
		{"excluded", excluded(b), right, "", todo.CodeLeaseClaimDivergence, "[handoff_mode_lease_claim_divergence note_stale actor_excluded]"},
		{"all at once", unconfirmed(excluded(unclaimed(stale(waits)))), todo.ProofOf("k", 1), "source-session", todo.CodeAcceptanceUnbound,
			"[continuation_transfer_required goal_acceptance_unbound handoff_mode_lease_claim_divergence todo_dependency_pending " +
				"note_stale continuation_same_session actor_excluded]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := inspectRequest("agent-b")
			r.Proof = row.proof
			if row.session != "" {
				r.Session = row.session
			}
			p, err := Inspect(row.state, r, ready, at)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(p.Blockers) != row.blockers || p.CanAdopt != (row.blockers == "[]") {
				t.Errorf("can adopt %v, blockers %v, want %s", p.CanAdopt, p.Blockers, row.blockers)
			}
			if waits := strings.Contains(row.blockers, "todo_dependency_pending"); waits != (p.DependencyState == todo.DependenciesPending) {
				t.Errorf("dependencies are %s", p.DependencyState)
			}
			switch {
			case row.authority == "":
				if p.Authority != nil {
					t.Errorf("execution authority %+v without leases", *p.Authority)
				}
			case p.Authority == nil || p.Authority.Code != row.authority || p.Authority.Allowed != (row.authority == fenceVerified):
				t.Errorf("execution authority %+v, want %s", p.Authority, row.authority)
			}
			if said := "Execution authority: " + string(row.authority) + "\n"; strings.Contains(DigestText(p), said) != (p.Authority != nil && !p.Authority.Allowed) {
				t.Errorf("digest:\n%s", DigestText(p))
			}

			adopt := AdoptRequest{Call: call("agent-b", r.Session, "resume-1")}
			adopt.Proof = row.proof
			d, err := Adopt(row.state, adopt, ready, at)
			if row.blockers == "[]" {
				if err != nil || d.Changes() != (row.authority == "" && row.state.Todo.ClaimedBy != "agent-b") {
					t.Errorf("decided %+v, %v", d, err)
				}
				return
			}
			want := p.Blockers[0]
			if isReadiness(want) {
				want = CodeNotReady
			}
			refusal := wantCode(t, err, want)
			if d.Changes() || d.Result != nil {
				t.Errorf("a refusal decided %+v", d)
			}
			if nested := nestedIn(refusal); nested != "adoption" && want != CodeNotReady {
				t.Errorf("%s is nested in %q", want, nested)
			}

			adopt.Expected = laterTip
			_, err = Adopt(row.state, adopt, ready, at)
			wantCode(t, err, want)
		})
	}
}

// Leased work is adopted by its owner only: for another is a transfer, whatever the proof.
func TestLeasedForAnother(t *testing.T) {
	r := adoptRequest("agent-b")
	r.Proof, r.Target = todo.ProofOf("execution-b", 4), "agent-c"
	d, err := Adopt(transferred(prepared(t, leasedTo(demo(), "agent-a"))), r, ready, at)
	if refusal := wantCode(t, err, CodeTransferRequired); nestedIn(refusal) != "adoption" || d.Result != nil {
		t.Errorf("refusal %+v, decided %+v", refusal, d)
	}
}

// Case 51: a leased adopt is a receipt and nothing else.
func TestLeasedAdopt(t *testing.T) {
	s := transferred(prepared(t, leasedTo(demo(), "agent-a")))
	r := adoptRequest("agent-b")
	r.Proof = todo.ProofOf("execution-b", 4)
	d, err := Adopt(s, r, ready, at)
	if err != nil || d.Changes() || d.Subject != "handoff adopt todo_a" {
		t.Fatalf("decided %+v, %v", d, err)
	}
	want := Adoption{
		Schema: "loopx_continuation_adoption_result_v0", Adopted: true, TodoID: "todo_a", AgentID: "agent-b",
		TakenOver: TakenOver{NoteFacts: todo.NoteFacts(s.Note), StableFacts: todo.StableFacts(*s.Todo), SourceAgentID: "agent-a"},
	}
	if d.Result != want {
		t.Errorf("result %+v, want %+v", d.Result, want)
	}
	if was := takeoverOf(d); !was.Leased || was.TakenOver != want.TakenOver {
		t.Errorf("taken over %+v", was)
	}
	b, err := json.Marshal(NestedAdoption{Standing{Code: todo.CodeTodoNotOpen}, want})
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(b, &members); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(slices.Sorted(maps.Keys(members)))
	if want := "[adopted agent_id changed note_facts ok reason_code schema_version source_agent_id stable_facts todo_id]"; got != want {
		t.Errorf("members %s, want %s", got, want)
	}
}

// Cases 53 and 54: leased work is verified with its execution authority, between its facts and the revision.
func TestVerifyLeased(t *testing.T) {
	s := transferred(prepared(t, leasedTo(demo(), "agent-a")))
	r := adoptRequest("agent-b")
	r.Proof = todo.ProofOf("execution-b", 4)
	d, err := Adopt(s, r, ready, at)
	if err != nil {
		t.Fatal(err)
	}
	s = after(s, d)
	moved := func(s todo.State) todo.State { s.Revision = tip; return s }
	lease := func(s todo.State, change func(*todo.Holding)) todo.State { change(&s.Lease); return s }
	for _, row := range []struct {
		name  string
		state todo.State
		want  string
	}{
		{"as written", s, "[]"},
		{"lease over", over(s), "[handoff_mode_requires_lease]"},
		{"lease over but for others", justOver(s), "[handoff_mode_requires_lease]"},
		{"lease released", moved(lease(s, func(h *todo.Holding) { h.Active, h.Live, h.LiveToOthers, h.Released = false, false, false, nil })),
			"[handoff_mode_requires_lease provider_revision_mismatch]"},
		{"lease renewed", moved(lease(s, func(h *todo.Holding) { h.Version = 5 })), "[version_mismatch provider_revision_mismatch]"},
		{"handed on", moved(with(leasedTo(s, "agent-c"), func(x *todo.Todo) { x.ClaimedBy = "agent-c" })),
			"[claim_owner_mismatch lease_cas_mismatch provider_revision_mismatch]"},
		{"text changed", moved(with(s, func(x *todo.Todo) { x.Text = "Another" })), "[continuation_facts_changed provider_revision_mismatch]"},
		{"held", moved(unconfirmed(s)), "[goal_acceptance_unbound provider_revision_mismatch]"},
		{"waits", moved(waiting(s)), "[continuation_facts_changed todo_dependency_pending provider_revision_mismatch]"},
		{"soft_claim since", moved(soft(s)), "[provider_revision_mismatch]"},
		{"soft_claim and over since", moved(soft(over(s))), "[handoff_mode_requires_lease provider_revision_mismatch]"},
		{"held, waits, over", moved(unconfirmed(waiting(over(s)))),
			"[continuation_facts_changed goal_acceptance_unbound handoff_mode_requires_lease todo_dependency_pending provider_revision_mismatch]"},
		{"gone", moved(func() todo.State { s := s; s.Todo, s.Note = nil, nil; return s }()), "[todo_not_open provider_revision_mismatch]"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a := answerOf(d)
			a.verify(row.state, r, unseen([]string{"gone"}, NotFound), at, nil)
			if fmt.Sprint(a.Failures) != row.want || a.Verified != (row.want == "[]") || a.Verified != (a.Refused == nil) {
				t.Errorf("got %v, verified %v, refused %v, want %s", a.Failures, a.Verified, a.Refused, row.want)
			}
			if a.Claim != nil || a.Adoption.OK != a.Verified || a.Adoption.Code != todo.CodeOf(asError(a.Refused)) {
				t.Errorf("nested %+v beside %v", a.Adoption, a.Refused)
			}
		})
	}
}

// Case 47 and the leased order of section 7.3: acceptance and dependencies do not hold a note.
func TestPrepareLeased(t *testing.T) {
	s := leasedTo(demo(), "agent-a")
	right := todo.ProofOf("execution-a", 3)
	for _, row := range []struct {
		name     string
		state    todo.State
		proof    todo.Proof
		expected string
		want     todo.Code
	}{
		{"the proof", s, right, string(tip), ""},
		{"no proof", s, todo.Proof{}, "moved", todo.CodeLeaseFenceRequired},
		{"another key", s, todo.ProofOf("execution-b", 3), "moved", todo.CodeLeaseCASMismatch},
		{"version 999", s, todo.ProofOf("execution-a", 999), "moved", todo.CodeVersionMismatch},
		{"lease over", over(s), right, "moved", todo.CodeModeRequiresLease},
		{"lease over but for others", justOver(s), right, string(tip), todo.CodeModeRequiresLease},
		{"another's lease", leasedTo(demo(), "agent-b"), right, string(tip), todo.CodeLeaseClaimDivergence},
		{"excluded before proof", with(s, func(x *todo.Todo) { x.ExcludedAgents = []todo.AgentID{"agent-a"} }), todo.Proof{}, string(tip), todo.CodeActorExcluded},
		{"claimed by b before proof", with(s, func(x *todo.Todo) { x.ClaimedBy = "agent-b" }), todo.Proof{}, string(tip), CodeOwnerRequired},
		{"soft_claim, leased all the same", soft(s), todo.Proof{}, string(tip), todo.CodeLeaseFenceRequired},
		{"soft_claim, lease over", soft(over(s)), todo.Proof{}, string(tip), ""},
		{"soft_claim, proof of a lease that is over", soft(over(s)), right, string(tip), todo.CodeModeRequiresLease},
		{"held and waiting", unconfirmed(waiting(s)), right, string(tip), ""},
		{"revision moved", s, right, "moved", CodeRevisionMismatch},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := prepareRequest()
			r.Proof = row.proof
			if row.expected == "moved" {
				r.Expected = laterTip
			}
			d, err := Prepare(row.state, r, at)
			wantCode(t, err, row.want)
			if row.want != "" && (d.Changes() || d.Result != nil) {
				t.Errorf("a refusal decided %+v", d)
			}
			if row.want == "" && (len(d.Notes) != 1 || d.Leases != nil || d.Todos[0].ClaimedBy != "agent-a") {
				t.Errorf("decided %+v", d)
			}
		})
	}
}

// What is to be mended is said in the order note, surroundings, right to work, each with a command that helps.
func TestNextStepOfLeased(t *testing.T) {
	before := prepared(t, leasedTo(demo(), "agent-a"))
	b := transferred(before)
	right, none := todo.ProofOf("execution-b", 4), todo.Proof{}
	for _, row := range []struct {
		name  string
		state todo.State
		proof todo.Proof
		words string
	}{
		{"all is well", b, right, "Bound the retry loop by time"},
		{"no proof", b, none, "--task-lease-idempotency-key"},
		{"another proof", b, todo.ProofOf("k", 1), "lease inspect"},
		{"lease over", over(b), right, "lease acquire"},
		{"not transferred", before, none, "agent-a hands it over with git loopx lease transfer --transfer-claim"},
		{"not transferred, another proof", before, right, "agent-a hands it over with git loopx lease transfer --transfer-claim"},
		{"not transferred, over", over(before), none, "agent-a takes one with git loopx lease acquire"},
		{"nobody's", with(over(b), func(x *todo.Todo) { x.ClaimedBy = "" }), none, "todo claim --task-lease-idempotency-key"},
		{"claim and lease apart", func() todo.State { s := b; s.Lease.Owner = "agent-a"; return s }(), right, "The lease of agent-a is live and does not fit"},
		{"held", unconfirmed(b), right, "goal acceptance bind --todo todo_a"},
		{"waits", transferred(prepared(t, waiting(leasedTo(demo(), "agent-a")))), right, "waits"},
		{"soft_claim, proof without a lease", soft(over(b)), right, "without a lease proof"},
		{"no note, no proof", func() todo.State { s := b; s.Note = nil; return s }(), none, "There is no continuation note"},
	} {
		r := inspectRequest("agent-b")
		r.Proof = row.proof
		p, err := Inspect(row.state, r, ready, at)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(p.NextStep, row.words) {
			t.Errorf("%s: next step %q, want %q", row.name, p.NextStep, row.words)
		}
	}
}
