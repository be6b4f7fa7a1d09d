package lease

import (
	"errors"
	"flag"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// act is one thing that one agent does, or that nobody does anything for some seconds.
type act struct {
	Verb    string
	Agent   todo.AgentID
	To      todo.AgentID // of a transfer
	Seconds int64        // to wait, or to hold
	Claim   bool         // of a transfer: with the claim
	Wrong   int          // 1: proves with another version, 2: with another key, 3: with all that it ever had
}

func acts() *rapid.Generator[[]act] {
	agents := rapid.SampledFrom([]todo.AgentID{"agent-a", "agent-b", "agent-c"})
	one := rapid.Custom(func(t *rapid.T) act {
		return act{
			Verb:  rapid.SampledFrom([]string{"wait", "wait", "acquire", "acquire", "acquire", "claim", "renew", "transfer", "transfer", "release"}).Draw(t, "verb"),
			Agent: agents.Draw(t, "agent"), To: agents.Draw(t, "to"), Seconds: rapid.Int64Range(1, 90).Draw(t, "seconds"),
			Claim: rapid.Bool().Draw(t, "claim"), Wrong: rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3}).Draw(t, "wrong"),
		}
	})
	return rapid.SliceOfN(one, 20, 40)
}

// stage is where agents act on todo_a of goal demo: values alone, or a repository. Each verb says what it granted; false
// where it granted nothing new.
type stage interface {
	acquire(AcquireRequest) (View, bool)
	renew(RenewRequest) (View, bool)
	transfer(TransferRequest) (View, bool)
	release(ReleaseRequest) (View, bool)
	claim(todo.AgentID)
	// state is what an agent finds, by its own clock.
	state(todo.AgentID) (todo.State, *Lease)
}

// clocks are those of the agents: they differ by up to the skew.
type clocks struct {
	now  time.Time
	skew int64
	fast map[todo.AgentID]int64 // seconds before the slowest
}

func (c *clocks) at(a todo.AgentID) todo.Instant {
	return todo.At(c.now.Add(time.Duration(c.fast[a]) * time.Second))
}

func drawClocks(t *rapid.T) *clocks {
	c := &clocks{now: time.Date(2026, 9, 13, 10, 0, 0, 0, time.UTC), skew: rapid.Int64Range(0, 40).Draw(t, "skew"), fast: map[todo.AgentID]int64{}}
	for _, a := range []todo.AgentID{"agent-a", "agent-b", "agent-c"} {
		c.fast[a] = rapid.Int64Range(0, c.skew).Draw(t, "fast "+string(a))
	}
	return c
}

