package projection

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/todo"
)

// maxVisible is the most that a visible line shows of one text, in characters, before it ends in an ellipsis.
const maxVisible = 200

// appendVisible appends foreign text as one line of Markdown that reads as it was written and does nothing: white space is
// one space, control, format and bidirectional characters and bytes that are not UTF-8 are written as \x1b, \u202e or
// \xff, what Markdown or HTML would obey is escaped, and no more than [maxVisible] characters are shown. Only an address
// that is written out may become a link to what it says. The result never holds <, > or a line end.
func appendVisible(b []byte, s string) []byte {
	line := visible(s)
	var before rune
	for i, r := range line {
		switch r {
		case '<':
			b = append(b, "&lt;"...)
		case '>':
			b = append(b, "&gt;"...)
		case '&':
			b = append(b, "&amp;"...)
		case '\\', '`', '*', '[', ']', '~', '|', '$':
			b = append(b, '\\', byte(r))
		case '_': // within a word it means nothing
			after, _ := utf8.DecodeRuneInString(line[i+1:])
			if !inWord(before) || !inWord(after) {
				b = append(b, '\\')
			}
			b = append(b, '_')
		default:
			b = utf8.AppendRune(b, r)
		}
		before = r
	}
	return b
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// visible cuts a text and makes it one line that hides nothing.
func visible(s string) string {
	if head := s[:min(len(s), maxVisible)]; cleanLine(head) {
		if !todo.Blank(s[len(head):]) {
			head += "…"
		}
		return head
	}
	var b strings.Builder
	b.Grow(maxVisible)
	space, shown := false, 0
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		piece := s[:n]
		s = s[n:]
		switch {
		case ' ' < r && r <= '~':
		case r == utf8.RuneError && n == 1:
			piece = `\x` + strconv.FormatUint(uint64(piece[0]), 16)
		case unicode.IsSpace(r):
			space = true
			continue
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs):
			quoted := strconv.QuoteRuneToASCII(r)
			piece = quoted[1 : len(quoted)-1]
		}
		if space && shown > 0 {
			piece = " " + piece
		}
		space = false
		if shown += utf8.RuneCountInString(piece); shown > maxVisible {
			b.WriteString("…")
			break
		}
		b.WriteString(piece)
	}
	return b.String()
}

// cleanLine says whether a text is printable ASCII with single spaces inside: it is visible as it is.
func cleanLine(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

const upperHex = "0123456789ABCDEF"

// appendEncoded appends a value percent-encoded: everything but the unreserved characters of RFC 3986, and a "-" that
// follows another. What comes out has no space, no ">" and no "--", so that no comment can end in it.
func appendEncoded(b []byte, value string) []byte {
	for i := range len(value) {
		c := value[i]
		if unreserved(c) && !(c == '-' && i > 0 && value[i-1] == '-') {
			b = append(b, c)
		} else {
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return b
}

// encodedSize is the length of what appendEncoded appends, give or take the dashes.
func encodedSize(value string) int {
	n := len(value)
	for i := range len(value) {
		if !unreserved(value[i]) {
			n += 2
		}
	}
	return n
}

func unreserved(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_' || c == '~'
}

// decoded reverses appendEncoded.
func decoded(value string) (string, bool) {
	if !strings.Contains(value, "%") {
		return value, true
	}
	var b strings.Builder
	for i := 0; i < len(value); i++ {
		c := value[i]
		if c == '%' {
			if i+2 >= len(value) {
				return "", false
			}
			high, low := strings.IndexByte(upperHex, value[i+1]), strings.IndexByte(upperHex, value[i+2])
			if high < 0 || low < 0 {
				return "", false
			}
			c = byte(high<<4 | low)
			i += 2
		}
		b.WriteByte(c)
	}
	return b.String(), true
}
