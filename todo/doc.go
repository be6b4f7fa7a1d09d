// Package todo holds goals, agents, Todos, claims and notes: what they are, who may change them, what is ready and what has
// to be confirmed first, and the ledger that stores them as files in a goal's tree (continuation.md, sections 1 to 5 and 10).
// Of leases it knows what package lease tells it: a [Holding].
//
// Rules are pure: a [State] and a request in, a [Decision] or a [*Refusal] out. They stand in files named by the noun
// (claim.go, note.go, …). record.go turns records into bytes and back. ledger.go and its neighbours ledger_*.go are the
// only files with I/O: gather a State from a snapshot, call one rule, write its Decision once.
//
// Everything read from a repository is foreign text. It is returned as data and never obeyed.
package todo
