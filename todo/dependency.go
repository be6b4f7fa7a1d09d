package todo

import (
	"fmt"
	"slices"
	"strings"
)

// DependencyState says whether a Todo waits for something.
type DependencyState string

// The states of what a Todo depends on.
const (
	DependenciesReady   DependencyState = "ready"
	DependenciesPending DependencyState = "pending"
	DependenciesInvalid DependencyState = "invalid" // what it waits for can never be done
)

// link is what dependencies are judged by: where a Todo stands, and what it leads to. One that was superseded leads to
// what took its place, and to that alone, since it is never reopened; any other to what it depends on.
type link struct {
	done, archived, superseded bool
	next                       []ID
}

func linkOf(t Todo) link {
	l := link{done: t.Status == Done, archived: t.ArchiveState == Archived, superseded: t.SupersededBy != "", next: t.DependsOn}
	if l.superseded {
		l.next = []ID{t.SupersededBy}
	}
	return l
}

// state says where a dependency on a Todo stands that was not superseded.
func (l link) state() DependencyState {
	switch {
	case l.done:
		return DependenciesReady
	case l.archived:
		return DependenciesInvalid
	}
	return DependenciesPending
}

// links looks a Todo of one revision up; false where it is not there, and where it is not understood: nobody can say
// then that it is done.
type links func(ID) (link, bool)

func (f Following) link(id ID) (link, bool) {
	t, ok := f[id]
	return linkOf(t), ok
}

// ending is where a chain of superseded Todos ends, and what a dependency on that comes to.
type ending struct {
	id    ID
	state DependencyState
}

// follower finds the ends of chains. It remembers them, so that however many Todos wait for the members of a chain, it
// is followed once.
type follower struct {
	todos links
	ends  map[ID]ending
}

// end follows superseded_by to the last of a chain. A chain that leads to what is not there, or round in a circle, is
// invalid.
func (f *follower) end(id ID) ending {
	if f.ends == nil {
		f.ends = map[ID]ending{}
	}
	var way []ID
	for {
		if _, known := f.ends[id]; known {
			break
		}
		f.ends[id] = ending{id, DependenciesInvalid} // if the chain comes back here
		l, ok := f.todos(id)
		if !ok {
			break
		}
		if !l.superseded {
			f.ends[id] = ending{id, l.state()}
			break
		}
		way = append(way, id)
		id = l.next[0]
	}
	last := f.ends[id]
	for _, passed := range way {
		f.ends[passed] = last
	}
	return last
}

// on says where a Todo's dependency on another stands: one on itself, or on what it took the place of, is invalid.
func (f *follower) on(self, id ID) ending {
	if id == self {
		return ending{self, DependenciesInvalid}
	}
	e := f.end(id)
	if e.id == self {
		e.state = DependenciesInvalid
	}
	return e
}

// Dependencies says where the dependencies of the state's Todo stand at an instant (continuation.md, section 5): a Todo
// that was superseded counts as done when the end of its superseded_by chain is.
func (s State) Dependencies(at Instant) DependencyState {
	switch CodeOf(s.CheckDependencies(at)) {
	case "":
		return DependenciesReady
	case CodeDependencyPending:
		return DependenciesPending
	}
	return DependenciesInvalid
}

// CheckDependencies refuses work on the state's Todo that waits: todo_dependency_invalid, Detail as that of
// [Dependencies]; then todo_dependency_pending, Detail: pending_todo_ids, the Todos that have to be done first, and
// resume_at where that is ahead.
func (s State) CheckDependencies(at Instant) error {
	if s.Todo == nil {
		return nil
	}
	t, f := *s.Todo, follower{todos: s.Others.link}
	if r := f.invalid(t.ID, t.DependsOn); r != nil {
		return r
	}
	var pending []ID
	for _, id := range t.DependsOn {
		if e := f.on(t.ID, id); e.state == DependenciesPending {
			pending = append(pending, e.id)
		}
	}
	pending = SetOf(pending)
	ahead := t.ResumeAt > at
	if len(pending) == 0 && !ahead {
		return nil
	}
	var waits []string
	if len(pending) > 0 {
		waits = append(waits, "waits for "+several(pending))
	}
	if ahead {
		waits = append(waits, "is to be resumed at "+string(t.ResumeAt))
	}
	r := Reject(CodeDependencyPending, "todo %s: %s", t.ID, strings.Join(waits, ", and "))
	if len(pending) > 0 {
		r.With("pending_todo_ids", pending)
	}
	if ahead {
		r.With("resume_at", t.ResumeAt)
	}
	return r
}

