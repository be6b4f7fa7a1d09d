package main

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/handoff"
)

// firstLine returns the first line of a text made visible, with an ellipsis if there was more, cut to at most max
// characters. It is for lists; nothing else shortens text.
func firstLine(s string, max int) string {
	line, _, more := strings.Cut(s, "\n")
	line = handoff.Visible(strings.TrimRight(line, "\r"))
	if utf8.RuneCountInString(line) > max {
		line, more = strings.TrimRight(string([]rune(line)[:max-1]), " "), true
	}
	if more {
		return line + "…"
	}
	return line
}

// escapeHidden writes the hidden characters of a JSON document as \u escapes. Outside of strings JSON has none, and
// inside them the escape means the same, so that the document stays what it was and is safe to look at.
func escapeHidden(document []byte) []byte {
	const hex = "0123456789abcdef"
	escape := func(out []byte, unit rune) []byte {
		return append(out, '\\', 'u', hex[unit>>12&15], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
	}
	var out []byte
	from := 0
	for i := 0; i < len(document); {
		if document[i] < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRune(document[i:])
		if r == 0x7f || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			out = append(out, document[from:i]...)
			if r > 0xffff {
				r -= 0x10000
				out = escape(out, 0xd800+r>>10)
				r = 0xdc00 + r&0x3ff
			}
			out = escape(out, r)
			from = i + n
		}
		i += n
	}
	if from == 0 {
		return document
	}
	return append(out, document[from:]...)
}
