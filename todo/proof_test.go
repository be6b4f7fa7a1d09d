package todo

import "testing"

func TestProofArguments(t *testing.T) {
	key, version := "execution", int64(3)
	for _, c := range []struct {
		name  string
		proof Proof
		want  Code
		given bool
	}{
		{"none", Proof{}, "", false},
		{"a pair", ProofOf(key, version), "", true},
		{"version 0", ProofOf(key, 0), "", true},
		{"the last version", ProofOf(key, 1<<53-1), "", true},
		{"every character a key may have", ProofOf("AZaz09_.:@/-", 1), "", true},
		{"only the key", Proof{IdempotencyKey: &key}, CodeInvalidUpdate, false},
		{"only the version", Proof{ExpectedVersion: &version}, CodeInvalidUpdate, false},
		{"an empty key", ProofOf("", 1), CodeInvalidUpdate, true},
		{"a key of 161 characters", ProofOf(string(make([]byte, 161)), 1), CodeInvalidUpdate, true},
		{"a key with a space", ProofOf("a b", 1), CodeInvalidUpdate, true},
		{"a negative version", ProofOf(key, -1), CodeInvalidUpdate, true},
		{"a version too great", ProofOf(key, 1<<53), CodeInvalidUpdate, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantCode(t, Decision{}, c.proof.Check(CodeInvalidUpdate), c.want)
			if c.proof.Given() != c.given {
				t.Errorf("given: %v", c.proof.Given())
			}
			call := by("agent-a")
			call.Proof = c.proof
			wantCode(t, Decision{}, CheckCall(call, CodeInvalidUpdate), c.want)
		})
	}
}
