package todo

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// releasedRecord stands for the bytes that package lease makes of a lease that is given back; no rule here reads them.
var releasedRecord = []byte("{}\n")

// leaseOf puts a live lease of an agent on the Todo: key "execution", version 3.
func leaseOf(owner AgentID, changes ...func(*Holding)) func(*State) {
	h := Holding{
		Owner: owner, Key: "execution", Version: 3, Epoch: 2, Expires: "2026-09-14T09:00:00Z",
		Active: true, Live: true, LiveToOthers: true, Released: releasedRecord,
	}
	for _, change := range changes {
		change(&h)
	}
	return func(s *State) { s.Lease = h }
}

func over(h *Holding)       { h.Live, h.LiveToOthers = false, false }
func withinSkew(h *Holding) { h.Live = false }
func givenBack(h *Holding)  { h.Active, h.Live, h.LiveToOthers, h.Released = false, false, false, nil }

// proving is a call on todo_a with a proof.
func proving(a AgentID, key string, version int64) Call {
	c := by(a)
	c.Proof = ProofOf(key, version)
	return c
}

// besideLease is one row of the tables below: what a verb comes to on todo_a, claimed by agent-a unless told.
type besideLease struct {
	name     string
	state    State
	call     Call
	want     Code
	released bool // the decision ends the lease
}

func (c besideLease) check(t *testing.T, d Decision, err error) {
	t.Helper()
	wantCode(t, d, err, c.want)
	var want map[ID][]byte
	if c.released {
		want = map[ID][]byte{"todo_a": releasedRecord}
	}
	if diff := cmp.Diff(want, d.Leases); diff != "" {
		t.Errorf("leases that are written: %s", diff)
	}
}

// fenced are the rows that all verbs behind the fence have in common. released says whether the verb ends the lease.
func fenced(released bool) []besideLease {
	a := by("agent-a")
	proof := proving("agent-a", "execution", 3)
	return []besideLease{
		{"with the proof, where leases are needed", demo(hardLease, leaseOf("agent-a")), proof, "", released},
		{"with the proof, beside a lease", demo(leaseOf("agent-a")), proof, "", released},
		{"no lease, where none is needed", demo(), a, "", false},
		{"my lease is over, where none is needed", demo(leaseOf("agent-a", over)), a, "", released},
		{"my lease is given back, where none is needed", demo(leaseOf("agent-a", givenBack)), a, "", false},
		{"another's lease is over, where none is needed", demo(leaseOf("agent-b", over)), a, "", false},
		{"no lease, where one is needed", demo(hardLease), proof, CodeModeRequiresLease, false},
		{"my lease is over, where one is needed", demo(hardLease, leaseOf("agent-a", over)), proof, CodeModeRequiresLease, false},
		{"my lease is over, and live to others for a while", demo(hardLease, leaseOf("agent-a", withinSkew)), proof, CodeModeRequiresLease, false},
		{"my lease is given back, where one is needed", demo(hardLease, leaseOf("agent-a", givenBack)), proof, CodeModeRequiresLease, false},
		{"another's lease is over, where one is needed", demo(hardLease, leaseOf("agent-b", over)), proof, CodeModeRequiresLease, false},
		{"my lease is live, but I left the goal", demo(leaseOf("agent-a"), unregistered("agent-a")), a, CodeLeaseClaimDivergence, false},
		{"no proof, where leases are needed", demo(hardLease, leaseOf("agent-a")), a, CodeLeaseFenceRequired, false},
		{"no proof, beside a lease", demo(leaseOf("agent-a")), a, CodeLeaseFenceRequired, false},
		{"another key, and another version", demo(hardLease, leaseOf("agent-a")), proving("agent-a", "other", 4), CodeLeaseCASMismatch, false},
		{"an older version", demo(hardLease, leaseOf("agent-a")), proving("agent-a", "execution", 2), CodeVersionMismatch, false},
		{"excluded, beside a lease", demo(leaseOf("agent-a"), excludes("agent-a")), a, CodeActorExcluded, false},
		{"bound away, beside a lease", demo(leaseOf("agent-a"), boundTo("agent-b")), a, CodeBoundAgentMismatch, false},
	}
}

func TestUpdateBesideALease(t *testing.T) {
	rows := append(fenced(false),
		besideLease{"unclaimed, another's lease is live", demo(claimedBy(""), leaseOf("agent-b")), by("agent-a"), CodeUpdateOwnerMismatch, false},
		besideLease{"unclaimed, another's lease is over for less than the skew", demo(claimedBy(""), leaseOf("agent-b", withinSkew)), by("agent-a"), CodeUpdateOwnerMismatch, false},
		besideLease{"unclaimed, another's lease is over", demo(claimedBy(""), leaseOf("agent-b", over)), by("agent-a"), "", false},
		besideLease{"mine, another's lease is live", demo(leaseOf("agent-b")), proving("agent-a", "execution", 3), CodeUpdateOwnerMismatch, false},
		besideLease{"blocked, another's lease is live", demo(inStatus(Blocked), leaseOf("agent-b")), by("agent-a"), CodeUpdateOwnerMismatch, false},
		besideLease{"another's, my lease is live", demo(leaseOf("agent-b")), proving("agent-b", "execution", 3), CodeUpdateOwnerMismatch, false},
		besideLease{"unclaimed, my lease is live", demo(claimedBy(""), leaseOf("agent-a")), by("agent-a"), "", false},
		besideLease{"blocked, where leases are needed", demo(inStatus(Blocked), hardLease), by("agent-a"), "", false},
		besideLease{"deferred, my lease is live", demo(inStatus(Deferred), leaseOf("agent-a")), by("agent-a"), "", false},
		besideLease{"done, another's lease is live", demo(inStatus(Done), leaseOf("agent-b")), by("agent-a"), CodeUpdateTarget, false},
		besideLease{"archived, another's lease is live", demo(archived, leaseOf("agent-b")), by("agent-a"), CodeTodoArchived, false},
	)
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideUpdate(c.state, c.call, UpdateArgs{Priority: ptr("P1")}, Dependencies{}, testAt)
			c.check(t, d, err)
			d, err = decideNote(c.state, c.call, NoteArgs{Text: "x"}, testAt)
			c.check(t, d, err)
		})
	}
	_, err := decideUpdate(demo(claimedBy(""), leaseOf("agent-b")), by("agent-a"), UpdateArgs{Priority: ptr("P1")}, Dependencies{}, testAt)
	if diff := cmp.Diff(map[string]any{"lease_owner": AgentID("agent-b"), "expires_at": Instant("2026-09-14T09:00:00Z")}, AsRefusal(err).Detail); diff != "" {
		t.Error(diff)
	}
}

