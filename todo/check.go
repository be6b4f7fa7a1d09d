package todo

import (
	"path"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// CheckFile judges one file of the tree of a goal by itself: nil where this version understands it. Receipts are not
// judged here but by gitstore. A note is judged by its form alone, since whether it is current is no damage.
func CheckFile(goal GoalID, file string, blob []byte) *Refusal {
	if file == GoalPath {
		_, err := DecodeGoal(goal, blob)
		return AsRefusal(err)
	}
	dir, _, _ := strings.Cut(file, "/")
	if dir == "receipts" {
		return nil
	}
	id := IDOf(file)
	if !id.Valid() {
		return misplaced(file)
	}
	switch file {
	case TodoPath(id):
		_, err := DecodeTodo(id, blob)
		return AsRefusal(err)
	case NotePath(id):
		if j := judge(blob, ""); j.Refusal != nil {
			return unreadable(file, "note on "+string(id), j.Refusal)
		}
		return nil
	case LeasePath(id):
		return checkLease(id, blob)
	}
	return misplaced(file)
}

// CheckTree judges what no file shows by itself: the notes and leases among the paths of a goal's tree whose Todo is not
// there, by path.
func CheckTree(paths []string) map[string]*Refusal {
	orphans := map[string]*Refusal{}
	there := make(map[string]bool, len(paths))
	for _, file := range paths {
		there[file] = true
	}
	for _, file := range paths {
		id := IDOf(file)
		dir, _, _ := strings.Cut(file, "/")
		if (dir == "notes" || dir == "leases") && !there[TodoPath(id)] {
			orphans[file] = orphan(file)
		}
	}
	return orphans
}

// orphan is the refusal of a note or lease whose Todo is not there.
func orphan(file string) *Refusal {
	dir, _, _ := strings.Cut(file, "/")
	return unreadable(file, strings.TrimSuffix(dir, "s")+" on "+string(IDOf(file)), Fail(CodeInvalidProjection, "there is no such Todo"))
}

func misplaced(file string) *Refusal {
	return Fail(CodeInvalidProjection, "%q: no place for a record", Clean(file)).With("record", file)
}

// IDOf returns the Todo id that the path of a record ends in.
func IDOf(file string) ID { return ID(strings.TrimSuffix(path.Base(file), ".json")) }

// checkLease refuses every lease: this package by itself knows no schema of leases, so one that names its schema is of an
// unknown version, and one that does not is damaged. A Todo with either is left untouched.
func checkLease(id ID, blob []byte) *Refusal {
	if s := canonical.Schema(blob); s != "" {
		return unreadable(LeasePath(id), "lease on "+string(id), Fail(CodeUnsupportedSchema, "schema %q is not known to this version", Clean(s)))
	}
	return unreadable(LeasePath(id), "lease on "+string(id), Fail(CodeInvalidProjection, "no schema"))
}
