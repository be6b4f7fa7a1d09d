package handoff

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s fit to be printed on one line of a terminal: control, format and bidirectional characters, line and
// paragraph separators and bytes that are not UTF-8 are written as \n, \t, \x1b, \u202e, \U000e0001 or \xff. All else,
// a backslash too, stays: the form is for eyes and cannot be read back. What is visible already stays as it is.
func Visible(s string) string {
	clean := true
	for i := 0; clean && i < len(s); i++ {
		clean = s[i] >= ' ' && s[i] < 0x7f
	}
	if clean {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[0]), 16))
		case !hidden(r):
			b.WriteString(s[:n])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// VisibleLines returns the lines of s, each as [Visible] has it. A line ends at \n or \r\n; other separators do not end
// one, and one final line end opens no further line. There is always at least one line.
func VisibleLines(s string) []string {
	lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = Visible(strings.TrimSuffix(line, "\r"))
	}
	return lines
}

// hidden reports whether a terminal would obey, drop or reorder by r instead of showing it.
func hidden(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs)
}
