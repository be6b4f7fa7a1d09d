package projection

import (
	"strconv"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

func itoa(n int) string { return strconv.Itoa(n) }

// BenchmarkDeliver is one change of one Todo of 10,000, half of them with a note, and its view.
func BenchmarkDeliver(b *testing.B) {
	w := newWorld(b)
	w.fill(10_000)
	list, err := w.List(b.Context(), "demo", todo.Filter{All: true})
	w.must(err)
	notes := map[string][]byte{}
	for i, v := range list.Rows {
		if i%2 == 0 {
			note, findings := todo.BuildNote(todo.Context{WorkSummary: "what was done on " + string(v.TodoID)},
				todo.Source{Agent: "agent-a", Session: "s"}, "2026-09-13T10:05:00Z", todo.TodoFacts(record(v)))
			if findings != nil {
				b.Fatal(findings)
			}
			notes[todo.NotePath(v.TodoID)] = note
		}
	}
	w.put(notes)
	w.delivered(Delivered)
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		w.update("Text " + itoa(n))
		b.StartTimer()
		w.delivered(Delivered)
	}
	b.ReportMetric(float64(len(w.read("TODO.md"))), "bytes")
}
