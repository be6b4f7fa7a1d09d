package todo

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestClaimBesideALease(t *testing.T) {
	a := ClaimRequest{Command: "todo claim", Todo: "todo_a", Actor: "agent-a", Claimant: "agent-a", At: testAt}
	granting := func(s *State) { s.Note = vectorNote(t) }
	granted := ClaimRequest{
		Command: "handoff adopt", Todo: "todo_a", Actor: "agent-b", Claimant: "agent-b", Expected: vectorRevision, At: testAt,
		Grant: &Grant{
			Schema: GrantSchema, Source: "agent-a", Target: "agent-b", Todo: "todo_a", ExpectedRevision: vectorRevision,
			NoteFacts: NoteFacts(vectorNote(t)),
		},
	}
	for _, c := range []struct {
		name  string
		state State
		req   ClaimRequest
		want  Code
	}{
		{"unclaimed, another's lease is live", demo(claimedBy(""), hardLease, leaseOf("agent-b")), a, CodeLeaseConflict},
		{"unclaimed, another's lease is live, where none is needed", demo(claimedBy(""), leaseOf("agent-b")), a, CodeLeaseConflict},
		{"unclaimed, another's lease is over for less than the skew", demo(claimedBy(""), leaseOf("agent-b", withinSkew)), a, CodeLeaseConflict},
		{"unclaimed, another's lease is over", demo(claimedBy(""), leaseOf("agent-b", over)), a, ""},
		{"unclaimed, another's lease is live, but its owner left", demo(claimedBy(""), leaseOf("agent-b"), unregistered("agent-b")), a, ""},
		{"unclaimed, another's lease is live, but its owner is excluded", demo(claimedBy(""), leaseOf("agent-b"), excludes("agent-b")), a, ""},
		{"mine, another's lease is live", demo(leaseOf("agent-b")), a, ""},
		{"unclaimed, my lease is live", demo(claimedBy(""), hardLease, leaseOf("agent-a")), a, ""},
		{"mine, my lease is live", demo(hardLease, leaseOf("agent-a")), a, ""},
		{"mine, my lease is over", demo(hardLease, leaseOf("agent-a", over)), a, CodeModeRequiresLease},
		{"mine, my lease is over, and live to others for a while", demo(hardLease, leaseOf("agent-a", withinSkew)), a, CodeModeRequiresLease},
		{"mine, my lease is given back", demo(hardLease, leaseOf("agent-a", givenBack)), a, CodeModeRequiresLease},
		{"unclaimed, no lease, where one is needed", demo(claimedBy(""), hardLease), a, CodeModeRequiresLease},
		{"another's, whose lease is live", demo(claimedBy("agent-b"), hardLease, leaseOf("agent-b")), a, CodeClaimOwnerMismatch},
		{"by grant, the owner's lease is live", demo(granting, leaseOf("agent-a")), granted, CodeClaimOwnerMismatch},
		{"by grant, the owner's lease is over for less than the skew", demo(granting, leaseOf("agent-a", withinSkew)), granted, CodeClaimOwnerMismatch},
		{"by grant, the owner's lease is over", demo(granting, leaseOf("agent-a", over)), granted, ""},
		{"by grant, my lease is live already", demo(granting, hardLease, leaseOf("agent-b")), granted, ""},
		{"by grant, where leases are needed", demo(granting, hardLease), granted, CodeModeRequiresLease},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := DecideClaim(c.state, c.req)
			wantCode(t, d, err, c.want)
			if d.Leases != nil {
				t.Errorf("writes leases: %+v", d)
			}
		})
	}
}

// A claim may ask for a lease: the acquire decision is that of package lease, on the state once the claim has moved.
func TestClaimWithALease(t *testing.T) {
	taken := Acquired{Record: []byte("lease\n"), Lease: jsontext.Value(`{"version":4}`)}
	there := Acquired{Idempotent: true, Lease: jsontext.Value(`{"version":3}`)}
	refuse := Reject(CodeVersionMismatch, "version")
	enabled := func(s *State) { s.Goal.Acceptance = &Acceptance{Enabled: true, Scope: HoldAll} }
	waiting := func(s *State) { s.Todo.ResumeAt = "2026-09-15T00:00:00Z" }
	for _, c := range []struct {
		name    string
		state   State
		got     Acquired
		err     error
		want    Code
		changed bool
	}{
		{"free", demo(claimedBy(""), hardLease), taken, nil, "", true},
		{"mine already", demo(hardLease), taken, nil, "", true},
		{"mine already, and the lease was there", demo(hardLease, leaseOf("agent-a")), there, nil, "", false},
		{"unclaimed, and the lease was there", demo(claimedBy(""), hardLease, leaseOf("agent-a")), there, nil, "", true},
		{"where leases cannot be had", demo(claimedBy("")), taken, nil, CodeClaimLeaseMode, false},
		{"where leases cannot be had, another's lease is live", demo(claimedBy(""), leaseOf("agent-b")), taken, nil, CodeLeaseConflict, false},
		{"refused", demo(claimedBy(""), hardLease, enabled, waiting), Acquired{}, refuse, CodeVersionMismatch, false},
		{"never confirmed", demo(claimedBy(""), hardLease, enabled, waiting), taken, nil, CodeAcceptanceUnbound, false},
		{"never confirmed, and the lease was there", demo(hardLease, enabled, leaseOf("agent-a")), there, nil, CodeAcceptanceUnbound, false},
		{"waiting", demo(claimedBy(""), hardLease, waiting), taken, nil, CodeDependencyPending, false},
		{"waiting, and the lease was there", demo(hardLease, waiting, leaseOf("agent-a")), there, nil, CodeDependencyPending, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := c.state.Todo.ClaimedBy
			asked := 0
			d, err := DecideClaim(c.state, ClaimRequest{
				Command: "todo claim", Todo: "todo_a", Actor: "agent-a", Claimant: "agent-a", At: testAt,
				Acquire: func(s State) (Acquired, error) {
					asked++
					if s.Todo.ClaimedBy != "agent-a" || s.Lease.Version != c.state.Lease.Version {
						t.Errorf("asked on %+v", s)
					}
					return c.got, c.err
				},
			})
			wantCode(t, d, err, c.want)
			if c.state.Todo.ClaimedBy != before {
				t.Error("the rule changed what it was given")
			}
			if err != nil {
				return
			}
			var leases map[ID][]byte
			if c.got.Record != nil {
				leases = map[ID][]byte{"todo_a": c.got.Record}
			}
			if diff := cmp.Diff(leases, d.Leases); diff != "" || asked != 1 || d.Changes() != c.changed {
				t.Errorf("asked %d times, got %+v: %s", asked, d, diff)
			}
			todoChanged, leaseChanged := before == "", c.got.Record != nil
			want := ClaimResult{
				Schema: ClaimSchema, TodoID: "todo_a", ClaimedBy: "agent-a", Changed: c.changed, HandoffMode: HardLease,
				Authority: MutationAuthority{
					Schema: "todo_mutation_authority_v0", Command: "todo claim", Mode: "registered_peer_actor",
					ActorAgentID: "agent-a", TodoID: "todo_a", RegisteredAgents: 3, ClaimOwner: before,
				},
				TodoChanged: &todoChanged, LeaseChanged: &leaseChanged, LeaseIdempotent: &c.got.Idempotent, Lease: c.got.Lease,
			}
			if diff := cmp.Diff(want, d.Result); diff != "" || (len(d.Todos) == 1) != todoChanged {
				t.Errorf("%+v: %s", d.Todos, diff)
			}
		})
	}
}
