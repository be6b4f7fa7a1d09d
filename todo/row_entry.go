package todo

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/git-loopx/git-loopx/gitstore"
)

// Entries is a list of Todos of one revision.
type Entries struct {
	Revision gitstore.ObjectID
	Total    int // entries that the filter chose, before Limit
	Rows     []Entry
}

// Entry is a Todo of a list as the cache has it. What is asked for is cut from there. [Ledger.Entries] has seen that all
// of it is there.
type Entry struct {
	// rank is the place in a list as a number: by priority, then creation; records that cannot be read come last.
	rank uint64
	row  *gitstore.Row
}

func entryOf(r *gitstore.Row) Entry {
	k := rowKey(r.Key)
	if !k.readable() {
		return Entry{math.MaxUint64, r}
	}
	return Entry{binary.BigEndian.Uint64(k[:8]) << 8 >> 16, r} // bytes 1 to 6
}

// intact says whether the data is what this version writes.
func (e Entry) intact() bool {
	if !e.key().readable() {
		return true
	}
	u, _ := unpack(e.row.Data)
	u.skip(0, len(viewMembers))
	return u.done()
}

// compareEntries orders a list; within a rank the id decides, and of one id (a record in a wrong place) the path.
func compareEntries(a, b Entry) int {
	if a.rank != b.rank {
		return cmp.Compare(a.rank, b.rank)
	}
	if c := cmp.Compare(IDOf(a.row.Name), IDOf(b.row.Name)); c != 0 {
		return c
	}
	return cmp.Compare(a.row.Name, b.row.Name)
}

// firstOf puts entries in order and cuts them to the first n, 0 being all. Of many it sorts few more than it returns:
// what comes after n others is passed over. The slice that was given is overwritten.
func firstOf(entries []Entry, n int) []Entry {
	if n <= 0 || n >= len(entries) {
		slices.SortFunc(entries, compareEntries)
		return entries
	}
	kept := entries[:0]
	var last *Entry // of the first n so far
	for _, e := range entries {
		if last != nil && compareEntries(e, *last) > 0 {
			continue
		}
		if kept = append(kept, e); len(kept) == 2*n {
			slices.SortFunc(kept, compareEntries)
			kept = kept[:n]
			last = &kept[n-1]
		}
	}
	slices.SortFunc(kept, compareEntries)
	return kept[:n]
}

// TodoID is the id, of a record that cannot be read too.
func (e Entry) TodoID() ID { return IDOf(e.row.Name) }

// Code is the reason code of a record that cannot be read; all else but the id is then empty.
func (e Entry) Code() Code {
	if e.key().readable() {
		return ""
	}
	return Code(e.row.Data)
}

func (e Entry) Role() Role         { return e.key().role() }
func (e Entry) Status() WorkStatus { return e.key().status() }
func (e Entry) Archived() bool     { return e.key().archived() }
func (e Entry) Priority() string   { return e.key().priority() }
func (e Entry) key() rowKey        { return e.row.Key }

// Headline is what a list calls the Todo, its title or else its text, and who claimed it.
func (e Entry) Headline() (headline string, claimedBy AgentID) {
	u, _ := unpack(e.row.Data)
	u.skip(0, atTitle)
	title, text := u.text(), u.text()
	if len(title) == 0 {
		title = text
	}
	if e.key().claimed() {
		u.skip(atText+1, atClaimedBy)
		claimedBy = AgentID(u.text())
	}
	return string(title), claimedBy
}

// AppendJSON appends the [View] of the Todo to b, as [json.Marshal] writes it.
func (e Entry) AppendJSON(b []byte) []byte {
	if e.key().readable() {
		return appendView(b, e.row.Data)
	}
	b = appendText(append(b, `{"todo_id":`...), []byte(e.TodoID()), false)
	b = appendText(append(b, `,"readable":false,"reason_code":`...), e.row.Data, false)
	return append(b, '}')
}

// Size is about the length of what AppendJSON appends.
func (e Entry) Size() int { return len(e.row.Data) + 180 }

// rowLabels returns the labels of a row that can be read.
func rowLabels(r *gitstore.Row) ([]string, error) {
	u, _ := unpack(string(r.Data))
	u.skip(0, atLabels)
	labels := unpackList[string](&u)
	if u.bad {
		return nil, errRow
	}
	return labels, nil
}
