package lease

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// acquireOn asks for a lease of agent-a on the scene.
func acquireOn(change func(*acquisition)) func(*scene) (any, error) {
	return func(s *scene) (any, error) {
		a := acquisition{Todo: "todo_a", Owner: "agent-a", At: s.at, Record: s.record, Others: s.others, Request: Request{Key: "execution-b"}}
		if change != nil {
			change(&a)
		}
		l, _, err := decideAcquire(s.state(), a)
		return l, err
	}
}

func TestAcquireRefusedInOrder(t *testing.T) {
	end := func(s *scene) { over(s); s.record.Key = "execution-0" }
	faults := []fault{{"soft_claim", CodeModeForbidsLease, softClaim}}
	faults = append(faults, notEligible("agent-a")...)
	faults = append(faults,
		fault{"claimed by another", todo.CodeOwnerConflictsWithClaim, func(s *scene) { s.todo.ClaimedBy = "agent-b" }},
		fault{"leased already", todo.CodeLeaseConflict, func(s *scene) { *s.record = held() }},
		fault{"the key of the old lease", CodeKeyReuse, func(s *scene) { end(s); s.record.Key = "execution-b" }},
		fault{"overlapping scope", CodeWriteScopeConflict, func(s *scene) {
			end(s)
			other := held()
			other.Todo, other.Owner, other.WriteScopes = "todo_b", "agent-b", []string{"SRC/retry.go"}
			s.others = []Other{{other, true}}
		}},
		fault{"no epoch left", CodeGenerationExhausted, func(s *scene) { end(s); s.record.Epoch = canonical.MaxInteger }},
		fault{"no version left", CodeGenerationExhausted, func(s *scene) { end(s); s.record.Version = canonical.MaxInteger }},
		fault{"not confirmed", todo.CodeAcceptanceUnbound, func(s *scene) { end(s); unconfirmed(s) }},
		fault{"dependency open", todo.CodeDependencyPending, func(s *scene) { end(s); dependent(s) }},
	)
	faultsInOrder(t, faults, acquireOn(nil))

	t.Run("another version, after eligibility and before all else", func(t *testing.T) {
		expect := acquireOn(func(a *acquisition) { a.Request.ExpectedVersion = ptr[int64](9) })
		s := newScene()
		_, err := expect(s)
		r := todo.AsRefusal(err)
		if r == nil || r.Code != todo.CodeVersionMismatch || r.Detail["expected_version"] != int64(9) || r.Detail["actual_version"] != int64(3) {
			t.Errorf("got %v, %v", err, r)
		}
		s.todo.ClaimedBy = "agent-b"
		if _, err := expect(s); todo.CodeOf(err) != todo.CodeOwnerConflictsWithClaim {
			t.Errorf("got %v", err)
		}
		s.record, s.todo.ClaimedBy = nil, ""
		if _, err := acquireOn(func(a *acquisition) { a.Request.ExpectedVersion = ptr[int64](0) })(s); err != nil {
			t.Errorf("version 0 where there is none: got %v", err)
		}
		if _, err := expect(s); todo.CodeOf(err) != todo.CodeVersionMismatch {
			t.Errorf("version 9 where there is none: got %v", err)
		}
	})
}

