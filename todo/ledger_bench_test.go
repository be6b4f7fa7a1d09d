package todo

import (
	"fmt"
	"testing"
)

// BenchmarkList lists ten thousand Todos without a limit, with the cache warm.
func BenchmarkList(b *testing.B) {
	f := newDemo(b)
	files := map[string][]byte{}
	for i := range 10000 {
		t := vectorTodo()
		t.ID, t.Text = ID(fmt.Sprintf("todo_%05d", i)), fmt.Sprintf("work %d on the retry loop, which has to be bounded by time", i)
		t.Labels = []string{"disk", "retry"}
		b, err := EncodeTodo(t)
		if err != nil {
			f.t.Fatal(err)
		}
		files[TodoPath(t.ID)] = b
	}
	f.put(files)
	list := func() {
		list, err := f.List(f.ctx(), "demo", Filter{})
		if err != nil || len(list.Rows) != 10000 {
			b.Fatal(len(list.Rows), err)
		}
	}
	list() // makes the cache
	for b.Loop() {
		list()
	}
}