// play lets agents act, and checks the laws after each act:
//
//   - with clocks that differ by up to the skew, at most one agent believes that the Todo is its to execute, and who
//     believes it is right;
//   - version and epoch never go back, and another holder has another epoch;
//   - what was proof of a lease that is lost, in whatever way, proves nothing, and changes nothing;
//   - after a transfer with the claim, claim and lease agree.
func play(t *rapid.T, on stage, c *clocks, script []act) {
	hands := map[todo.AgentID]View{} // what each agent believes to hold
	var proofs []View                // all that was ever granted
	var last Lease
	keys := 0
	for _, a := range script {
		hand, has := hands[a.Agent]
		if a.Wrong == 3 && len(proofs) > 0 {
			hand = proofs[int(a.Seconds)%len(proofs)]
		}
		version := hand.Version
		switch a.Wrong {
		case 1:
			version++
		case 2:
			hand.IdempotencyKey = "wrong"
		}
		if !has && a.Wrong != 3 {
			hand.IdempotencyKey = "none"
		}
		keys++
		key := fmt.Sprint("key-", keys)
		var got View
		granted := false
		before, _ := on.state(a.Agent)
		switch a.Verb {
		case "wait":
			c.now = c.now.Add(time.Duration(a.Seconds) * time.Second)
		case "acquire":
			if a.Wrong == 3 {
				key = hand.IdempotencyKey
			}
			got, granted = on.acquire(AcquireRequest{Caller: Caller{Goal: "demo", Todo: "todo_a", Owner: a.Agent}, Request: Request{Key: key, TTL: &a.Seconds}})
		case "claim":
			on.claim(a.Agent)
		case "renew":
			got, granted = on.renew(RenewRequest{Held: holder(a.Agent, hand.IdempotencyKey, &version), TTL: &a.Seconds})
		case "transfer":
			got, granted = on.transfer(TransferRequest{
				Held:     holder(a.Agent, hand.IdempotencyKey, &version),
				NewOwner: a.To, NewKey: key, TTL: &a.Seconds, TransferClaim: a.Claim,
			})
			if granted {
				delete(hands, a.Agent)
			}
		case "release":
			if _, ok := on.release(ReleaseRequest{Held: holder(a.Agent, hand.IdempotencyKey, &version)}); ok {
				delete(hands, a.Agent)
			}
		}
		after, record := on.state(a.Agent)
		if granted {
			hands[got.Owner], proofs = got, append(proofs, got)
			if a.Verb != "acquire" && todo.CheckProof(before, *before.Todo, a.Agent, todo.ProofOf(hand.IdempotencyKey, version)) != nil {
				t.Fatalf("%+v: done without proof", a)
			}
			if a.Verb == "transfer" && a.Claim && (after.Todo.ClaimedBy != record.Owner || record.Owner != a.To) {
				t.Fatalf("%+v: claimed by %q, leased by %q", a, after.Todo.ClaimedBy, record.Owner)
			}
		}
		if record != nil {
			if record.Version < last.Version || record.Epoch < last.Epoch || record.Owner != last.Owner && record.Epoch == last.Epoch {
				t.Fatalf("%+v: from %+v to %+v", a, last, *record)
			}
			last = *record
		}
		checkHands(t, on, c, hands)
		for _, p := range proofs {
			s, _ := on.state(p.Owner)
			proves := todo.CheckProof(s, *s.Todo, p.Owner, todo.ProofOf(p.IdempotencyKey, p.Version)) == nil
			is := last.Owner == p.Owner && last.Key == p.IdempotencyKey && last.Version == p.Version && last.Status == Active && last.ExpiresAt > c.at(p.Owner)
			if proves != is {
				t.Fatalf("%+v: %+v proves %v; the lease is %+v", a, p, proves, last)
			}
		}
	}
}

// checkHands: at most one agent believes that it may execute, by its own clock, and it is right.
func checkHands(t *rapid.T, on stage, c *clocks, hands map[todo.AgentID]View) {
	believers := 0
	for a, hand := range hands {
		if hand.ExpiresAt <= c.at(a) {
			continue
		}
		believers++
		if s, record := on.state(a); !s.EffectiveFor(a) || record.Owner != a || record.Version != hand.Version {
			t.Fatalf("%s believes in %+v; the lease is %+v", a, hand, record)
		}
	}
	if believers > 1 {
		t.Fatalf("%d agents believe that it is theirs: %+v", believers, hands)
	}
}

// values is a stage of rules alone.
type values struct {
	*scene
	clocks *clocks
	spent  map[string]bool
}

func (v *values) see(a todo.AgentID) todo.State {
	v.at, v.skew = v.clocks.at(a), v.clocks.skew
	return v.scene.state()
}

func (v *values) state(a todo.AgentID) (todo.State, *Lease) { return v.see(a), v.record }

// take makes a decision the state.
func (v *values) take(d todo.Decision, err error) (View, bool) {
	if err != nil || !d.Changes() {
		return View{}, false
	}
	l, err := DecodeLease("demo", "todo_a", d.Leases["todo_a"])
	if err != nil {
		panic(err)
	}
	v.record = &l
	for _, t := range d.Todos {
		v.todo = &t
	}
	return ViewOf(l), true
}

func (v *values) acquire(r AcquireRequest) (View, bool) {
	state, name := v.see(r.Owner), string(r.Owner)+" "+r.Key
	l, idempotent, err := decideAcquire(state, acquisition{
		Todo: r.Todo, Owner: r.Owner, Request: r.Request, At: v.at, Record: v.record, Spent: v.spent[name],
	})
	if err != nil {
		return View{}, false
	}
	v.spent[name] = true
	return v.take(decision("acquire", state, l, idempotent))
}

