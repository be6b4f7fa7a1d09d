//go:build linux

package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var kills = flag.Int("kills", 320, "kills of TestKillAtAnyMoment")

// TestKillAtAnyMoment: a command that is killed at any moment of its run leaves the ref at its old or new value and the
// repository sound; the same command with the same operation id then ends well; and nothing acknowledged is missing.
// -kills N makes N kills.
func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	killAtAnyMoment(t, *kills, newVictim)
}

// killAtAnyMoment shares a number of kills among four repositories.
func killAtAnyMoment(t *testing.T, count int, newVictim func(*testing.T) *victim) {
	if testing.Short() {
		t.Logf("-short: 32 kills instead of %d", count)
		count = 32
	}
	const repositories = 4
	var (
		lock  sync.Mutex
		total = map[string]int{}
	)
	t.Run("in", func(t *testing.T) {
		for i := range repositories {
			t.Run(fmt.Sprint("repository", i), func(t *testing.T) {
				t.Parallel()
				v := newVictim(t)
				gc := filepath.Join(v.dir, ".git/gc.pid")
				if i == 0 { // as while git collects garbage: objects go into kept packs
					v.write(gc, "1 elsewhere")
				}
				for n := range count / repositories {
					v.kill(n)
				}
				os.Remove(gc)
				v.judge()
				lock.Lock()
				defer lock.Unlock()
				for what, n := range v.met {
					total[what] += n
				}
			})
		}
	})
	t.Logf("%d kills: %v", count, total)
	if !testing.Short() && (total["before the swap"] == 0 || total["after the swap"] == 0) {
		t.Error("the kills did not meet both sides of the swap: the test has shown nothing")
	}
}

// victim is a repository in which commands are killed.
type victim struct {
	*machine
	dir    string
	random *rand.Rand
	usual  map[string][]time.Duration // how long a verb takes undisturbed, the last measurements
	met    map[string]int             // what the kills met
	stored []string                   // acknowledged operation ids
	todos  int                        // how many Todos are through all verbs

	steps []string             // the verbs in the order in which a Todo meets them
	next  func(step int) order // makes the next command, and takes it for done
	right func()               // fails where the goal is not as the commands so far leave it
	// after, if set, looks at what a kill left before the command is repeated; moved tells whether its swap took place.
	after func(o order, moved bool)
}

func emptyVictim(t *testing.T) *victim {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	v := &victim{machine: newMachine(t), random: rand.New(rand.NewPCG(seed, 0)), usual: map[string][]time.Duration{}, met: map[string]int{}}
	v.dir = v.goal("repo", "agent-a", "agent-b")
	return v
}

// newVictim is one where one Todo after another goes through all four verbs.
func newVictim(t *testing.T) *victim {
	t.Helper()
	v := emptyVictim(t)
	v.steps, v.next = killSteps, v.order
	v.right = func() {
		list := v.does(v.dir, "todo", "list", "--limit", "0")
		if got, want := strings.Count(list.stdout, `"claimed_by":"agent-b"`), v.todos; got != want {
			t.Errorf("%d of %d Todos are adopted", got, want)
		}
	}
	v.warm()
	return v
}

// warm runs all verbs undisturbed a few times.
func (v *victim) warm() {
	v.t.Helper()
	for range 5 {
		for step := range v.steps {
			v.end(v.next(step), "applied")
		}
	}
}

// order is one command of the journey of a Todo. Its operation id is its name.
type order struct {
	verb, id string
	args     []string
}

// killSteps are the verbs in the order in which a Todo meets them.
var killSteps = []string{"add", "claim", "prepare", "adopt"}

// order makes the next command for the current Todo.
func (v *victim) order(step int) order {
	id := fmt.Sprintf("todo_%d", v.todos)
	o := order{verb: killSteps[step], id: killSteps[step] + "-" + id}
	switch o.verb {
	case "add":
		o.args = []string{"todo", "add", "work " + id, "--todo-id", id, "--agent-id", "agent-b"}
	case "claim":
		o.args = []string{"todo", "claim", id, "--agent-id", "agent-a"}
	case "prepare":
		o.args = []string{"handoff", "prepare", id, "--agent-id", "agent-a", "--session-id", "s", "--expected-revision", v.tip(v.dir),
			"--rationale", "because of " + id}
	case "adopt":
		o.args = []string{"handoff", "adopt", id, "--agent-id", "agent-b", "--session-id", "t", "--expected-revision", v.tip(v.dir)}
		v.todos++
	}
	o.args = append(o.args, "--goal-id", "demo", "--operation-id", o.id)
	return o
}

func (v *victim) process(o order) *exec.Cmd { return v.loopx(v.dir, o.args...) }

// end runs a command undisturbed; it must end well with that status, and is acknowledged.
func (v *victim) end(o order, status string) {
	v.t.Helper()
	start := time.Now()
	r, err := ask(v.process(o))
	if err != nil || r.exit != 0 || r.get("status") != status {
		v.t.Fatalf("%s: want %s: %v: %s", o.id, status, err, r)
	}
	if status == "applied" {
		took := append(v.usual[o.verb], time.Since(start))
		v.usual[o.verb] = took[max(0, len(took)-9):]
	}
	v.stored = append(v.stored, o.id)
}

// moment is a random one in the run time of a verb, and a little after.
func (v *victim) moment(verb string) time.Duration {
	sorted := slices.Sorted(slices.Values(v.usual[verb]))
	return time.Duration(v.random.Float64() * 1.3 * float64(sorted[len(sorted)/2]))
}

