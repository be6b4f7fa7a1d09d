package lease

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// notHeld are the faults of checkHeld for agent-a with execution-a and version 3.
func notHeld() []fault {
	return []fault{
		{"another version", todo.CodeVersionMismatch, func(s *scene) { s.record.Version = 4 }},
		{"over", CodeLeaseNotActive, over},
		{"released", CodeLeaseNotActive, func(s *scene) { *s.record = s.record.released(now) }},
		{"another key", todo.CodeLeaseCASMismatch, func(s *scene) { s.record.Key = "execution-0" }},
	}
}

func renewOn(s *scene) (any, error) {
	return decideRenew(s.state(), RenewRequest{
		Held: holder("agent-a", "execution-a", ptr(heldVersion(s))), TTL: ptr[int64](600),
	}, s.record, s.at)
}

// heldVersion is the version that the caller knows: that of the record but where the fault is that it is another.
func heldVersion(s *scene) int64 {
	if s.record != nil && s.record.Version == canonical.MaxInteger {
		return canonical.MaxInteger
	}
	return 3
}

func TestRenewRefusedInOrder(t *testing.T) {
	faults := []fault{{"soft_claim", CodeModeForbidsLease, softClaim}}
	faults = append(faults, notEligible("agent-a")...)
	faults = append(faults, fault{"claimed by another", todo.CodeOwnerConflictsWithClaim, func(s *scene) { s.todo.ClaimedBy = "agent-b" }})
	faults = append(faults, notHeld()...)
	faults = append(faults, fault{"no version left", CodeGenerationExhausted, func(s *scene) { s.record.Version = canonical.MaxInteger }})
	faultsInOrder(t, faults, renewOn)

	s := newScene()
	s.record = nil
	if _, err := decideRenew(s.state(), RenewRequest{Held: holder("agent-a", "k", ptr[int64](0))}, nil, now); todo.CodeOf(err) != CodeLeaseNotActive {
		t.Errorf("no lease: got %v", err)
	}
	s = newScene()
	s.todo.ClaimedBy = ""
	if _, err := decideRenew(s.state(), RenewRequest{Held: holder("agent-b", "execution-a", ptr[int64](3))}, s.record, now); todo.CodeOf(err) != todo.CodeLeaseCASMismatch {
		t.Errorf("another's lease: got %v", err)
	}
}

func TestRenew(t *testing.T) {
	s := newScene()
	unconfirmed(s) // a renewal is not held
	dependent(s)
	got, err := renewOn(s)
	want := held()
	want.Version, want.ExpiresAt, want.UpdatedAt, want.Clock.ObservedAt = 4, "2026-09-13T10:10:00Z", now, now
	wantLease(t, got, err, want)
}

// wantLease checks that a decision writes one lease and no Todo, and shows it in its result.
func wantLease(t *testing.T, got any, err error, want Lease) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	d := got.(todo.Decision)
	l, err := DecodeLease("demo", "todo_a", d.Leases["todo_a"])
	if diff := cmp.Diff(want, l); diff != "" || err != nil || len(d.Leases) != 1 {
		t.Errorf("got %v, %s", err, diff)
	}
	if diff := cmp.Diff(ViewOf(want), d.Result.(Result).Lease); diff != "" || !d.Result.(Result).Changed {
		t.Error(diff)
	}
}

func TestReleaseRefusedInOrder(t *testing.T) {
	faultsInOrder(t, []fault{
		{"absent", todo.CodeTodoNotFound, func(s *scene) { s.todo = nil }},
		{"another version", todo.CodeVersionMismatch, func(s *scene) { s.record.Version = 4 }},
		{"another key", todo.CodeLeaseCASMismatch, func(s *scene) { s.record.Key = "execution-0" }},
	}, releaseOn)
	s := newScene()
	s.record = nil
	if _, err := releaseOn(s); todo.CodeOf(err) != todo.CodeVersionMismatch {
		t.Errorf("no record, version 3: got %v", err)
	}
	if _, err := decideRelease(s.state(), ReleaseRequest{Held: holder("agent-a", "k", ptr[int64](0))}, nil, now); err != errMissing {
		t.Errorf("no record, version 0: got %v", err)
	}
}

func releaseOn(s *scene) (any, error) {
	return decideRelease(s.state(), ReleaseRequest{
		Held: holder("agent-a", "execution-a", ptr[int64](3)),
	}, s.record, s.at)
}

// A release works in any mode, of an ended lease, on any Todo and whoever is registered.
func TestRelease(t *testing.T) {
	for name, change := range map[string]func(*scene){
		"live":                  func(*scene) {},
		"over":                  func(s *scene) { s.record.ExpiresAt = "2020-01-01T00:00:00Z" },
		"soft_claim":            softClaim,
		"owner removed":         func(s *scene) { s.remove("agent-a") },
		"owner excluded":        func(s *scene) { s.todo.ExcludedAgents = []todo.AgentID{"agent-a"} },
		"done":                  func(s *scene) { s.todo.Status = todo.Done },
		"archived":              func(s *scene) { s.todo.ArchiveState = todo.Archived },
		"claimed by another":    func(s *scene) { s.todo.ClaimedBy = "agent-b" },
		"not confirmed":         unconfirmed,
		"a dependency reopened": dependent,
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			change(s)
			got, err := releaseOn(s)
			want := *s.record
			want.Status, want.ReleasedAt, want.UpdatedAt = Released, now, now
			wantLease(t, got, err, want)
			s.record = &want
			again, err := releaseOn(s)
			if err != nil || again.(todo.Decision).Changes() || again.(todo.Decision).Result.(Result).Changed || !again.(todo.Decision).Result.(Result).Idempotent {
				t.Errorf("again: got %+v, %v", again, err)
			}
		})
	}
}

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		name   string
		scene  func(*scene)
		active bool
		reason todo.Code
	}{
		{"effective", func(*scene) {}, true, ""},
		{"over", over, false, ""},
		{"over, within the skew", func(s *scene) { over(s); s.skew = 1 }, true, ""},
		{"released", func(s *scene) { *s.record = s.record.released(now) }, false, ""},
		{"done", func(s *scene) { s.todo.Status = todo.Done }, false, todo.CodeTodoNotOpen},
		{"claimed by another", func(s *scene) { s.todo.ClaimedBy = "agent-b" }, false, todo.CodeOwnerConflictsWithClaim},
		{"its owner removed", func(s *scene) { s.remove("agent-a") }, false, todo.CodeOwnerNotRegistered},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			c.scene(s)
			i := inspect(s.state(), s.record, now, s.skew)
			if i.Active != c.active || i.Lease == nil || i.JudgedAt != now || i.Skew != s.skew || i.Mode != todo.HardLease {
				t.Errorf("got %+v", i)
			}
			if (i.Constraint != nil) != (c.reason != "") || i.Constraint != nil && (i.Constraint.Effective || i.Constraint.Reason != c.reason) {
				t.Errorf("got constraint %+v, want %q", i.Constraint, c.reason)
			}
		})
	}
	s := newScene()
	s.record = nil
	if i := inspect(s.state(), nil, now, 0); i.Active || i.Lease != nil || i.Constraint != nil {
		t.Errorf("no lease: got %+v", i)
	}
}
