package main

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/handoff"
)

// firstLine returns the first line of a text made visible, with an ellipsis if there was more, cut to at most max
// characters. It is for lists; nothing else shortens text.
func firstLine(s string, max int) string {
	line, _, more := strings.Cut(s, "\n")
	line = strings.TrimRight(line, "\r")
	// Visible makes no text shorter, so that no more than this can be shown.
	line = handoff.Visible(line[:prefix(line, max+1)])
	if prefix(line, max) < len(line) {
		line, more = strings.TrimRight(line[:prefix(line, max-1)], " "), true
	}
	if more {
		return line + "…"
	}
	return line
}

// prefix returns the length in bytes of the first n characters of s, or of all of it.
func prefix(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	at := 0
	for at < n && s[at] < utf8.RuneSelf {
		at++
	}
	for i := range s[at:] {
		if n == at {
			return at + i
		}
		n--
	}
	return len(s)
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
		if len(document)-i >= 8 {
			// Eight bytes at once: the high bit of each is set from 0x7f on. A sum that carries comes from such a byte too.
			word := binary.LittleEndian.Uint64(document[i:])
			if (word|(word+0x0101010101010101))&0x8080808080808080 == 0 {
				i += 8
				continue
			}
		}
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