func TestAcquireBesideALease(t *testing.T) {
	mine := func(a *acquisition) { a.Request.Key = "execution-a" }
	for _, c := range []struct {
		name  string
		scene func(*scene)
		ask   func(*acquisition)
		want  todo.Code // "" is a new generation, "same" no change
	}{
		{"the very one", nil, mine, "same"},
		{"the very one, its scopes said", nil, func(a *acquisition) { mine(a); a.Request.WriteScopes = []string{"src", "src"} }, "same"},
		{"the very one, its ttl said", nil, func(a *acquisition) { mine(a); a.Request.TTL = ptr[int64](2700) }, "same"},
		{"the very one, spent as it is", nil, func(a *acquisition) { mine(a); a.Spent = true }, "same"},
		{"the very one, though it would be held now", func(s *scene) { unconfirmed(s); dependent(s) }, mine, "same"},
		{"its key, another ttl", nil, func(a *acquisition) { mine(a); a.Request.TTL = ptr[int64](60) }, CodeKeyReuse},
		{"its key, other scopes", nil, func(a *acquisition) { mine(a); a.Request.WriteScopes = []string{"test"} }, CodeKeyReuse},
		{"its key, no scopes", nil, func(a *acquisition) { mine(a); a.Request.WriteScopes = []string{} }, CodeKeyReuse},
		{"another key", nil, nil, todo.CodeLeaseConflict},
		{"another's", func(s *scene) { s.todo.ClaimedBy = "" }, func(a *acquisition) { a.Owner = "agent-b" }, todo.CodeLeaseConflict},
		{"another's, of the same key", func(s *scene) { s.todo.ClaimedBy = "" }, func(a *acquisition) { mine(a); a.Owner = "agent-b" }, todo.CodeLeaseConflict},
		{"another's, who is excluded since", func(s *scene) { s.todo.ClaimedBy, s.todo.ExcludedAgents = "", []todo.AgentID{"agent-a"} }, func(a *acquisition) { a.Owner = "agent-b" }, ""},
		{"another's, who was removed", func(s *scene) { s.todo.ClaimedBy = ""; s.remove("agent-a") }, func(a *acquisition) { a.Owner = "agent-b" }, ""},
		{"another's, whose claim went", func(s *scene) { s.todo.ClaimedBy = "agent-b" }, func(a *acquisition) { a.Owner = "agent-b" }, ""},
		{"over at this very second", over, nil, ""},
		{"over, its key", over, mine, CodeKeyReuse},
		{"over, another's within the skew", func(s *scene) { over(s); s.todo.ClaimedBy, s.skew = "", 30 }, func(a *acquisition) { a.Owner = "agent-b" }, todo.CodeLeaseConflict},
		{"over, mine within the skew", func(s *scene) { over(s); s.skew = 30 }, nil, ""},
		{"over, another's beyond the skew", func(s *scene) { s.record.ExpiresAt, s.todo.ClaimedBy, s.skew = "2026-09-13T09:59:30Z", "", 30 }, func(a *acquisition) { a.Owner = "agent-b" }, ""},
		{"released", func(s *scene) { *s.record = s.record.released(now) }, nil, ""},
		{"released, a key of long ago", func(s *scene) { *s.record = s.record.released(now) }, func(a *acquisition) { a.Spent = true }, CodeKeyReuse},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			if c.scene != nil {
				c.scene(s)
			}
			a := acquisition{Todo: "todo_a", Owner: "agent-a", At: now, Record: s.record, Request: Request{Key: "execution-b"}}
			if c.ask != nil {
				c.ask(&a)
			}
			l, same, err := decideAcquire(s.state(), a)
			switch {
			case c.want == "same":
				if diff := cmp.Diff(*s.record, l); diff != "" || !same || err != nil {
					t.Errorf("got %v, %v, %s", same, err, diff)
				}
			case c.want != "":
				if todo.CodeOf(err) != c.want || same || l.Owner != "" {
					t.Errorf("got %v, want %s", err, c.want)
				}
			default:
				want := Lease{
					SchemaVersion: Schema, Goal: "demo", Todo: "todo_a", Owner: a.Owner, Key: "execution-b", WriteScopes: []string{"src"}, TTL: 2700,
					Version: 4, Epoch: 3, Status: Active, AcquiredAt: now, UpdatedAt: now, ExpiresAt: "2026-09-13T10:45:00Z", Clock: ClockNote{LocalClock, now},
				}
				if diff := cmp.Diff(want, l); diff != "" || same || err != nil {
					t.Errorf("got %v, %v, %s", same, err, diff)
				}
			}
		})
	}
}

func TestFirstGeneration(t *testing.T) {
	s := newScene()
	s.record = nil
	l, _, err := decideAcquire(s.state(), acquisition{
		Todo: "todo_a", Owner: "agent-a", At: now, Request: Request{Key: "k", TTL: ptr[int64](60), WriteScopes: []string{"b", "a", "b"}},
	})
	if err != nil || l.Version != 1 || l.Epoch != 1 || l.ExpiresAt != "2026-09-13T10:01:00Z" || !slices.Equal(l.WriteScopes, []string{"a", "b"}) || l.TTL != 60 {
		t.Errorf("got %+v, %v", l, err)
	}
	s.at = "9999-12-31T23:59:59Z"
	_, _, err = decideAcquire(s.state(), acquisition{Todo: "todo_a", Owner: "agent-a", At: s.at, Request: Request{Key: "k"}})
	if todo.CodeOf(err) != todo.CodeInvalidClock {
		t.Errorf("an end after the year 9999: got %v", err)
	}
}