// several names the first of some Todos, and how many more there are.
func several(ids []ID) string {
	if len(ids) == 1 {
		return string(ids[0])
	}
	return fmt.Sprintf("%s and %d more", ids[0], len(ids)-1)
}

// invalid is the refusal of dependencies that can never be done, as far as each shows that by itself.
func (f *follower) invalid(self ID, dependsOn []ID) *Refusal {
	var bad []ID
	var cycle []ID
	for _, id := range dependsOn {
		e := f.on(self, id)
		if e.state != DependenciesInvalid {
			continue
		}
		if bad = append(bad, id); e.id == self && cycle == nil {
			cycle = f.chain(self, id)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	r := Reject(CodeDependencyInvalid, "todo %s: cannot wait for %s, which %s", self, bad[0], f.why(self, bad[0])).With("invalid_todo_ids", bad)
	if cycle != nil {
		r.With("cycle", cycle)
	}
	return r
}

// chain is the way from a Todo to one that it depends on, and by superseded_by back to the Todo.
func (f *follower) chain(self, id ID) []ID {
	way := []ID{self}
	for id != self {
		way = append(way, id)
		l, _ := f.todos(id)
		id = l.next[0]
	}
	return append(way, self)
}

// why says in words why a dependency can never be done.
func (f *follower) why(self, id ID) string {
	e := f.on(self, id)
	end, there := f.todos(e.id)
	switch {
	case e.id == self && id == self:
		return "is the Todo itself"
	case e.id == self:
		return "was superseded by the Todo itself"
	case !there && e.id == id:
		return "is not in the goal"
	case !there:
		return fmt.Sprintf("was superseded by %s, which is not in the goal", e.id)
	case end.superseded:
		return "was superseded in a circle"
	case e.id == id:
		return "is archived and not done"
	}
	return fmt.Sprintf("was superseded by %s, which is archived and not done", e.id)
}

// Dependencies judges the ids that a Todo is to depend on, in one revision of its goal: the refusal is
// todo_dependency_invalid, Detail: invalid_todo_ids, those of them that can never be done, and cycle, the ids from the Todo
// back to itself. The zero value is good.
type Dependencies struct{ refusal *Refusal }

func (d Dependencies) check() error {
	if d.refusal == nil {
		return nil
	}
	return d.refusal
}

// judgeDependencies judges what a Todo is to depend on. there says that the goal has the Todo: nothing leads back to one
// that is new. It looks each Todo up a few times at most.
func judgeDependencies(self ID, there bool, dependsOn []ID, todos links) Dependencies {
	f := follower{todos: todos}
	if r := f.invalid(self, dependsOn); r != nil || !there {
		return Dependencies{r}
	}
	cycle := todos.cycle(self, dependsOn)
	if cycle == nil {
		return Dependencies{}
	}
	r := Reject(CodeDependencyInvalid, "todo %s: cannot wait for %s, which waits for it", self, cycle[1])
	return Dependencies{r.With("invalid_todo_ids", cycle[1:2]).With("cycle", cycle)}
}

// cycle is a shortest way from a Todo that is to depend on others back to itself; nil where there is none.
func (todos links) cycle(self ID, dependsOn []ID) []ID {
	before := make(map[ID]ID, len(dependsOn)) // by Todo that was met: from where
	queue := slices.Clone(dependsOn)
	for _, id := range dependsOn {
		before[id] = self
	}
	for ; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		l, _ := todos(id)
		for _, next := range l.next {
			if next == self {
				way := []ID{self}
				for ; id != self; id = before[id] {
					way = append(way, id)
				}
				way = append(way, self)
				slices.Reverse(way)
				return way
			}
			if _, met := before[next]; !met {
				before[next] = id
				queue = append(queue, next)
			}
		}
	}
	return nil
}
