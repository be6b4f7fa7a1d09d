package todo

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"
	"slices"

	"github.com/git-loopx/git-loopx/gitstore"
)

// rowVersion names the form of rows below; another form needs another name.
const rowVersion = "todo/3"

// rowKey is what lists, ready, archiving and the duplicate check look at in a row without decoding it:
//
//	byte  0      bit 0 readable, 1 role user, 2 archived, 3 claimed, 4 and 5 status, 6 superseded,
//	             7 conditional: depends on others, is to be resumed at a time, or is not for every agent
//	byte  1      priority 0 to 4, 5 for none
//	bytes 2-6    created_at, seconds since 1970, big endian, 0 for none
//	bytes 7-11   completed_at, likewise
//	bytes 12-19  first bytes of the SHA-256 of role and text
//	bytes 20-23  a bit for each label
//
// Bytes 1 to 6 and then the id order a list.
type rowKey [24]byte

const (
	bitReadable = 1 << iota
	bitUser
	bitArchived
	bitClaimed
	bitStatus // and the next
	_
	bitSuperseded
	bitConditional
)

var (
	statuses   = [4]WorkStatus{Open, Done, Blocked, Deferred}
	priorities = [6]string{"P0", "P1", "P2", "P3", "P4", ""}
)

// makeRow is the row of a file below "todos". One that cannot be read is a row too; its data is the reason code.
func makeRow(file string, blob []byte) gitstore.Row {
	id := IDOf(file)
	t, err := DecodeTodo(id, blob)
	if err == nil && file != TodoPath(id) {
		err = misplaced(file)
	}
	if err != nil {
		return gitstore.Row{Name: file, Data: []byte(CodeOf(err))}
	}
	return gitstore.Row{Name: file, Key: keyOf(t), Data: packView(ViewOf(t))}
}

func keyOf(t Todo) rowKey {
	var k rowKey
	k[0] = bitReadable | byte(slices.Index(statuses[:], t.Status))*bitStatus
	if t.Role == RoleUser {
		k[0] |= bitUser
	}
	if t.ArchiveState == Archived {
		k[0] |= bitArchived
	}
	if t.ClaimedBy != "" {
		k[0] |= bitClaimed
	}
	if t.SupersededBy != "" {
		k[0] |= bitSuperseded
	}
	if len(t.DependsOn) > 0 || t.ResumeAt != "" || t.BoundAgent != "" || len(t.ExcludedAgents) > 0 {
		k[0] |= bitConditional
	}
	k[1] = 5
	if t.Priority != "" {
		k[1] = t.Priority[1] - '0'
	}
	putSeconds(k[2:7], t.CreatedAt)
	putSeconds(k[7:12], t.CompletedAt)
	same := sameHash(t.Role, t.Text)
	copy(k[12:20], same[:])
	for _, l := range t.Labels {
		orLabel(k[20:], l)
	}
	return k
}

func putSeconds(b []byte, i Instant) {
	var wide [8]byte
	if t, ok := i.Time(); ok {
		binary.BigEndian.PutUint64(wide[:], uint64(t.Unix()))
	}
	copy(b, wide[3:])
}

// sameHash is equal for Todos of the same role and text, and for hardly any others.
func sameHash(role Role, text string) [8]byte {
	sum := sha256.Sum256([]byte(string(role) + "\n" + text))
	return [8]byte(sum[:8])
}

func orLabel(bits []byte, label string) {
	h := fnv.New32a()
	h.Write([]byte(label))
	n := h.Sum32() % 32
	bits[n/8] |= 1 << (n % 8)
}

func (k rowKey) readable() bool     { return k[0]&bitReadable != 0 }
func (k rowKey) archived() bool     { return k[0]&bitArchived != 0 }
func (k rowKey) claimed() bool      { return k[0]&bitClaimed != 0 }
func (k rowKey) superseded() bool   { return k[0]&bitSuperseded != 0 }
func (k rowKey) conditional() bool  { return k[0]&bitConditional != 0 }
func (k rowKey) status() WorkStatus { return statuses[k[0]/bitStatus&3] }
func (k rowKey) priority() string   { return priorities[min(int(k[1]), 5)] }
func (k rowKey) completed() string  { return string(k[7:12]) }

// ended says whether the Todo is done or put away, which no list of open work shows.
func (k rowKey) ended() bool { return k.archived() || k.status() == Done }

// workable says whether the Todo is open work for agents.
func (k rowKey) workable() bool {
	const bitsStatus = bitStatus | bitStatus<<1 // none of them: open
	return k[0]&(bitReadable|bitUser|bitArchived|bitsStatus) == bitReadable
}

func (k rowKey) role() Role {
	if k[0]&bitUser != 0 {
		return RoleUser
	}
	return RoleAgent
}

// same says whether the Todo may have that role and text; the record has the last word.
func (k rowKey) same(h [8]byte) bool { return [8]byte(k[12:20]) == h }

// mayHave says whether the Todo may have all labels; the view has the last word.
func (k rowKey) mayHave(labels []string) bool {
	if len(labels) == 0 {
		return true
	}
	var want [4]byte
	for _, l := range labels {
		orLabel(want[:], l)
	}
	for i, b := range want {
		if k[20+i]&b != b {
			return false
		}
	}
	return true
}

// rowView decodes a row. Data that this version did not write is a defect of the cache.
func rowView(r gitstore.Row) (View, error) {
	if !rowKey(r.Key).readable() {
		return View{TodoID: IDOf(r.Name), Error: Code(r.Data)}, nil
	}
	return unpackView(string(r.Data))
}
