package todo

import "github.com/git-loopx/git-loopx/gitstore"

// State is what a rule may know: the part of one revision of a goal that a request touches, read at once.
//
// The lease on the Todo has no place yet. It will come in as a value that package lease makes, judged at one instant,
// and the rules will consult it where continuation.md, section 4, names lease codes.
type State struct {
	Revision gitstore.ObjectID // the tip it was read from
	Goal     Goal
	Todo     *Todo  // nil: there is none of this id
	Note     []byte // stored bytes of the note on the Todo; nil: none
}

// Decision is what a rule wants written. Zero members stay as they are.
type Decision struct {
	Subject string // of the commit: "todo claim todo_a"
	Goal    *Goal
	Todos   []Todo        // records as they are afterwards
	Notes   map[ID][]byte // stored bytes afterwards, nil to remove
	Result  any           // the nested result, kept in the receipt
}
