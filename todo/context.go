package todo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxContext is the largest context file, in bytes.
const MaxContext = 1 << 20

// ParseContext reads a caller's context: UTF-8 of at most [MaxContext] bytes with one JSON object that has only the
// eight context members, no member twice, nothing after it (continuation.md, section 7.2). The error is a *Refusal with
// the code invalid_continuation_request: the first finding makes the sentence, all are in the Detail findings.
func ParseContext(b []byte) (Context, error) {
	if len(b) > MaxContext {
		return Context{}, badContext(nil, "context must be at most %d bytes", MaxContext)
	}
	value, err := oneValue(b)
	if err != nil {
		return Context{}, badContext(nil, "context is not one JSON object: %v", err)
	}
	members, ok := membersOf(value)
	if !ok {
		return Context{}, badContext(nil, "context must be a JSON object")
	}
	findings, good := checkContext(members)
	if len(findings) > 0 {
		return Context{}, badContext(findings, "%s", contextSentence(findings[0]))
	}
	var c Context
	if err := gather(good, &c); err != nil {
		return Context{}, badContext(nil, "context is not one JSON object: %v", err)
	}
	return c, nil
}

// RationaleContext is the context that prepare makes of a rationale and source references, with the same rules.
func RationaleContext(rationale string, sourceRefs []string) (Context, error) {
	if len(sourceRefs) == 0 {
		sourceRefs = nil
	}
	b, err := json.Marshal(struct {
		Rationale  string   `json:"rationale"`
		SourceRefs []string `json:"source_refs,omitzero"`
	}{rationale, sourceRefs})
	if err != nil {
		return Context{}, badContext(nil, "rationale and source references must be UTF-8")
	}
	return ParseContext(b)
}

// checkContext returns what is wrong with the members of a context, and the members with which nothing is.
func checkContext(members map[string]jsontext.Value) ([]Finding, map[string]jsontext.Value) {
	findings, good := checkObject("", members, contextShape)
	if !saysSomething(members) {
		findings = append(findings, Finding{Field: "work_summary", Code: FindingMissingField})
	}
	return findings, good
}

// saysSomething: at least one of work_summary and rationale.
func saysSomething(members map[string]jsontext.Value) bool {
	_, summary := members["work_summary"]
	_, rationale := members["rationale"]
	return summary || rationale
}

// oneValue reads one JSON value and nothing after it.
func oneValue(b []byte) (jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	value, err := d.ReadValue()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("nothing there")
	} else if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "jsontext: "))
	}
	value = value.Clone()
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more follows the first value")
	}
	return value, nil
}

func badContext(findings []Finding, format string, args ...any) *Refusal {
	r := Fail(CodeInvalidContinuation, format, args...)
	if findings != nil {
		r = r.With("findings", findings)
	}
	return r
}

// contextSentence says a finding of a context in the words that callers match (continuation.md, section 7.2).
func contextSentence(f Finding) string {
	name, rest, nested := strings.Cut(f.Field, "[")
	i := slices.IndexFunc(contextShape, func(p part) bool { return p.name == name })
	switch {
	case i < 0:
		return "unknown context field: " + f.Field
	case f.Code == FindingMissingField && !nested:
		return "provide at least one of: work_summary, rationale"
	}
	p := contextShape[i]
	if p.kind == '"' {
		return textSentence(f.Field, p.shape)
	}
	if p.parts == nil {
		switch {
		case nested:
			return textSentence(f.Field, p.shape)
		case f.Code == FindingTooMany:
			return fmt.Sprintf("%s must be an array of at most %d texts", name, p.count)
		}
		return name + " must be an array"
	}
	if _, member, ok := strings.Cut(rest, "]."); ok && f.Code != FindingUnknownField && f.Code != FindingMissingField {
		if j := slices.IndexFunc(p.parts, func(q part) bool { return q.name == member }); j >= 0 {
			return textSentence(f.Field, p.parts[j].shape)
		}
	}
	var required []string
	for _, q := range p.parts {
		if !q.optional {
			required = append(required, q.name)
		}
	}
	return fmt.Sprintf("%s must be an array of at most %d objects with %s", name, p.count, strings.Join(required, "/"))
}

func textSentence(field string, s shape) string {
	if s.words != nil {
		return field + " must be one of: " + strings.Join(s.words, ", ")
	}
	return fmt.Sprintf("%s must be non-empty text of at most %d characters", field, s.limit)
}
