package lease

import (
	"fmt"
	"unicode/utf8"

	"github.com/git-loopx/git-loopx/todo"
)

// rejected is a refusal by the facts.
func rejected(c todo.Code, format string, args ...any) *todo.Refusal {
	return &todo.Refusal{Code: c, Status: todo.Rejected, Reason: fmt.Sprintf(format, args...)}
}

// failed is a refusal of arguments or of stored data.
func failed(c todo.Code, format string, args ...any) *todo.Refusal {
	return &todo.Refusal{Code: c, Status: todo.Failed, Reason: fmt.Sprintf(format, args...)}
}

// with returns the refusal with one more member of the answer.
func with(r *todo.Refusal, name string, value any) *todo.Refusal {
	if r.Detail == nil {
		r.Detail = map[string]any{}
	}
	r.Detail[name] = value
	return r
}

// clean returns foreign text fit for a sentence: at most 80 characters of it.
func clean[T ~string](text T) string {
	s := string(text)
	if utf8.RuneCountInString(s) <= 80 {
		return s
	}
	return string([]rune(s)[:79]) + "…"
}
