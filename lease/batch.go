package lease

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// BatchSchema is the schema_version of the result of todo apply.
const BatchSchema = "loopx_coordination_todo_batch_result_v0"

// Bounds of a batch.
const (
	MaxBatchLines = 500
	MaxBatchBytes = 8 << 20
)

// BatchResult is the nested result of todo apply.
type BatchResult struct {
	Schema  string       `json:"schema_version"`
	Changed bool         `json:"changed"`
	Results []LineResult `json:"results"` // one for each line
}

// parseBatch reads the operations of an agent: JSON Lines of at most [MaxBatchBytes] with 1 to [MaxBatchLines] objects,
// strictly (continuation.md, section 5). A member that the op does not take, one that is given twice, in another letter
// case or of another type, a null, and a blank line are refused; only the last line may end in a line feed or not. The
// refusal is invalid_coordination_todo_batch, with the line, from 1, and the op in its Detail, as far as known.
func parseBatch(agent todo.AgentID, b []byte) ([]operation, error) {
	if len(b) > MaxBatchBytes {
		return nil, todo.Fail(todo.CodeInvalidBatch, "a batch must be at most %d bytes", MaxBatchBytes)
	}
	b = bytes.TrimSuffix(b, []byte("\n"))
	if len(b) == 0 {
		return nil, todo.Fail(todo.CodeInvalidBatch, "a batch must have an operation, and this one is empty")
	}
	if n := bytes.Count(b, []byte("\n")) + 1; n > MaxBatchLines {
		return nil, todo.Fail(todo.CodeInvalidBatch, "a batch must be at most %d lines, not %d", MaxBatchLines, n)
	}
	var ops []operation
	for text := range bytes.SplitSeq(b, []byte("\n")) {
		o, at, err := parseOperation(text)
		if err != nil {
			return nil, onLine(len(ops)+1, at, todo.Fail(todo.CodeInvalidBatch, "%s", err))
		}
		ops = append(ops, o.normal(agent))
	}
	return ops, nil
}

// parseOperation reads one line. With an error, the head says of the line what is known.
func parseOperation(text []byte) (operation, head, error) {
	switch {
	case len(bytes.TrimSpace(text)) == 0:
		return nil, head{}, errors.New("is blank")
	case jsontext.Value(text).Kind() != '{':
		return nil, head{}, errors.New("must be a JSON object")
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, head{}, jsonError(err)
	}
	var op string
	if v, ok := members["op"]; !ok || json.Unmarshal(v, &op) != nil || decoder(op) == nil {
		return nil, head{}, errors.New("op must be one of: " + strings.Join(opWords, ", "))
	}
	at := head{Op: op}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if string(members[name]) == `""` && (op != "update" || name == "todo_id") {
			return nil, at, fmt.Errorf("%q is empty", todo.Clean(name))
		}
	}
	if err := checkTokens(text); err != nil {
		return nil, at, err
	}
	o, err := decoder(op)(text)
	if err != nil {
		return nil, at, jsonError(err)
	}
	if p, ok := o.(interface{ half() bool }); ok && p.half() {
		return nil, at, errors.New("lease_proof needs idempotency_key and expected_version")
	}
	return o, o.line(), nil
}

// checkTokens refuses what no member may hold: a null, which is neither absent nor empty, and an integer that not every
// JSON reader keeps.
func checkTokens(text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil // the whole was read before: this is the end
		}
		switch token.Kind() {
		case 'n':
			return fmt.Errorf("%q is null", todo.Clean(nameAt(d.StackPointer())))
		case '0':
			if n, err := strconv.ParseInt(token.String(), 10, 64); err == nil && (n > canonical.MaxInteger || n < -canonical.MaxInteger) {
				return fmt.Errorf("%q is out of range", todo.Clean(nameAt(d.StackPointer())))
			}
		}
	}
}

// jsonError says in words of ours what the JSON library found: its own are not the same every time.
func jsonError(err error) error {
	if meant, ok := errors.AsType[*json.SemanticError](err); ok {
		if errors.Is(meant.Err, json.ErrUnknownName) {
			return fmt.Errorf("unknown member %q", todo.Clean(nameAt(meant.JSONPointer)))
		}
		return fmt.Errorf("%q is of the wrong type", todo.Clean(nameAt(meant.JSONPointer)))
	}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		switch {
		case errors.Is(wrong.Err, jsontext.ErrDuplicateName):
			return fmt.Errorf("%q is given twice", todo.Clean(nameAt(wrong.JSONPointer)))
		case errors.Is(wrong.Err, io.ErrUnexpectedEOF):
			return errors.New("is not one JSON object: it ends too early")
		}
		return fmt.Errorf("is not one JSON object: wrong at byte %d", wrong.ByteOffset)
	}
	return errors.New("is not one JSON object")
}

func nameAt(p jsontext.Pointer) string { return strings.TrimPrefix(string(p), "/") }

// onLine is the refusal of a batch for one of its lines: with the code and the members of that line's own refusal, and
// the line, from 1, and its op.
func onLine(line int, at head, r *todo.Refusal) *todo.Refusal {
	whole := *r
	whole.Detail = maps.Clone(r.Detail)
	whole.Reason = fmt.Sprintf("line %d: %s", line, r.Reason)
	if at.Op != "" {
		whole.Reason = fmt.Sprintf("line %d: %s: %s", line, at.Op, r.Reason)
		whole.With("op", at.Op)
	}
	return whole.With("line", line)
}

// refusedLine is [onLine] of a line that was read, with result, which is what that line by itself came to.
func refusedLine(line int, at head, r *todo.Refusal) (*todo.Refusal, error) {
	result := maps.Clone(r.Detail)
	if result == nil {
		result = map[string]any{}
	}
	result["ok"], result["status"], result["reason_code"], result["reason"] = false, r.Status, r.Code, r.Reason
	if at.Todo != "" {
		result["todo_id"] = at.Todo
	}
	value, err := canonical.Marshal(result)
	if err != nil {
		return nil, err
	}
	whole := onLine(line, at, r).With("result", jsontext.Value(value))
	if at.Todo != "" { // for the hint
		whole.With("todo_id", at.Todo)
	}
	return whole, nil
}

// putTogether adds the decision of one more line to that of a batch. Of two records of one Todo the later is written.
func putTogether(whole *todo.Decision, d todo.Decision) {
	whole.Todos = append(whole.Todos, d.Todos...)
	if whole.Notes == nil {
		whole.Notes, whole.Leases = map[todo.ID][]byte{}, map[todo.ID][]byte{}
	}
	maps.Copy(whole.Notes, d.Notes)
	maps.Copy(whole.Leases, d.Leases)
}
