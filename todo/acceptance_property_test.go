package todo

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever is enabled, bound, disabled and edited in whatever order, a Todo that the hold is for is allowed exactly if it
// was bound since its work last changed, and one that it is not for always is.
func TestHoldIsWhatWasBoundLast(t *testing.T) {
	ids := []ID{"todo_a", "todo_b", "todo_c"}
	rapid.Check(t, func(t *rapid.T) {
		g := demo().Goal
		todos, fresh := map[ID]Todo{}, map[ID]bool{}
		for _, id := range ids {
			x := vectorTodo()
			x.ID = id
			todos[id] = x
		}
		held := map[ID]bool{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			some := SetOf(rapid.SliceOfN(rapid.SampledFrom(ids), 1, 3).Draw(t, "some"))
			var d Decision
			switch rapid.SampledFrom([]string{"enable", "enable some", "bind", "disable", "edit", "label"}).Draw(t, "verb") {
			case "enable":
				d = decideEnable(g, nil)
				held = map[ID]bool{"todo_a": true, "todo_b": true, "todo_c": true}
			case "enable some":
				d = decideEnable(g, some)
				held = map[ID]bool{}
				for _, id := range some {
					held[id] = true
				}
			case "bind":
				var named []Todo
				for _, id := range some {
					named, fresh[id] = append(named, todos[id]), true
				}
				d = decideBind(g, named)
			case "disable":
				d = decideDisable(g)
				held = map[ID]bool{}
			case "edit":
				x := todos[some[0]]
				x.Text += "."
				todos[some[0]], fresh[some[0]] = x, false
			case "label":
				x := todos[some[0]]
				x.Labels, x.ClaimedBy = []string{"l"}, "agent-c"
				todos[some[0]] = x
			}
			if d.Goal != nil {
				g = *d.Goal
			}
			for _, id := range ids {
				guard := g.Guard(todos[id])
				if guard.Applicable != held[id] || guard.Allowed != (!held[id] || fresh[id]) || (guard.State == GuardReady) != fresh[id] {
					t.Fatalf("%s: got %+v, held %v, fresh %v", id, guard, held[id], fresh[id])
				}
			}
		}
	})
}
