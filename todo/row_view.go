package todo

import (
	"encoding/binary"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// A packed view is a byte that says whether its texts are plain, and then the members of the view in their order, each
// text with its length before it and each list with its number, so that a list of ten thousand is cut from the cache
// and not parsed.

// The first byte of a packed view: may its texts stand between quotes in JSON as they are?
const (
	textsAny   = 0
	textsPlain = 1
)

// viewMembers are the members of a packed view, with what JSON has before their values.
var viewMembers = [...]struct {
	name string
	list bool
}{
	{name: `"todo_id":`},
	{name: `,"role":`},
	{name: `,"status":`},
	{name: `,"archive_state":`},
	{name: `,"priority":`},
	{name: `,"title":`},
	{name: `,"text":`},
	{name: `,"task_class":`},
	{name: `,"labels":`, list: true},
	{name: `,"claimed_by":`},
	{name: `,"bound_agent":`},
	{name: `,"excluded_agents":`, list: true},
	{name: `,"depends_on":`, list: true},
	{name: `,"resume_at":`},
	{name: `,"required_write_scopes":`, list: true},
	{name: `,"evidence":`},
	{name: `,"reason":`},
	{name: `,"superseded_by":`},
	{name: `,"successor_todo_ids":`, list: true},
	{name: `,"created_by":`},
	{name: `,"last_actor_agent_id":`},
	{name: `,"created_at":`},
	{name: `,"updated_at":`},
	{name: `,"completed_at":`},
}

// Where the members that are looked for begin.
const (
	atTitle        = 5
	atText         = 6
	atLabels       = 8
	atClaimedBy    = 9
	atDependsOn    = 12
	atSupersededBy = 17
)

func packView(v View) []byte {
	b := []byte{textsPlain}
	b = appendStrings(b, v.TodoID)
	b = appendStrings(b, v.Role)
	b = appendStrings(b, v.Status)
	b = appendStrings(b, v.Archive)
	b = appendStrings(b, v.Priority, v.Title, v.Text, v.TaskClass)
	b = appendList(b, v.Labels)
	b = appendStrings(b, v.ClaimedBy, v.BoundAgent)
	b = appendList(b, v.ExcludedAgents)
	b = appendList(b, v.DependsOn)
	b = appendStrings(b, v.ResumeAt)
	b = appendList(b, v.RequiredWriteScopes)
	b = appendStrings(b, v.Evidence, v.Reason)
	b = appendStrings(b, v.SupersededBy)
	b = appendList(b, v.SuccessorTodoIDs)
	b = appendStrings(b, v.CreatedBy, v.LastActorAgentID)
	return appendStrings(b, v.CreatedAt, v.UpdatedAt, v.CompletedAt)
}

// appendStrings packs texts, and notes in the first byte if one is not plain.
func appendStrings[T ~string](b []byte, texts ...T) []byte {
	for _, s := range texts {
		if !plain(string(s)) {
			b[0] = textsAny
		}
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return b
}

func appendList[T ~string](b []byte, list []T) []byte {
	return appendStrings(binary.AppendUvarint(b, uint64(len(list))), list...)
}

// plain says whether JSON has a text as it is.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

var errRow = errors.New("a row of the cache of todos is damaged")

func unpackView(data string) (View, error) {
	u, _ := unpack(data)
	v := View{
		TodoID: ID(u.text()), Readable: true,
		Role: Role(u.text()), Status: WorkStatus(u.text()), Archive: Archive(u.text()),
		Priority: u.text(), Title: u.text(), Text: u.text(), TaskClass: u.text(), Labels: unpackList[string](&u),
		ClaimedBy: AgentID(u.text()), BoundAgent: AgentID(u.text()), ExcludedAgents: unpackList[AgentID](&u),
		DependsOn: unpackList[ID](&u), ResumeAt: Instant(u.text()), RequiredWriteScopes: unpackList[string](&u),
		Evidence: u.text(), Reason: u.text(), SupersededBy: ID(u.text()), SuccessorTodoIDs: unpackList[ID](&u),
		CreatedBy: AgentID(u.text()), LastActorAgentID: AgentID(u.text()),
		CreatedAt: Instant(u.text()), UpdatedAt: Instant(u.text()), CompletedAt: Instant(u.text()),
	}
	if !u.done() {
		return View{}, errRow
	}
	return v, nil
}

// appendView appends an intact packed view as JSON.
func appendView(b, data []byte) []byte {
	u, plain := unpack(data)
	b = appendText(append(b, `{"todo_id":`...), u.text(), plain)
	b = append(b, `,"readable":true`...)
	for i := 1; i < len(viewMembers); i++ {
		m := &viewMembers[i]
		if !m.list {
			if s := u.text(); len(s) > 0 {
				b = appendText(append(b, m.name...), s, plain)
			}
			continue
		}
		if n := u.number(); n > 0 {
			b = append(b, m.name...)
			next := byte('[')
			for range n {
				b = appendText(append(b, next), u.text(), plain)
				next = ','
			}
			b = append(b, ']')
		}
	}
	return append(b, '}')
}

func appendText(b, s []byte, plain bool) []byte {
	if plain {
		return append(append(append(b, '"'), s...), '"')
	}
	b, _ = jsontext.AppendQuote(b, s) // its error says that bytes that are not UTF-8 were replaced
	return b
}

// unpacker walks through a packed view.
type unpacker[T string | []byte] struct {
	rest T
	bad  bool
}

func unpack[T string | []byte](data T) (u unpacker[T], plain bool) {
	if len(data) == 0 || data[0] > textsPlain {
		return unpacker[T]{bad: true}, false
	}
	return unpacker[T]{rest: data[1:]}, data[0] == textsPlain
}

// done says whether all was there and nothing more.
func (u *unpacker[T]) done() bool { return !u.bad && len(u.rest) == 0 }

// number reads a length, which cannot exceed what is left.
func (u *unpacker[T]) number() int {
	if len(u.rest) > 0 && u.rest[0] < 0x80 {
		if n := int(u.rest[0]); n < len(u.rest) {
			u.rest = u.rest[1:]
			return n
		}
	}
	return u.longNumber()
}

func (u *unpacker[T]) longNumber() int {
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
	u.bad, u.rest = true, u.rest[:0]
	return 0
}

func (u *unpacker[T]) text() T {
	n := u.number()
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

// skip passes over members from one to another.
func (u *unpacker[T]) skip(from, to int) {
	for _, m := range viewMembers[from:to] {
		n := 1
		if m.list {
			n = u.number()
		}
		for range n {
			u.text()
		}
	}
}

func unpackList[T ~string](u *unpacker[string]) []T {
	n := u.number()
	if n == 0 {
		return nil
	}
	list := make([]T, n)
	for i := range list {
		list[i] = T(u.text())
	}
	return list
}
