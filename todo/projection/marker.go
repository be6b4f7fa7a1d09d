package projection

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/git-loopx/git-loopx/todo"
)

// The two ends of a region.
const (
	begin = "begin"
	end   = "end"
)

// marker is a line that is exactly "<!-- loopx:begin goal=demo -->", or the same with end. A line that is anything more
// is text like any other.
type marker struct {
	which string
	goal  todo.GoalID
}

func (m marker) String() string { return "<!-- loopx:" + m.which + " goal=" + string(m.goal) + " -->" }

// parseMarker reads a line without its line end; false where it is no marker.
func parseMarker(line []byte) (marker, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("<!-- loopx:"))
	if !ok || len(line) > 128 {
		return marker{}, false
	}
	which, goal, _ := strings.Cut(string(rest), " goal=")
	goal, ok = strings.CutSuffix(goal, " -->")
	m := marker{which, todo.GoalID(goal)}
	return m, ok && (which == begin || which == end) && m.goal.Valid()
}

// place is where a region stands in a file: from the first byte of its begin marker to the last of its end marker.
type place struct{ from, to int }

// find returns where the region of a goal is; false where the file has none. The markers of a file, of all goals, must be
// pairs one after another, each goal once: else it cannot be told what is whose, and the refusal is
// todo_projection_render_rejected with the line.
func find(file []byte, goal todo.GoalID) (place, bool, error) {
	var (
		open   *marker
		opened int // the line of open
		at     int // of the line
		found  place
		seen   = map[todo.GoalID]bool{}
	)
	for number, line := range numbered(file) {
		m, ok := parseMarker(chomp(line))
		from := at
		at += len(line)
		switch {
		case !ok:
		case m.which == begin && open != nil:
			return place{}, false, unpaired(number, m, "the region of goal %s from line %d has no end", open.goal, opened)
		case m.which == begin && seen[m.goal]:
			return place{}, false, unpaired(number, m, "the goal has a region already")
		case m.which == begin:
			open, opened, seen[m.goal] = &m, number, true
			if m.goal == goal {
				found.from = from
			}
		case open == nil || open.goal != m.goal:
			return place{}, false, unpaired(number, m, "it has no begin")
		default:
			open = nil
			if m.goal == goal {
				found.to = from + len(chomp(line))
			}
		}
	}
	if open != nil {
		return place{}, false, unpaired(opened, *open, "it has no end")
	}
	return found, seen[goal], nil
}

// numbered yields the lines of a file with their line ends, from 1.
func numbered(file []byte) func(func(int, []byte) bool) {
	return func(yield func(int, []byte) bool) {
		n := 0
		for line := range bytes.Lines(file) {
			n++
			if !yield(n, line) {
				return
			}
		}
	}
}

// chomp returns a line without its line end: LF, CRLF, or in the last line CR, which a LF may follow one day.
func chomp(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

func unpaired(line int, m marker, format string, args ...any) *todo.Refusal {
	return refused(CodeRenderRejected, todo.Rejected, "line %d is the marker %q: %s", line, m, fmt.Sprintf(format, args...))
}

// Splice returns a file with the region of a goal in the place of the one it has, or behind all else. Every other byte
// stays. The region takes over the line ends of the bytes around it if all of those are CRLF, and else has LF. The refusal
// is todo_projection_render_rejected: the markers of the file do not pair up.
func Splice(file []byte, goal todo.GoalID, region []byte) ([]byte, error) {
	p, there, err := find(file, goal)
	if err != nil {
		return nil, err
	}
	before, after := file[:p.from], file[p.to:]
	if !there {
		before, after = file, nil
	}
	crlf, lf := lineEnds(before)
	moreCRLF, moreLF := lineEnds(after)
	crlf, lf = crlf+moreCRLF, lf+moreLF
	if crlf+lf == 0 {
		crlf, lf = lineEnds(file[p.from:p.to])
	}
	eol := "\n"
	if crlf > 0 && lf == 0 {
		eol = "\r\n"
		region = bytes.ReplaceAll(region, []byte("\n"), []byte(eol))
	}
	b := make([]byte, 0, len(before)+len(region)+len(after)+2*len(eol))
	b = append(b, before...)
	if !there && len(before) > 0 && before[len(before)-1] != '\n' {
		b = append(b, eol...)
	}
	b = append(append(b, region...), after...)
	if !there {
		b = append(b, eol...)
	}
	return b, nil
}

// lineEnds counts the line ends of both kinds.
func lineEnds(b []byte) (crlf, lf int) {
	crlf = bytes.Count(b, []byte("\r\n"))
	return crlf, bytes.Count(b, []byte("\n")) - crlf
}
