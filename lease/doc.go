// Package lease holds the rules of leases: who may execute a claimed Todo, for how long, and how that right is renewed,
// handed over and given back (continuation.md, sections 1.4 and 6).
//
// A lease is proved by its key and its version. Its version goes up with every change but a release, and its epoch
// whenever it has a new holder, so that a holder which lost it can change nothing. Leases coordinate processes that
// cooperate: any reader of the repository sees them, and they prevent confusion, not attack.
//
// The rules are pure: a state, a request and an instant in, a decision or a refusal out. [Ledger] gathers, asks a rule and
// applies; it is also what package todo asks about leases.
package lease