func (v *values) renew(r RenewRequest) (View, bool) {
	return v.take(decideRenew(v.see(r.Owner), r, v.record, v.clocks.at(r.Owner)))
}

func (v *values) transfer(r TransferRequest) (View, bool) {
	return v.take(decideTransfer(v.see(r.Owner), r, v.record, v.clocks.at(r.Owner)))
}

func (v *values) release(r ReleaseRequest) (View, bool) {
	return v.take(decideRelease(v.see(r.Owner), r, v.record, v.clocks.at(r.Owner)))
}

func (v *values) claim(a todo.AgentID) {
	d, err := todo.DecideClaim(v.see(a), todo.ClaimRequest{Command: "todo claim", Todo: "todo_a", Actor: a, Claimant: a, At: v.clocks.at(a)})
	if err == nil && len(d.Todos) > 0 {
		v.todo = &d.Todos[0]
	}
}

func TestLawsOfRules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := drawClocks(rt)
		s := newScene()
		s.record, s.todo.ClaimedBy = nil, ""
		play(rt, &values{s, c, map[string]bool{}}, c, acts().Draw(rt, "acts"))
	})
}

// repository is a stage with a ledger of its own for each agent.
type repository struct {
	f       *fixture
	t       *rapid.T
	ledgers map[todo.AgentID]*Ledger
}

// granted is what an answer grants: a replay grants nothing that was not granted before. A refusal, and a key that was used for something else, are no failure.
func (r *repository) granted(a Answer, err error) (View, bool) {
	var identity *gitstore.IdentityError
	if err != nil && todo.AsRefusal(err) == nil && !errors.As(err, &identity) {
		r.t.Fatal(err)
	}
	if err != nil || replay(a.Status) || !a.Changed {
		return View{}, false
	}
	return *a.Lease, true
}

func (r *repository) acquire(q AcquireRequest) (View, bool) {
	return r.granted(r.ledgers[q.Owner].AcquireLease(r.f.ctx(), q))
}

func (r *repository) renew(q RenewRequest) (View, bool) {
	return r.granted(r.ledgers[q.Owner].RenewLease(r.f.ctx(), q))
}

func (r *repository) transfer(q TransferRequest) (View, bool) {
	return r.granted(r.ledgers[q.Owner].TransferLease(r.f.ctx(), q))
}

func (r *repository) release(q ReleaseRequest) (View, bool) {
	return r.granted(r.ledgers[q.Owner].ReleaseLease(r.f.ctx(), q))
}

func (r *repository) claim(a todo.AgentID) {
	if _, err := r.ledgers[a].Claim(r.f.ctx(), by(a, "todo_a"), a); err != nil && todo.AsRefusal(err) == nil {
		r.t.Fatal(err)
	}
}

func (r *repository) state(a todo.AgentID) (todo.State, *Lease) {
	l := r.ledgers[a]
	s, err := l.Load(r.f.ctx(), "demo")
	if err != nil {
		r.t.Fatal(err)
	}
	state, record, err := l.read(r.f.ctx(), s, "demo", "todo_a", todo.At(l.Now()))
	if err != nil {
		r.t.Fatal(err)
	}
	return state, record
}

func TestLawsOfLedger(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	if was == "100" { // the default; each check is a repository
		checks.Set("4")
		defer checks.Set(was)
	}
	rapid.Check(t, func(rt *rapid.T) {
		c := drawClocks(rt)
		f := newFixture(t)
		f.git("-C", f.dir, "config", "loopx.lease.skew", fmt.Sprint(c.skew))
		r := &repository{f, rt, map[todo.AgentID]*Ledger{}}
		store := f.open(9).Store
		for a := range c.fast {
			l := New(store, func() time.Time { return c.now.Add(time.Duration(c.fast[a]) * time.Second) }, f.Random)
			r.ledgers[a] = &l
		}
		play(rt, r, c, acts().Draw(rt, "acts"))
	})
}
