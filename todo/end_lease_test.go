package todo

import "testing"

func TestReleaseBesideALease(t *testing.T) {
	proof := proving("agent-a", "execution", 3)
	override := ReleaseArgs{Override: true, Reason: "left"}
	for _, c := range []struct {
		besideLease
		args ReleaseArgs
	}{
		{besideLease{"my live lease, with the proof", demo(hardLease, leaseOf("agent-a")), proof, "", true}, ReleaseArgs{}},
		{besideLease{"my live lease, where none is needed", demo(leaseOf("agent-a")), proof, "", true}, ReleaseArgs{}},
		{besideLease{"no lease, where one is needed", demo(hardLease), by("agent-a"), "", false}, ReleaseArgs{}},
		{besideLease{"my lease is over", demo(hardLease, leaseOf("agent-a", over)), by("agent-a"), "", true}, ReleaseArgs{}},
		{besideLease{"my lease is over, and live to others for a while", demo(hardLease, leaseOf("agent-a", withinSkew)), by("agent-a"), "", true}, ReleaseArgs{}},
		{besideLease{"my lease is given back", demo(hardLease, leaseOf("agent-a", givenBack)), by("agent-a"), "", false}, ReleaseArgs{}},
		{besideLease{"no proof", demo(hardLease, leaseOf("agent-a")), by("agent-a"), CodeLeaseFenceRequired, false}, ReleaseArgs{}},
		{besideLease{"another key", demo(leaseOf("agent-a")), proving("agent-a", "other", 3), CodeLeaseCASMismatch, false}, ReleaseArgs{}},
		{besideLease{"a newer version", demo(leaseOf("agent-a")), proving("agent-a", "execution", 4), CodeVersionMismatch, false}, ReleaseArgs{}},
		{besideLease{"mine, another's lease is live", demo(leaseOf("agent-b")), proof, CodeLeaseConflict, false}, ReleaseArgs{}},
		{besideLease{"another's, whose lease is live, overridden", demo(leaseOf("agent-a")), by("agent-b"), CodeLeaseConflict, false}, override},
		{besideLease{"another's, whose lease is over for less than the skew, overridden", demo(leaseOf("agent-a", withinSkew)), by("agent-b"), CodeLeaseConflict, false}, override},
		{besideLease{"another's, whose lease is over, overridden", demo(leaseOf("agent-a", over)), by("agent-b"), "", false}, override},
		{besideLease{"another's, and my lease is live, overridden", demo(leaseOf("agent-b")), proving("agent-b", "execution", 3), CodeLeaseClaimDivergence, false}, override},
		{besideLease{"another's, whose lease is live", demo(leaseOf("agent-a")), by("agent-b"), CodeClaimOwnerMismatch, false}, ReleaseArgs{}},
		{besideLease{"done, another's lease is live", demo(inStatus(Done), leaseOf("agent-b")), by("agent-a"), CodeTodoNotOpen, false}, ReleaseArgs{}},
		{besideLease{"unclaimed, another's lease is live", demo(claimedBy(""), leaseOf("agent-b")), by("agent-a"), "", false}, ReleaseArgs{}},
		{besideLease{"unclaimed, my lease is live", demo(claimedBy(""), leaseOf("agent-a")), by("agent-a"), "", false}, ReleaseArgs{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideRelease(c.state, c.call, c.args, testAt)
			c.check(t, d, err)
			if err == nil {
				if r := d.Result.(ReleaseResult); r.LeaseReleased != c.released || d.Changes() != r.Changed {
					t.Errorf("got %+v of %+v", r, d)
				}
			}
		})
	}
}

func TestCompleteBesideALease(t *testing.T) {
	rows := append(fenced(true),
		besideLease{"mine, another's lease is live", demo(leaseOf("agent-b")), proving("agent-a", "execution", 3), CodeLeaseClaimDivergence, false},
		besideLease{"mine, another's lease is over for less than the skew", demo(leaseOf("agent-b", withinSkew)), by("agent-a"), CodeLeaseClaimDivergence, false},
		besideLease{"unclaimed, my lease is live", demo(claimedBy(""), hardLease, leaseOf("agent-a")), proving("agent-a", "execution", 3), CodeClaimOwnerMismatch, false},
		besideLease{"another's, no proof", demo(hardLease, leaseOf("agent-a")), by("agent-b"), CodeClaimOwnerMismatch, false},
		besideLease{"a user's, where leases are needed", demo(ofUser, hardLease), by("agent-b"), "", false},
		besideLease{"done, where leases are needed", demo(inStatus(Done), hardLease), by("agent-a"), CodeTodoNotOpen, false},
	)
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideComplete(c.state, c.call, CompleteArgs{}, nil, testAt)
			c.check(t, d, err)
			if err == nil && d.Result.(LifecycleResult).LeaseReleased != c.released {
				t.Errorf("got %+v", d.Result)
			}
		})
	}
}

func TestSupersedeBesideALease(t *testing.T) {
	rows := append(fenced(true),
		besideLease{"mine, another's lease is live", demo(leaseOf("agent-b")), proving("agent-a", "execution", 3), CodeLeaseClaimDivergence, false},
		besideLease{"unclaimed, where leases are needed", demo(claimedBy(""), hardLease), by("agent-b"), "", false},
		besideLease{"unclaimed, my lease is live", demo(claimedBy(""), hardLease, leaseOf("agent-b")), by("agent-b"), "", true},
		besideLease{"unclaimed, another's lease is live", demo(claimedBy(""), hardLease, leaseOf("agent-a")), by("agent-b"), CodeLeaseConflict, false},
		besideLease{"unclaimed, another's lease is over for less than the skew", demo(claimedBy(""), hardLease, leaseOf("agent-a", withinSkew)), by("agent-b"), CodeLeaseConflict, false},
		besideLease{"unclaimed, another's lease is over", demo(claimedBy(""), hardLease, leaseOf("agent-a", over)), by("agent-b"), "", false},
	)
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideSupersede(c.state, c.call, SupersedeArgs{By: "todo_b"}, after([]ID{"todo_b"}), testAt)
			c.check(t, d, err)
			if err == nil && d.Result.(LifecycleResult).LeaseReleased != c.released {
				t.Errorf("got %+v", d.Result)
			}
		})
	}
}

// Nothing that is not open has an effective lease: reopen asks for no proof and leaves the record as it is.
func TestReopenBesideALease(t *testing.T) {
	for name, s := range map[string]State{
		"done, where leases are needed":     demo(inStatus(Done), hardLease),
		"blocked, my lease is over":         demo(inStatus(Blocked), hardLease, leaseOf("agent-a", over)),
		"blocked, my lease is live":         demo(inStatus(Blocked), hardLease, leaseOf("agent-a")),
		"deferred, another's lease is live": demo(inStatus(Deferred), hardLease, leaseOf("agent-b")),
	} {
		d, err := decideReopen(s, "todo_a", ReopenArgs{}, "agent-a", testAt)
		if err != nil || len(d.Todos) != 1 || d.Todos[0].Status != Open || d.Leases != nil {
			t.Errorf("%s: got %+v, %v", name, d, err)
		}
	}
}
