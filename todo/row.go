package todo

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/git-loopx/git-loopx/gitstore"
)

// rowVersion names the form of rows below; another form needs another name.
const rowVersion = "todo/1"

// rowKey is what lists, archiving and the duplicate check look at in a row without decoding it:
//
//	byte  0      bit 0 readable, 1 role user, 2 archived, 3 claimed, 4 and 5 status
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
)

var statuses = [4]WorkStatus{Open, Done, Blocked, Deferred}

// makeRow is the row of a file below "todos". One that cannot be read is a row too; its data is the reason code.
func makeRow(file string, blob []byte) gitstore.Row {
	id := idOf(file)
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
func (k rowKey) status() WorkStatus { return statuses[k[0]/bitStatus&3] }
func (k rowKey) completed() string  { return string(k[7:12]) }

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

// compareRows orders a list: priority, creation, id; records that cannot be read come last.
func compareRows(a, b *gitstore.Row) int {
	ka, kb := rowKey(a.Key), rowKey(b.Key)
	if ka.readable() != kb.readable() {
		if ka.readable() {
			return -1
		}
		return 1
	}
	if c := bytes.Compare(a.Key[1:7], b.Key[1:7]); c != 0 {
		return c
	}
	return strings.Compare(string(idOf(a.Name)), string(idOf(b.Name)))
}

// rowView decodes a row. Data that this version did not write is a defect of the cache.
func rowView(r gitstore.Row) (View, error) {
	if !rowKey(r.Key).readable() {
		return View{TodoID: idOf(r.Name), Error: Code(r.Data)}, nil
	}
	return unpackView(string(r.Data))
}

// A packed view is its members in a fixed order, each with its length before it, so that a list of ten thousand is cut
// from the cache and not parsed.

func packView(v View) []byte {
	var b []byte
	for _, s := range v.strings() {
		b = appendString(b, *s)
	}
	b = appendStrings(b, v.Labels)
	b = appendStrings(b, v.RequiredWriteScopes)
	b = appendStrings(b, v.ExcludedAgents)
	b = appendStrings(b, v.DependsOn)
	return appendStrings(b, v.SuccessorTodoIDs)
}

var errRow = errors.New("a row of the cache of todos is damaged")

func unpackView(data string) (View, error) {
	v := View{Readable: true}
	u := unpacker{rest: data}
	for _, s := range v.strings() {
		*s = u.string()
	}
	v.Labels = unpackStrings[string](&u)
	v.RequiredWriteScopes = unpackStrings[string](&u)
	v.ExcludedAgents = unpackStrings[AgentID](&u)
	v.DependsOn = unpackStrings[ID](&u)
	v.SuccessorTodoIDs = unpackStrings[ID](&u)
	if u.bad || u.rest != "" {
		return View{}, errRow
	}
	return v, nil
}

// strings lists the members of a readable view that are one text each.
func (v *View) strings() [19]*string {
	return [...]*string{
		(*string)(&v.TodoID), (*string)(&v.Role), (*string)(&v.Status), (*string)(&v.Archive),
		&v.Priority, &v.Title, &v.Text, &v.TaskClass, (*string)(&v.ClaimedBy), (*string)(&v.BoundAgent),
		(*string)(&v.ResumeAt), &v.Evidence, &v.Reason, (*string)(&v.SupersededBy),
		(*string)(&v.CreatedBy), (*string)(&v.LastActorAgentID),
		(*string)(&v.CreatedAt), (*string)(&v.UpdatedAt), (*string)(&v.CompletedAt),
	}
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendStrings[T ~string](b []byte, list []T) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	for _, s := range list {
		b = appendString(b, string(s))
	}
	return b
}

type unpacker struct {
	rest string
	bad  bool
}

// number reads a length, which cannot exceed what is left.
func (u *unpacker) number() int {
	var n uint64
	for i := 0; i < len(u.rest) && i < 5; i++ {
		c := u.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			u.rest = u.rest[i+1:]
			if n <= uint64(len(u.rest)) {
				return int(n)
			}
			break
		}
	}
	u.bad, u.rest = true, ""
	return 0
}

func (u *unpacker) string() string {
	n := u.number()
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

func unpackStrings[T ~string](u *unpacker) []T {
	n := u.number()
	if n == 0 {
		return nil
	}
	list := make([]T, n)
	for i := range list {
		list[i] = T(u.string())
	}
	return list
}
