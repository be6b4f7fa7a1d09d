package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// BenchmarkRatio prints the table of storage.md, section 6: whole processes against git, side by side in one run. The
// command is
//
//	go test ./cmd/git-loopx -run '^$' -bench Ratio -benchtime 1x -timeout 30m
//
// and, for one part of it, -bench 'Ratio/read' (version, read, write, million, list, ready, crowd, cost). With -short the
// repositories are smaller: good for trying the benchmark, not for its numbers. A slow machine never fails it; a
// command that fails or loses something does.
//
// How it measures: the program is built and stands on PATH, and what is timed is "git loopx …", as people type it, from
// the start of the process to its end, with standard output going to the null device on both sides. The two sides take
// turns within each round, so that what else the machine does hits both. A ratio is that of the medians; the quartiles
// are those of the ratios of single rounds. "alone" is the same ratio for git-loopx called directly, without the git
// that looks for it.
func BenchmarkRatio(b *testing.B) {
	w := newRatioWorld(b)
	b.Run("version", w.version)
	b.Run("read", w.read)
	b.Run("write", w.write)
	b.Run("million", w.million)
	b.Run("list", w.list)
	b.Run("ready", w.ready)
	b.Run("crowd", w.crowd)
	b.Run("cost", w.cost)
	w.print(os.Stdout)
}

// ratioRow is one line of the table. direct is empty where git-loopx was not run by itself.
type ratioRow struct {
	work, against        string
	ours, theirs, direct []time.Duration
	atMost, stretch      float64 // 0: none is stated
}

// ratio is that of the medians.
func ratio(ours, theirs []time.Duration) float64 {
	return float64(median(ours)) / float64(median(theirs))
}

// spread returns the quartiles of the ratios of single rounds.
func (r ratioRow) spread() (low, high float64) {
	each := make([]float64, len(r.ours))
	for i := range each {
		each[i] = float64(r.ours[i]) / float64(r.theirs[i])
	}
	slices.Sort(each)
	return each[len(each)/4], each[len(each)-1-len(each)/4]
}

func median(times []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(times))
	half := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[half-1] + sorted[half]) / 2
	}
	return sorted[half]
}

// report keeps a row for the table and makes it the result of the benchmark.
func (w *ratioWorld) report(b *testing.B, r ratioRow) {
	b.ReportMetric(0, "ns/op") // the time of the harness says nothing
	b.ReportMetric(ratio(r.ours, r.theirs), "ratio")
	b.ReportMetric(milliseconds(median(r.ours)), "ours-ms")
	b.ReportMetric(milliseconds(median(r.theirs)), "theirs-ms")
	w.rows = append(w.rows, r)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// print writes the tables of what was measured.
func (w *ratioWorld) print(to io.Writer) {
	out := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(out, "\n%s\n", w.about)
	for _, note := range w.notes {
		fmt.Fprintf(out, "%s\n", note)
	}
	if len(w.rows) > 0 {
		fmt.Fprintf(out, "\nwork\tms\tagainst\tms\tratio\tquartiles\talone\tat most\tstretch\t\n")
	}
	for _, r := range w.rows {
		low, high := r.spread()
		x := ratio(r.ours, r.theirs)
		alone := "-"
		if len(r.direct) > 0 {
			alone = fmt.Sprintf("%.2f", ratio(r.direct, r.theirs))
		}
		fmt.Fprintf(out, "%s\t%.2f\t%s\t%.2f\t%.2f\t%.2f-%.2f\t%s\t%s\t%s\t%s\n",
			r.work, milliseconds(median(r.ours)), r.against, milliseconds(median(r.theirs)), x, low, high, alone,
			bound(r.atMost), bound(r.stretch), verdict(x, r.atMost, r.stretch))
	}
	w.printCosts(out)
	out.Flush()
}

func bound(x float64) string {
	if x == 0 {
		return "-"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0")
}

// verdict says how a number stands to what is stated for it.
func verdict(x, atMost, stretch float64) string {
	switch {
	case atMost == 0:
		return ""
	case x > atMost:
		return "over"
	case stretch > 0 && x <= stretch:
		return "stretch"
	}
	return "ok"
}

// work prepares one more run, outside the measured time, and returns what is measured.
type work func(b *testing.B) (run func() error)

// sideBySide runs works in turn, another one first in each round, and returns their times by work and round. The first
// round warms up and does not count.
func sideBySide(b *testing.B, rounds int, works ...work) [][]time.Duration {
	b.Helper()
	times := make([][]time.Duration, len(works))
	for round := -1; round < rounds; round++ {
		for i := range works {
			i = (i + round + 1) % len(works)
			run := works[i](b)
			start := time.Now()
			err := run()
			took := time.Since(start)
			if err != nil {
				b.Fatal(err)
			}
			if round >= 0 {
				times[i] = append(times[i], took)
			}
		}
	}
	return times
}

// against measures a command, as git runs it and alone, and a baseline.
func (w *ratioWorld) against(b *testing.B, r ratioRow, ours func(b *testing.B) []string, dir string, theirs work) {
	b.Helper()
	times := sideBySide(b, w.rounds, w.through("git", dir, ours), theirs, w.through("git-loopx", dir, ours))
	r.ours, r.theirs, r.direct = times[0], times[1], times[2]
	w.report(b, r)
}
