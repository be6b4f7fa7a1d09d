package todo

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// seeds adds the records of testdata of one kind.
func seeds(f *testing.F, kind string) {
	for _, dir := range []string{"ok", "bad"} {
		for name, b := range records(f, dir) {
			if strings.HasPrefix(name, kind) {
				f.Add(b)
			}
		}
	}
}

// wantRefusal checks that an error of a border is a refusal with one of the codes.
func wantRefusal(t *testing.T, err error, codes ...Code) {
	t.Helper()
	r := AsRefusal(err)
	if r == nil || r.Status != Failed || r.Reason == "" {
		t.Fatalf("%v is not a refusal of stored data", err)
	}
	for _, c := range codes {
		if r.Code == c {
			return
		}
	}
	t.Fatalf("code %s of %v", r.Code, err)
}

// Whatever DecodeTodo accepts, EncodeTodo writes back byte for byte.
func FuzzDecodeTodo(f *testing.F) {
	seeds(f, "todo")
	f.Fuzz(func(t *testing.T, b []byte) {
		todo, err := DecodeTodo("todo_a", b)
		if err != nil {
			wantRefusal(t, err, CodeUnsupportedSchema, CodeInvalidProjection)
			return
		}
		again, err := EncodeTodo(todo)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("written back as %s, %v", again, err)
		}
		row := makeRow(TodoPath("todo_a"), b)
		view, err := rowView(row)
		if diff := cmp.Diff(ViewOf(todo), view); diff != "" || err != nil {
			t.Fatalf("row: %v %s", err, diff)
		}
	})
}

// Whatever DecodeGoal accepts, EncodeGoal writes back byte for byte.
func FuzzDecodeGoal(f *testing.F) {
	seeds(f, "goal")
	f.Fuzz(func(t *testing.T, b []byte) {
		goal, err := DecodeGoal("demo", b)
		if err != nil {
			wantRefusal(t, err, CodeUnsupportedSchema, CodeInvalidProjection)
			return
		}
		again, err := EncodeGoal(goal)
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("written back as %s, %v", again, err)
		}
	})
}

// A note has findings exactly if it is stale and a refusal exactly if it is unsupported; a current note and a free text
// are written back byte for byte; what a stale note keeps is a context that the validator has nothing against.
func FuzzJudgeNote(f *testing.F) {
	seeds(f, "note")
	f.Add(encoded(f, currentNote()))
	f.Fuzz(func(t *testing.T, b []byte) {
		j := JudgeNote(b, vectorTodo())
		if (len(j.Findings) > 0) != (j.State == NoteStale) || (j.Refusal != nil) != (j.State == NoteUnsupported) {
			t.Fatalf("got %+v", j)
		}
		if (j.Note != nil) != (j.State == NoteCurrent || j.State == NoteStale) || (j.Facts == "") != (j.State == NoteUnsupported) {
			t.Fatalf("got %+v", j)
		}
		switch j.State {
		case NoteUnsupported:
			wantRefusal(t, j.Refusal, CodeUnsupportedSchema, CodeInvalidProjection)
		case NoteMissing:
			if again, err := EncodeFreeNote(j.Text); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("written back as %s, %v", again, err)
			}
		case NoteCurrent:
			if again, err := canonical.Encode(j.Note); err != nil || !bytes.Equal(again, b) {
				t.Fatalf("written back as %s, %v", again, err)
			}
		case NoteStale:
			kept, err := canonical.Marshal(j.Note.Context)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ParseContext(kept); err != nil && !strings.HasPrefix(err.Error(), "provide at least one of") {
				t.Fatalf("kept %s: %v", kept, err)
			}
		}
	})
}

// A context that is accepted is kept as given, and makes a note that is current on its Todo; one that is not accepted is
// refused with the one code of handoff arguments.
func FuzzContext(f *testing.F) {
	f.Add([]byte(`{"work_summary":"s","next_steps":[],"files_touched":[{"path":"a","action":"read"}]}`))
	f.Add([]byte(`{"rationale":"r","approaches_tried":[{"approach":"a","outcome":"failed","reason":"b"}]}`))
	f.Add([]byte(`{"key_decisions":[{"decision":"a"}],"x":1}`))
	f.Add([]byte(`{"work_summary":"\ud800"}`))
	f.Add([]byte(`{"work_summary":"\ud83d\ude00","source_refs":["a"]} `))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ParseContext(b)
		if err != nil {
			wantRefusal(t, err, CodeInvalidContinuation)
			return
		}
		value, err := oneValue(b)
		if err != nil {
			t.Fatal(err)
		}
		given, err := canonical.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if kept, err := canonical.Marshal(c); err != nil || !bytes.Equal(kept, given) {
			t.Fatalf("given %s, kept %s, %v", given, kept, err)
		}
		todo := vectorTodo()
		note, findings := BuildNote(c, vectorSource, vectorAt, TodoFacts(todo))
		if len(findings) > 0 || JudgeNote(note, todo).State != NoteCurrent {
			t.Fatalf("%s: %v", note, findings)
		}
		todo.Text += "."
		if JudgeNote(note, todo).State != NoteStale {
			t.Fatalf("%s: current on another Todo", note)
		}
	})
}
