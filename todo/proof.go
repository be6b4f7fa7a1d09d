package todo

import "github.com/git-loopx/git-loopx/gitstore/canonical"

// Proof is a lease proof as given: --task-lease-idempotency-key and --task-lease-expected-version. The zero value is
// none; one nil member is half a pair, which is an argument error naming lease_proof.
type Proof struct {
	IdempotencyKey  *string
	ExpectedVersion *int64 // 0 to 2^53-1
}

// ProofOf is the proof with a key and a version.
func ProofOf(key string, version int64) Proof {
	return Proof{IdempotencyKey: &key, ExpectedVersion: &version}
}

// Given says whether there is a proof.
func (p Proof) Given() bool { return p.IdempotencyKey != nil && p.ExpectedVersion != nil }

// Check refuses half a pair and a pair that no lease could have, with the code of the verb's family.
func (p Proof) Check(family Code) error {
	switch {
	case p.IdempotencyKey == nil && p.ExpectedVersion == nil:
		return nil
	case p.IdempotencyKey == nil:
		return Fail(family, "lease_proof is half: the expected version was given without the idempotency key")
	case p.ExpectedVersion == nil:
		return Fail(family, "lease_proof is half: the idempotency key was given without the expected version")
	case !ValidKey(*p.IdempotencyKey):
		return Fail(family, "lease_proof: the idempotency key %q is not well formed", Clean(*p.IdempotencyKey))
	case *p.ExpectedVersion < 0 || *p.ExpectedVersion > canonical.MaxInteger:
		return Fail(family, "lease_proof: the expected version %d is out of range", *p.ExpectedVersion)
	}
	return nil
}

// request adds the proof, where there is one, to the members of a request digest.
func (p Proof) request(members map[string]any) {
	if p.Given() {
		members["lease_proof"] = map[string]any{"idempotency_key": *p.IdempotencyKey, "expected_version": *p.ExpectedVersion}
	}
}

// ValidKey says whether s may be the idempotency key of a lease: ^[A-Za-z0-9_.:@/-]{1,160}$.
func ValidKey(s string) bool {
	return len(s) >= 1 && len(s) <= 160 && all(s, func(c byte) bool {
		switch c {
		case '_', '.', ':', '@', '/', '-':
			return true
		}
		return lower(c) || digit(c) || 'A' <= c && c <= 'Z'
	})
}