// kill starts the next command, ends it at some moment, looks at what is left, and does it again.
func (v *victim) kill(n int) {
	t := v.t
	t.Helper()
	o := v.next(n % len(v.steps))
	before, others := v.refs()
	how := []string{"all", "own", "all", "term"}[(n+n/len(v.steps))%4]
	s := startSession(t, v.process(o))
	time.Sleep(v.moment(o.verb))
	map[string]func(*testing.T){"own": s.killOwn, "all": s.killAll, "term": s.interrupt}[how](t)
	r, err := s.wait(t)
	if err != nil {
		t.Fatalf("%s, %s: %v", o.id, how, err)
	}

	after, now := v.refs()
	if now != others {
		t.Fatalf("%s, %s: other refs moved", o.id, how)
	}
	v.note(t, o, how, r, before, after)
	if n%8 == 0 {
		v.fsck(v.dir)
	}
	v.unlock(t, o, how)
	if v.after != nil {
		v.after(o, after != before)
	}
	if after == before {
		v.end(o, "applied")
	} else {
		v.end(o, "replayed")
	}
	want := fmt.Sprintf("%s %s", before, o.id)
	if got := v.git(v.dir, "log", "--format=%P %(trailers:key=Loopx-Operation,valueonly,separator=)", before+".."+demoRef); got != want {
		t.Fatalf("%s, %s: the history since is %q, want %q", o.id, how, got, want)
	}
	v.git(v.dir, "rev-list", "--objects", "--quiet", before+".."+demoRef)
}

// note counts what the kill met, and compares what the command said with what happened.
func (v *victim) note(t *testing.T, o order, how string, r reply, before, after string) {
	t.Helper()
	switch {
	case r.doc == nil && after == before:
		v.met["before the swap"]++
	case r.doc == nil:
		v.met["after the swap"]++
	case r.exit == 0 && slices.Contains([]string{"applied", "recovered"}, r.get("status")) && r.get("provider_revision") == after && after != before:
		v.met["after the answer"]++
	case how == "term" && r.exit == exitInterrupted && r.get("reason_code") == "interrupted":
		v.met["interrupted"]++
	case how == "term" && r.exit == exitUnavailable && r.get("recovery.retry_with_same_operation_id") == "true":
		v.met["interrupted, ambiguous"]++
	default:
		t.Fatalf("%s, %s: the ref went from %s to %s and the command said %s", o.id, how, before, after, r)
	}
}

// unlock deals with the lock that a killed git leaves: busy, until it is old enough for doctor to take it away.
func (v *victim) unlock(t *testing.T, o order, how string) {
	t.Helper()
	lock := filepath.Join(v.dir, ".git", demoRef+".lock")
	if _, err := os.Lstat(lock); err != nil {
		return
	}
	if how != "all" {
		t.Fatalf("%s, %s: a lock was left though no git was killed", o.id, how)
	}
	v.met["with the ref locked"]++
	hasty := v.process(o)
	hasty.Env = append(hasty.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=loopx.timeout", "GIT_CONFIG_VALUE_0=300ms")
	busy := v.refused(hasty, "authority_busy", exitUnavailable)
	if busy.get("status") != "busy" || busy.get("lock") != demoRef+".lock" || busy.get("hint") == "(none)" {
		t.Fatalf("%s: %s", o.id, busy)
	}
	v.does(v.dir, "doctor", "--fix") // the lock is young and may be somebody's
	if _, err := os.Lstat(lock); err != nil {
		t.Fatalf("%s: a young lock was taken away", o.id)
	}
	age(t, lock)
	v.refuses(v.dir, "leftovers_found", exitRefused, "doctor")
	v.does(v.dir, "doctor", "--fix")
}

// age makes a file look old enough to be nobody's any more.
func age(t *testing.T, path string) {
	t.Helper()
	then := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
}

// refs returns the goal's revision and all refs besides.
func (v *victim) refs() (tip, others string) {
	v.t.Helper()
	for line := range strings.Lines(v.git(v.dir, "for-each-ref", "--format=%(objectname) %(refname)")) {
		if id, ok := strings.CutSuffix(strings.TrimSpace(line), " "+demoRef); ok {
			tip = id
		} else {
			others += line
		}
	}
	return tip, others
}

// judge looks at everything once more: all that was acknowledged is there, also after a garbage collection, and doctor
// --fix takes away what the killed left behind.
func (v *victim) judge() {
	t := v.t
	t.Helper()
	var left []string
	for _, pattern := range []string{"objects/*/tmp_obj_loopx*", "objects/pack/*.keep"} {
		files, err := filepath.Glob(filepath.Join(v.dir, ".git", pattern))
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, files...)
	}
	v.met["leftovers"] = len(left)
	v.does(v.dir, "doctor", "--fix") // the young ones may be somebody's
	for _, path := range left {
		age(t, path)
	}
	v.does(v.dir, "doctor", "--fix")
	for _, path := range left {
		// A git killed before it wrote the reason into a .keep file leaves one that might be anybody's.
		if info, err := os.Lstat(path); err == nil && info.Size() > 0 {
			t.Errorf("doctor --fix left %s", path)
		}
	}
	for _, collected := range []bool{false, true} {
		if collected {
			v.git(v.dir, "gc", "--quiet", "--prune=now")
		}
		v.fsck(v.dir)
		v.does(v.dir, "fsck")
		v.does(v.dir, "doctor")
		history := v.operations(v.dir)
		for _, id := range v.stored {
			if !history[id] {
				t.Errorf("%s was acknowledged and is gone, gc ran: %v", id, collected)
			}
		}
		v.right()
	}
	t.Logf("met: %v", slices.Sorted(maps.Keys(v.met)))
}
