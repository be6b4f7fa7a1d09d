package projection

import (
	"bytes"
	"strings"

	"github.com/git-loopx/git-loopx/todo"
)

// Parse reads a region as [Region.Text] writes it. Whatever it accepts is written back byte for byte; the refusal of all
// else is todo_projection_render_rejected.
func Parse(b []byte) (Region, error) {
	p := parser{at: -1}
	for line := range strings.SplitSeq(string(b), "\n") {
		p.line(line)
	}
	if p.bad || !p.region.Goal.Valid() || !bytes.Equal(p.region.render(), b) {
		return Region{}, refused(CodeRenderRejected, todo.Failed, "the view of goal %s does not read back", quoted(string(p.region.Goal)))
	}
	return p.region, nil
}

// parser looks at the machine's lines and the headings alone; that all other lines are what they must be is seen when the
// region is written once more.
type parser struct {
	region Region
	at     int // the heading that was passed last
	bad    bool
}

func (p *parser) line(line string) {
	switch {
	case strings.HasPrefix(line, sourceOpen+" "):
		var s source
		parseMembers(p, line, sourceOpen, sourceMembers, &s)
		p.region.Goal, p.region.Title, p.region.Mode, p.region.Revision = s.region.Goal, s.region.Title, s.region.Mode, s.region.Revision
	case strings.HasPrefix(line, unreadableOpen+" "):
		var u Unreadable
		parseMembers(p, line, unreadableOpen, unreadableMembers, &u)
		p.region.Unreadable = append(p.region.Unreadable, u)
	case strings.HasPrefix(line, itemOpen+" "):
		item := Item{View: todo.View{Readable: true}}
		parseMembers(p, line, itemOpen, itemMembers, &item)
		list := p.region.section(item)
		*list = append(*list, item)
		p.bad = p.bad || p.at < 0 || headings[p.at].list(&p.region) != list
	case p.at+1 < len(headings) && line == headings[p.at+1].line:
		p.at++
	}
}

// parseMembers fills a record from its line. Members come in their order.
func parseMembers[T any](p *parser, line, open string, members []member[T], t *T) {
	text, ok := strings.CutSuffix(line[len(open)+1:], comment)
	p.bad = p.bad || !ok
	at := 0
	for pair := range strings.SplitSeq(text, " ") {
		name, value, _ := strings.Cut(pair, "=")
		for at < len(members) && members[at].name != name {
			at++
		}
		value, ok := decoded(value)
		if !ok || at == len(members) || !members[at].put(t, value) {
			p.bad = true
			return
		}
	}
}
