// Package projection keeps a Markdown view of a goal's Todos in a file of the work tree (continuation.md, section 11). The
// view is for people to read: nothing is ever read back from it, and the authority stays in the goal's ref.
//
// The rules are pure: [Compose] gathers what is shown into a [Region], [Region.Text] writes it, [Parse] reads what was
// written, [Splice] puts it between its two markers and keeps every other byte of the file. What a Todo says is foreign
// text: in the visible lines it is one line without markup, and in the machine's lines it is percent-encoded, so that it
// can neither form a marker nor end a comment. The files ledger*.go are the only ones with I/O.
package projection
