package projection

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

// FuzzRegion: whatever records say, the region that shows them reads back equal and keeps its lines.
func FuzzRegion(f *testing.F) {
	for _, text := range hostile {
		f.Add(text, text, text, text)
	}
	f.Fuzz(func(t *testing.T, text, title, note, id string) {
		i := item(text)
		i.Title, i.Labels, i.Note = title, []string{text, note}, Note{State: todo.NoteCurrent, Line: note}
		r := regionOf(i)
		r.Title, r.Unreadable = title, []Unreadable{{Record: "todo", ID: todo.ID(id), Code: todo.CodeInvalidProjection}}
		checkRegion(t, r)
	})
}

// FuzzParse: what is accepted is written back byte for byte.
func FuzzParse(f *testing.F) {
	b, err := regionOf(item("a"), item("b")).Text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Parse(b)
		if err != nil {
			if !reflect.ValueOf(r).IsZero() {
				t.Errorf("a refusal comes with %+v", r)
			}
			return
		}
		if again := r.render(); !bytes.Equal(again, b) {
			t.Errorf("%q is written back as %q", b, again)
		}
	})
}

// FuzzSplice: of the file nothing but the goal's own region changes, a second time changes nothing, and the region is
// found as it was given but for its line ends.
func FuzzSplice(f *testing.F) {
	for _, file := range []string{"", "text", "a\r\nb\r", beginDemo + "\n" + endDemo, "x\n" + beginDemo + "\r\nold\r\n" + endDemo + "\r\ny",
		beginOther + "\n" + endOther + "\r\n", beginDemo + "\n" + beginDemo} {
		f.Add([]byte(file), "text")
	}
	f.Fuzz(func(t *testing.T, file []byte, text string) {
		region, err := regionOf(item(text)).Text()
		if err != nil {
			t.Fatal(err)
		}
		was, there, findErr := find(file, "demo")
		got, err := Splice(file, "demo", region)
		if (err == nil) != (findErr == nil) || err != nil && todo.CodeOf(err) != CodeRenderRejected {
			t.Fatalf("%v, %v", err, findErr)
		}
		if err != nil {
			return
		}
		is, ok, err := find(got, "demo")
		if err != nil || !ok {
			t.Fatalf("the region is not found again: %v, %v", ok, err)
		}
		before, after := file, []byte(nil)
		if there {
			before, after = file[:was.from], file[was.to:]
		}
		added := got[min(len(before), is.from):is.from]
		if !bytes.HasPrefix(got, before) || !there && len(bytes.Trim(added, "\r\n")) > 0 || there && len(added) > 0 {
			t.Fatalf("before the region: %q, was %q", got[:is.from], before)
		}
		if rest := got[is.to:]; there && !bytes.Equal(rest, after) || !there && len(bytes.Trim(rest, "\r\n")) > 0 {
			t.Fatalf("after the region: %q, was %q", rest, after)
		}
		if shown := bytes.ReplaceAll(got[is.from:is.to], []byte("\r\n"), []byte("\n")); !bytes.Equal(shown, region) {
			t.Fatalf("the region is %q, was given as %q", shown, region)
		}
		if again, err := Splice(got, "demo", region); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("once more: %v\n%q\n%q", err, got, again)
		}
	})
}
