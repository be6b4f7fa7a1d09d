package gitstore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/go-json-experiment/json/jsontext"
)

// ReceiptSchema is the schema of a stored receipt.
const ReceiptSchema = "loopx.receipt/1"

// Receipt is the record of an operation with the commit that introduced it.
type Receipt struct {
	OperationID string
	Kind        string
	Goal        string
	Todo        string
	Request     string // request_sha256
	Expected    ObjectID
	Parent      ObjectID // "" in the first commit of a ref
	Result      jsontext.Value
	At          time.Time
	Revision    ObjectID // the commit that introduced it; not part of the record
}

// receiptRecord is the stored form.
type receiptRecord struct {
	At        string         `json:"at"`
	Expected  ObjectID       `json:"expected_revision,omitzero"`
	Goal      string         `json:"goal_id"`
	Kind      string         `json:"kind"`
	Operation string         `json:"operation_id"`
	Parent    ObjectID       `json:"parent_revision,omitzero"`
	Request   string         `json:"request_sha256"`
	Result    jsontext.Value `json:"result"`
	Schema    string         `json:"schema"`
	Todo      string         `json:"todo_id,omitzero"`
}

// ReceiptPath returns the file of an operation's receipt; <bb> is of the digest itself.
func ReceiptPath(operationID string) string {
	sum := sha256.Sum256([]byte(operationID))
	digest := hex.EncodeToString(sum[:])
	return "receipts/" + digest[:2] + "/" + digest + ".json"
}

func encodeReceipt(r Receipt) ([]byte, error) {
	return canonical.Encode(receiptRecord{
		At: r.At.UTC().Format(time.RFC3339), Expected: r.Expected, Goal: r.Goal, Kind: r.Kind, Operation: r.OperationID,
		Parent: r.Parent, Request: r.Request, Result: r.Result, Schema: ReceiptSchema, Todo: r.Todo,
	})
}

// DecodeReceipt reads the stored receipt at a path. Errors: *DamagedError, with the schema where that is unknown.
func DecodeReceipt(path string, blob []byte) (Receipt, error) {
	damaged := func(err error) (Receipt, error) { return Receipt{}, &DamagedError{Path: path, Err: err} }
	if schema := canonical.Schema(blob); schema != ReceiptSchema && schema != "" {
		return Receipt{}, &DamagedError{Path: path, Schema: schema, Err: fmt.Errorf("unknown schema %q", schema)}
	}
	var rec receiptRecord
	if err := canonical.Decode(blob, &rec); err != nil {
		return damaged(err)
	}
	at, err := time.Parse(time.RFC3339, rec.At)
	switch {
	case err != nil || at.Format(time.RFC3339) != rec.At || !strings.HasSuffix(rec.At, "Z"):
		return damaged(fmt.Errorf("unreadable instant %q", rec.At))
	case rec.Schema != ReceiptSchema:
		return damaged(errors.New("no schema"))
	case rec.Operation == "" || rec.Kind == "" || rec.Goal == "":
		return damaged(errors.New("operation_id, kind or goal_id is empty"))
	case !SHA256.Valid(ObjectID(rec.Request)):
		return damaged(errors.New("request_sha256 is no digest"))
	case rec.Expected != "" && !SHA1.Valid(rec.Expected) && !SHA256.Valid(rec.Expected),
		rec.Parent != "" && !SHA1.Valid(rec.Parent) && !SHA256.Valid(rec.Parent):
		return damaged(errors.New("a revision is no object id"))
	case rec.Result.Kind() != '{':
		return damaged(errors.New("result is not an object"))
	case ReceiptPath(rec.Operation) != path:
		return damaged(fmt.Errorf("it is the receipt of operation %q", rec.Operation))
	}
	return Receipt{
		OperationID: rec.Operation, Kind: rec.Kind, Goal: rec.Goal, Todo: rec.Todo, Request: rec.Request,
		Expected: rec.Expected, Parent: rec.Parent, Result: rec.Result, At: at.UTC(),
	}, nil
}

// FindReceipt looks an operation's receipt up in a snapshot, with the commit that introduced it. nil, nil: there is none.
func (r *Repository) FindReceipt(ctx context.Context, s *Snapshot, operationID string) (*Receipt, error) {
	path := ReceiptPath(operationID)
	blob, ok, err := s.File(ctx, path)
	if err != nil || !ok {
		return nil, err
	}
	receipt, err := DecodeReceipt(path, blob)
	if err != nil {
		return nil, err
	}
	if receipt.Revision, err = r.introduced(ctx, s, receipt.Parent); err != nil {
		return nil, err
	}
	return &receipt, nil
}

// introduced returns the commit of the chain whose parent is the given one: a few steps back natively, else one
// rev-list.
func (r *Repository) introduced(ctx context.Context, s *Snapshot, parent ObjectID) (ObjectID, error) {
	const near = 16
	at := s
	for range near {
		c, err := at.load(ctx)
		if err != nil {
			return "", err
		}
		switch {
		case len(c.parents) == 0 && parent == "", len(c.parents) > 0 && c.parents[0] == parent:
			return at.revision, nil
		case len(c.parents) == 0:
			return "", &DamagedError{Path: string(s.ref), Err: fmt.Errorf("no commit follows %s", parent)}
		}
		at = r.At(s.ref, c.parents[0])
	}
	args := []string{"-c", deltaCache, "rev-list", "--first-parent", string(at.revision), "--"}
	if parent != "" {
		args = []string{"-c", deltaCache, "rev-list", "--first-parent", string(at.revision), "^" + string(parent), "--"}
	}
	out, err := r.git.run(ctx, nil, args...)
	if err != nil {
		return "", &UnavailableError{What: string(s.ref), Err: err}
	}
	lines := strings.Fields(string(out))
	if len(lines) == 0 || !r.format.Valid(ObjectID(lines[len(lines)-1])) {
		return "", &DamagedError{Path: string(s.ref), Err: fmt.Errorf("no commit follows %s", parent)}
	}
	return ObjectID(lines[len(lines)-1]), nil
}
