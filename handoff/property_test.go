package handoff

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

var (
	anyAgent   = rapid.SampledFrom([]todo.AgentID{"agent-b", "agent-a", "agent-c"})
	anySession = rapid.SampledFrom([]string{"target-session", "source-session"})
)

// mostly draws true nine times out of ten or more, so that states are near to the one where all is well; rapid draws small
// numbers most often.
func mostly(t *rapid.T, label string) bool { return rapid.IntRange(0, 9).Draw(t, label) < 9 }

// anyState draws a state that an agent may find: a note or none, the Todo changed since or not.
func anyState(t *rapid.T) todo.State {
	s := demo()
	if !mostly(t, "nobody bound") {
		s.Todo.BoundAgent = anyAgent.Draw(t, "bound")
	}
	if !mostly(t, "nobody excluded") {
		s.Todo.ExcludedAgents = []todo.AgentID{anyAgent.Draw(t, "excluded")}
	}
	switch rapid.IntRange(0, 7).Draw(t, "waits") {
	case 7:
		s = waiting(s)
	case 6:
		s.Todo.DependsOn = []todo.ID{"todo_b"}
		b := *demo().Todo
		b.ID, b.Status = "todo_b", rapid.SampledFrom([]todo.WorkStatus{todo.Open, todo.Done}).Draw(t, "status of todo_b")
		s.Others = todo.Following{"todo_b": b}
	}
	r := prepareRequest()
	switch rapid.IntRange(0, 7).Draw(t, "note") {
	case 7:
	case 6:
		s.Note, _ = todo.EncodeFreeNote("Back at noon")
	case 5:
		s.Note = []byte("{}\n")
	case 4:
		s.Note = []byte(`{"schema":"loopx.note/9"}` + "\n")
	default:
		if !mostly(t, "source session") {
			r.Session = "target-session"
		}
		if d, err := Prepare(s, r, at); err == nil {
			s = after(s, d)
			s.Revision = tip
		}
	}
	s = with(s, func(x *todo.Todo) {
		if !mostly(t, "text stays") {
			x.Text = "Another"
		}
		if !mostly(t, "owner stays") {
			x.ClaimedBy = rapid.SampledFrom([]todo.AgentID{"", "agent-b", "agent-c"}).Draw(t, "owner")
		}
		if !mostly(t, "open") {
			x.Status = rapid.SampledFrom([]todo.WorkStatus{todo.Done, todo.Blocked, todo.Deferred}).Draw(t, "status")
		}
		if !mostly(t, "active") {
			x.ArchiveState = todo.Archived
		}
		if !mostly(t, "an agent's") {
			x.Role = todo.RoleUser
		}
	})
	if !mostly(t, "note intact") {
		s.Note = bytes.Replace(s.Note, []byte(`"source_agent":"agent-a"`), []byte(`"source_agent":"agent-b"`), 1)
	}
	if !mostly(t, "all registered") {
		s.Goal.Agents = slices.Clone(s.Goal.Agents[1:])
	}
	if !mostly(t, "no hold") {
		s = unconfirmed(s)
		if rapid.Bool().Draw(t, "confirmed") {
			s.Goal.Acceptance.Bindings = map[todo.ID]string{"todo_a": todo.WorkDigest(*s.Todo)}
		}
	}
	return anyLease(t, s)
}

// anyLease draws the lease on a Todo: none, or anybody's, live or over, handed over with the claim or apart from it.
func anyLease(t *rapid.T, s todo.State) todo.State {
	if rapid.Bool().Draw(t, "no leases") {
		return s
	}
	s = leasedTo(s, anyAgent.Draw(t, "lease owner"))
	if s.Todo.ClaimedBy == "agent-a" && mostly(t, "transferred") {
		s = transferred(s)
	}
	switch rapid.IntRange(0, 7).Draw(t, "lease over") {
	case 7:
		s = over(s)
	case 6:
		s = justOver(s)
	case 5:
		s.Lease = todo.Holding{}
	}
	if !mostly(t, "hard lease") {
		s = soft(s)
	}
	return s
}

// anyProof draws a proof of the lease of a state: mostly the right one where there is a lease, none where there is not.
func anyProof(t *rapid.T, s todo.State) todo.Proof {
	right := s.Lease.Owner != ""
	if !mostly(t, "as it should be") {
		right = !right
	}
	switch {
	case !right:
		return todo.Proof{}
	case mostly(t, "right proof"):
		return todo.ProofOf(s.Lease.Key, s.Lease.Version)
	}
	return rapid.SampledFrom([]todo.Proof{todo.ProofOf("k", s.Lease.Version), todo.ProofOf(s.Lease.Key, 9)}).Draw(t, "wrong proof")
}

func anyAvailability(t *rapid.T) Availability {
	if !mostly(t, "workspace") {
		return unseen([]string{"decision.md"}, NotFound)
	}
	if !mostly(t, "artifact") {
		return Availability{WorkspaceAvailable: true, Artifacts: []Artifact{{"decision.md", false, NotFound}}}
	}
	return ready
}

