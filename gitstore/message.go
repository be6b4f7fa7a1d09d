package gitstore

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// message is the commit message: git log of the ref reads as an audit trail.
func message(subject string, op Operation) string {
	var b strings.Builder
	b.WriteString(oneLine(subject) + "\n\n")
	for _, t := range []struct{ name, value string }{
		{trailerOperation, op.ID}, {trailerAgent, op.Agent}, {trailerSession, op.Session},
	} {
		if t.value != "" {
			b.WriteString(t.name + ": " + oneLine(t.value) + "\n")
		}
	}
	return b.String()
}

const (
	trailerOperation = "Loopx-Operation"
	trailerAgent     = "Loopx-Agent"
	trailerSession   = "Loopx-Session"
)

// oneLine percent-encodes control, format and separator characters other than the space, and the percent sign, so that
// no value forges a line of its own; unescape reads it back.
func oneLine(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c == '%' || c != ' ' && unicode.In(c, unicode.Cc, unicode.Cf, unicode.Z) {
			for _, x := range []byte(string(c)) {
				fmt.Fprintf(&b, "%%%02X", x)
			}
			continue
		}
		b.WriteRune(c)
	}
	return b.String()
}

// describe reads the message that this package wrote.
func describe(id ObjectID, c commit) Commit {
	subject, rest, _ := strings.Cut(c.message, "\n")
	d := Commit{ID: id, Subject: unescape(subject), Time: c.when()}
	if len(c.parents) > 0 {
		d.Parent = c.parents[0]
	}
	for line := range strings.SplitSeq(rest, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch name {
		case trailerOperation:
			d.Operation = unescape(value)
		case trailerAgent:
			d.Agent = unescape(value)
		case trailerSession:
			d.Session = unescape(value)
		}
	}
	return d
}

// unescape reads what oneLine wrote; anything else stays as it is.
func unescape(s string) string {
	if v, err := url.PathUnescape(s); err == nil {
		return v
	}
	return s
}
