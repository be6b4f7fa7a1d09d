// Package canonical reads and writes the one JSON form that records are stored in: RFC 8785, members sorted by
// UTF-16 code units, no spaces, ECMAScript numbers, only the escapes the RFC prescribes (continuation.md, section 2).
//
// The law of this package: whatever [Decode] accepts, [Encode] writes back byte for byte. A record with another
// spacing, another order, an unknown or doubled member, a null or an empty optional member is refused, never repaired.
package canonical

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxInteger is the largest integer a stored number may have: 2^53-1, exact in every JSON reader.
const MaxInteger = 1<<53 - 1

// ErrNotCanonical says that bytes are JSON that [Encode] would have written differently.
var ErrNotCanonical = errors.New("not in canonical form")

// Marshal returns the canonical bytes of v, without a final newline. A string that is not UTF-8 is an error.
// It may be called by many at once.
func Marshal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	value := jsontext.Value(b)
	if err := value.Canonicalize(); err != nil {
		return nil, err
	}
	return value, nil
}

// Digest returns the lower-case hex SHA-256 of the canonical bytes of v.
func Digest(v any) (string, error) {
	b, err := Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// Encode returns the stored form of v: canonical bytes and one final newline, which no digest covers.
func Encode(v any) ([]byte, error) {
	b, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// Decode reads what [Encode] wrote into v, a pointer. It refuses everything else: trailing data, invalid UTF-8, lone
// surrogates, doubled and unknown members and letter case as a syntax or semantic error of the JSON library, and what
// reads well but would be written differently as [ErrNotCanonical].
func Decode(b []byte, v any) error {
	body, ok := bytes.CutSuffix(b, []byte("\n"))
	if !ok {
		return fmt.Errorf("no final newline: %w", ErrNotCanonical)
	}
	if err := json.Unmarshal(body, v, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	again, err := Marshal(v)
	if err != nil {
		return err
	}
	if !bytes.Equal(body, again) {
		return ErrNotCanonical
	}
	return nil
}

// Schema returns the value of the member schema, or else schema_version, of a stored JSON object of any kind, so that
// an unknown version can be named before the record is read. It is "" where there is no such string.
func Schema(b []byte) string {
	var head struct {
		Schema  jsontext.Value `json:"schema"`
		Version jsontext.Value `json:"schema_version"`
	}
	if json.Unmarshal(b, &head) != nil {
		return ""
	}
	for _, v := range []jsontext.Value{head.Schema, head.Version} {
		var s string
		if len(v) > 0 && json.Unmarshal(v, &s) == nil {
			return s
		}
	}
	return ""
}
