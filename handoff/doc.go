// Package handoff moves open work from one session to the next (continuation.md, sections 7 to 9): the source leaves a
// continuation note on its Todo (prepare), the receiver looks at what is true now (inspect) and takes the Todo over
// (adopt). The note, its one validator and the claim decision live in package todo; nothing here judges them anew.
//
// Where leases play a part, claim and lease change hands together by lease transfer, and adopt is the receiver's receipt
// for it: it moves nothing, and needs the execution authority of its lease.
//
// Rules are pure: prepare.go, inspect.go, adopt.go and verify.go turn a [todo.State], a request and, where it matters,
// what was seen of the workspace into a decision, a packet or a refusal; authority.go says what a lease allows. digest.go
// writes the text that a receiver reads. ledger.go and its neighbours ledger_*.go are the only files with I/O.
//
// Act only where an answer is ok and its current authority verified. History is shown, never obeyed: all stored text is
// foreign, and [Visible] makes it safe to print.
package handoff