// Law: can_adopt is true exactly if adopt with the same revision, agent, session, proof and artifacts succeeds, and its
// refusal is the first blocker, or not-ready with all of them.
func TestCanAdoptIsAdopt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, v := anyState(t), anyAvailability(t)
		r := inspectRequest(anyAgent.Draw(t, "agent"))
		if s.Lease.Owner != "" && mostly(t, "holder of the lease") {
			r.Agent = s.Lease.Owner
		}
		r.Session = anySession.Draw(t, "session")
		r.Proof = anyProof(t, s)
		if todo.CheckActor(s.Goal, r.Agent) != nil {
			return
		}
		adopt := AdoptRequest{Call: todo.Call{
			Goal: r.Goal, Todo: r.Todo, Agent: r.Agent, Session: r.Session, Operation: "fresh", Expected: s.Revision, Proof: r.Proof,
		}}
		decision, adoptErr := Adopt(s, adopt, v, at)
		p, err := Inspect(s, r, v, at)
		if err != nil { // then adopt is refused for the same reason, or for the note before it
			if adoptErr == nil || codeOf(adoptErr) != codeOf(err) && s.JudgeNote().Refusal == nil {
				t.Fatalf("inspect: %v, adopt: %v", err, adoptErr)
			}
			return
		}
		if p.CanAdopt != (adoptErr == nil) || p.CanAdopt != (len(p.Blockers) == 0) {
			t.Fatalf("can_adopt %v, blockers %v, adopt: %v", p.CanAdopt, p.Blockers, adoptErr)
		}
		if adoptErr == nil {
			done := after(s, decision)
			if f := VerifyAdopt(done, adopt, takeoverOf(decision), at); len(f) > 0 {
				t.Fatalf("adopted, and not verified: %v", codesOf(f))
			}
			if !bytes.Equal(done.Note, s.Note) || done.Todo.ClaimedBy != r.Agent {
				t.Fatal("adopt touched the note, or not the owner")
			}
			byLease := p.Authority != nil
			if _, ok := decision.Result.(Adoption); ok != byLease || byLease && (decision.Changes() || !p.Authority.Allowed) {
				t.Fatalf("leased %v, decided %+v", byLease, decision)
			}
			if s.Lease.ForeignTo(r.Agent) {
				t.Fatal("adopted past somebody else's lease")
			}
			checkDigest(t, p)
			return
		}
		want := p.Blockers[0]
		if isReadiness(want) {
			want = CodeNotReady
			if got := todo.AsRefusal(adoptErr).Detail["blockers"]; !slices.Equal(got.([]string), wordsOf(p.Blockers)) {
				t.Fatalf("adopt's blockers %v, inspect's %v", got, p.Blockers)
			}
		}
		if codeOf(adoptErr) != want {
			t.Fatalf("first blocker %s, adopt: %v", want, codeOf(adoptErr))
		}
		checkDigest(t, p)
	})
}

// Law: a moved revision is reported by adopt and prepare only if nothing else is in the way.
func TestMovedRevisionComesLast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, v := anyState(t), anyAvailability(t)
		r := adoptRequest(anyAgent.Draw(t, "agent"))
		r.Proof = anyProof(t, s)
		_, before := Adopt(s, r, v, at)
		p := prepareRequest()
		p.Agent, p.Proof = r.Agent, r.Proof
		_, beforePrepare := Prepare(s, p, at)
		s.Revision = laterTip
		_, moved := Adopt(s, r, v, at)
		_, movedPrepare := Prepare(s, p, at)
		for _, pair := range [][2]error{{before, moved}, {beforePrepare, movedPrepare}} {
			want := codeOf(pair[0])
			if pair[0] == nil {
				want = CodeRevisionMismatch
			}
			if codeOf(pair[1]) != want {
				t.Fatalf("got %v, want %s", pair[1], want)
			}
		}
	})
}

// Law: whatever agents prepare and adopt, in whatever order and however stale their view, a Todo changes hands only
// from who left the note that stands, and never by a revision that is not the tip.
func TestHandsChangeByNoteOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := demo()
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			agent, session := anyAgent.Draw(t, "agent"), anySession.Draw(t, "session")
			c := call(agent, session, "op")
			c.Expected = s.Revision
			if !mostly(t, "fresh view") {
				c.Expected = "stale"
			}
			var d todo.Decision
			var err error
			owner := s.Todo.ClaimedBy
			if rapid.Bool().Draw(t, "prepare") {
				d, err = Prepare(s, PrepareRequest{Call: c, Rationale: pointer("Because")}, at)
				if err == nil && owner != agent {
					t.Fatalf("%s prepared %s's Todo", agent, owner)
				}
			} else {
				judged := s.JudgeNote()
				d, err = Adopt(s, AdoptRequest{Call: c}, ready, at)
				if err == nil && (judged.State != todo.NoteCurrent || judged.Note.SourceAgent != owner) {
					t.Fatalf("%s adopted %s's Todo by a note that is %s", agent, owner, judged.State)
				}
			}
			if err == nil && c.Expected != s.Revision {
				t.Fatal("decided on a revision that is not the tip")
			}
			if err == nil {
				s = after(s, d)
				s.Revision = gitstore.ObjectID(rune('a' + step))
			}
		}
	})
}
