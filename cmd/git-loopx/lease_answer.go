package main

import (
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/lease"
	"github.com/git-loopx/git-loopx/todo"
)

// leaseSchema is the schema_version of answers about leases.
const leaseSchema = "task_lease_v0"

// leased is the answer of a verb that changes a lease, unless it failed; done is the member that says whether the verb did
// what it is for ("acquired").
func (j *job) leased(a lease.Answer, done string, err error) (*answer, error) {
	if err != nil {
		return nil, err
	}
	said := j.mutated(a.Answer)
	m := &said.members
	m.set("schema_version", leaseSchema)
	m.set("lease", a.Lease)
	m.set("handoff_mode", a.Mode)
	m.set("idempotent", a.Idempotent)
	m.set(done, a.Done)
	if a.Missing {
		m.set("missing", true)
		said.printf("  lease      none, there never was one\n")
	}
	m.set("current_authority_verified", a.Verified)
	if a.TransferClaim {
		m.set("transfer_claim", true)
		m.set("claimed_by", a.ClaimedBy)
		m.set("todo_changed", a.TodoChanged)
	}
	if len(a.Advisories) > 0 {
		m.set("integration_overlap_advisories", a.Advisories)
	}
	if a.Lease != nil {
		if !a.Verified && (a.Status == gitstore.Replayed || a.Status == gitstore.Recovered) {
			said.leaseOfThen(a.Todo)
		}
		said.leaseText("  ", *a.Lease)
	}
	for _, x := range a.Advisories {
		said.notef("hint: goal %s: %s of %s writes %s too, until %s", handoff.Visible(string(x.GoalID)), handoff.Visible(string(x.TodoID)),
			handoff.Visible(string(x.Owner)), handoff.Visible(x.WriteScope), x.ExpiresAt)
	}
	if a.Verified && a.Lease != nil && a.Lease.Status == lease.Active {
		said.proofHint(*a.Lease)
	}
	return said, nil
}

// leaseOfThen says that the lease which follows is history.
func (a *answer) leaseOfThen(id todo.ID) {
	a.printf("  lease      as it was then\n")
	a.notef("hint: git loopx lease inspect %s shows the lease as it is now", handoff.Visible(string(id)))
}

// leaseText prints a lease for a person, each line after indent.
func (a *answer) leaseText(indent string, v lease.View) {
	a.printf("%sowner      %s\n", indent, handoff.Visible(string(v.Owner)))
	a.printf("%skey        %s\n", indent, handoff.Visible(v.IdempotencyKey))
	a.printf("%sversion    %d\n%sepoch      %d\n", indent, v.Version, indent, v.Epoch)
	if len(v.WriteScopes) > 0 {
		a.printf("%swrites     %s\n", indent, handoff.Visible(strings.Join(v.WriteScopes, " ")))
	}
	if v.Status == lease.Released {
		a.printf("%sreleased   %s\n", indent, v.ReleasedAt)
		return
	}
	a.printf("%sexpires    %s\n", indent, v.ExpiresAt)
}

// proofHint tells how a lease is proved.
func (a *answer) proofHint(v lease.View) {
	a.notef("hint: its proof is --task-lease-idempotency-key %s --task-lease-expected-version %d", handoff.Visible(v.IdempotencyKey), v.Version)
}
