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
	anyAgent   = rapid.SampledFrom([]todo.AgentID{"agent-a", "agent-b", "agent-c"})
	anySession = rapid.SampledFrom([]string{"source-session", "target-session"})
)

// mostly draws true three times out of four, so that states are near to the one where all is well.
func mostly(t *rapid.T, label string) bool { return rapid.IntRange(0, 3).Draw(t, label) > 0 }

// anyState draws a state that an agent may find: a note or none, the Todo changed since or not.
func anyState(t *rapid.T) todo.State {
	s := demo()
	if !mostly(t, "nobody bound") {
		s.Todo.BoundAgent = anyAgent.Draw(t, "bound")
	}
	if !mostly(t, "nobody excluded") {
		s.Todo.ExcludedAgents = []todo.AgentID{anyAgent.Draw(t, "excluded")}
	}
	r := prepareRequest()
	switch rapid.IntRange(0, 7).Draw(t, "note") {
	case 0:
	case 1:
		s.Note, _ = todo.EncodeFreeNote("Back at noon")
	case 2:
		s.Note = []byte("{}\n")
	case 3:
		s.Note = []byte(`{"schema":"loopx.note/9"}` + "\n")
	default:
		r.Session = anySession.Draw(t, "source session")
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
	if !mostly(t, "soft claim") {
		s.Goal.HandoffMode = todo.HardLease
	}
	return s
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
		r.Session = anySession.Draw(t, "session")
		if !mostly(t, "no proof") {
			r.Proof = leaseProof("k", 3)
		}
		if todo.CheckActor(s.Goal, r.Agent) != nil {
			return
		}
		adopt := AdoptRequest{Call: todo.Call{
			Goal: r.Goal, Todo: r.Todo, Agent: r.Agent, Session: r.Session, Operation: "fresh", Expected: s.Revision,
		}, Proof: r.Proof}
		decision, adoptErr := Adopt(s, adopt, v, at)
		p, err := Inspect(s, r, v)
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
			if f := VerifyAdopt(done, adopt, decision.Result.(Claim), laterTip); len(f) > 0 {
				t.Fatalf("adopted, and not verified: %v", codesOf(f))
			}
			if !bytes.Equal(done.Note, s.Note) || done.Todo.ClaimedBy != r.Agent {
				t.Fatal("adopt touched the note, or not the owner")
			}
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
		_, before := Adopt(s, r, v, at)
		p := prepareRequest()
		p.Agent = r.Agent
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