func TestWhatALeaseRestsOnStays(t *testing.T) {
	proof := proving("agent-a", "execution", 3)
	changes := map[string]UpdateArgs{
		"required_write_scopes": {RequiredWriteScopes: &[]string{"src/**"}},
		"depends_on":            {DependsOn: &[]ID{"todo_b"}},
		"resume_at":             {ResumeAt: ptr(testAt)},
		"bound_agent":           {BoundAgent: ptr(AgentID("agent-a"))},
		"excluded_agents":       {ExcludedAgents: &[]AgentID{"agent-b"}},
	}
	for field, args := range changes {
		t.Run(field, func(t *testing.T) {
			d, err := decideUpdate(demo(hardLease, leaseOf("agent-a")), proof, args, Dependencies{}, testAt)
			wantCode(t, d, err, CodeLeaseRequirements)
			if got := AsRefusal(err).Detail["field"]; got != field {
				t.Errorf("names %v", got)
			}
			d, err = decideUpdate(demo(claimedBy(""), leaseOf("agent-a")), by("agent-a"), args, Dependencies{}, testAt)
			wantCode(t, d, err, CodeLeaseRequirements)
			d, err = decideUpdate(demo(hardLease, leaseOf("agent-a")), by("agent-a"), args, Dependencies{}, testAt)
			wantCode(t, d, err, CodeLeaseFenceRequired)
			d, err = decideUpdate(demo(leaseOf("agent-a", over)), by("agent-a"), args, Dependencies{}, testAt)
			wantCode(t, d, err, "")
		})
	}
	bound := demo(hardLease, leaseOf("agent-a"), boundTo("agent-a"))
	d, err := decideUpdate(bound, proof, changes["bound_agent"], Dependencies{}, testAt)
	wantCode(t, d, err, "")
	if d.Changes() {
		t.Errorf("an equal value changes %+v", d)
	}
	unknown := Dependencies{refusal: Reject(CodeDependencyInvalid, "todo todo_b: not in the goal")}
	d, err = decideUpdate(demo(hardLease, leaseOf("agent-a")), proof, changes["depends_on"], unknown, testAt)
	wantCode(t, d, err, CodeLeaseRequirements)
	d, err = decideUpdate(demo(), by("agent-a"), changes["depends_on"], unknown, testAt)
	wantCode(t, d, err, CodeDependencyInvalid)
}

func TestWorkThatStopsLetsItsLeaseGo(t *testing.T) {
	proof := proving("agent-a", "execution", 3)
	to := func(w WorkStatus) UpdateArgs { return UpdateArgs{Status: &w} }
	for _, c := range []struct {
		besideLease
		args UpdateArgs
	}{
		{besideLease{"blocked", demo(hardLease, leaseOf("agent-a")), proof, "", true}, to(Blocked)},
		{besideLease{"deferred", demo(hardLease, leaseOf("agent-a")), proof, "", true}, to(Deferred)},
		{besideLease{"blocked, my lease is over", demo(leaseOf("agent-a", over)), by("agent-a"), "", true}, to(Blocked)},
		{besideLease{"blocked, my lease is given back", demo(leaseOf("agent-a", givenBack)), by("agent-a"), "", false}, to(Blocked)},
		{besideLease{"blocked, another's lease is over", demo(leaseOf("agent-b", over)), by("agent-a"), "", false}, to(Blocked)},
		{besideLease{"blocked, unclaimed, my lease is live", demo(claimedBy(""), leaseOf("agent-a")), by("agent-a"), "", true}, to(Blocked)},
		{besideLease{"blocked without the proof", demo(hardLease, leaseOf("agent-a")), by("agent-a"), CodeLeaseFenceRequired, false}, to(Blocked)},
		{besideLease{"open already", demo(hardLease, leaseOf("agent-a")), proof, "", false}, to(Open)},
		{besideLease{"blocked already", demo(inStatus(Blocked), leaseOf("agent-a", over)), by("agent-a"), "", false}, to(Blocked)},
		{besideLease{"blocked, another member", demo(inStatus(Blocked), leaseOf("agent-a", over)), by("agent-a"), "", false}, UpdateArgs{Priority: ptr("P1")}},
		{besideLease{"open again, my lease is over", demo(inStatus(Blocked), leaseOf("agent-a", over)), by("agent-a"), "", false}, to(Open)},
		{besideLease{"open again", demo(inStatus(Blocked), hardLease, leaseOf("agent-a", givenBack)), by("agent-a"), "", false}, to(Open)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideUpdate(c.state, c.call, c.args, Dependencies{}, testAt)
			c.check(t, d, err)
			if err == nil {
				if r := d.Result.(UpdateResult); r.LeaseReleased != c.released || d.Changes() != r.Changed {
					t.Errorf("got %+v of %+v", r, d)
				}
			}
		})
	}
}
