package todo

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUnreadableRecordsStayUntouched(t *testing.T) {
	future := []byte(`{"schema_version":"loopx.todo/2"}` + "\n")
	lease := []byte(`{"schema_version":"loopx.lease/1"}` + "\n")
	for _, c := range []struct {
		name string
		file string
		blob []byte
		want Code
	}{
		{"todo of the next schema", TodoPath("todo_a"), future, CodeUnsupportedSchema},
		{"todo that is damaged", TodoPath("todo_a"), []byte("{}\n"), CodeInvalidProjection},
		{"note of the next schema", NotePath("todo_a"), []byte(`{"schema":"loopx.note/2"}` + "\n"), CodeUnsupportedSchema},
		{"note without kind", NotePath("todo_a"), []byte(`{"schema":"loopx.note/1"}` + "\n"), CodeInvalidProjection},
		{"a lease", LeasePath("todo_a"), lease, CodeUnsupportedSchema},
		{"note without its todo", NotePath("todo_x"), freeNote(t, "x"), CodeInvalidProjection},
		{"lease without its todo", LeasePath("todo_x"), lease, CodeUnsupportedSchema},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newDemo(t)
			f.add("todo_a", AddArgs{ClaimedBy: "agent-a"})
			f.put(map[string][]byte{c.file: c.blob})
			id := IDOf(c.file)
			call := f.call("agent-a", id)
			for _, verb := range []func() (Answer, error){
				func() (Answer, error) { return f.Update(f.ctx(), call, UpdateArgs{Title: ptr("t")}) },
				func() (Answer, error) { return f.SetNote(f.ctx(), call, NoteArgs{Clear: true}) },
				func() (Answer, error) { return f.Claim(f.ctx(), call, "agent-a") },
				func() (Answer, error) { return f.Release(f.ctx(), call, ReleaseArgs{}) },
				func() (Answer, error) { return f.Complete(f.ctx(), call, CompleteArgs{}) },
				func() (Answer, error) { return f.Supersede(f.ctx(), call, SupersedeArgs{By: "todo_a"}) },
				func() (Answer, error) { return f.Reopen(f.ctx(), call, ReopenArgs{}) },
				func() (Answer, error) { return f.Archive(f.ctx(), call) },
			} {
				f.refused(c.want, verb)
			}
			if id == "todo_x" {
				f.refused(c.want, func() (Answer, error) { return f.Add(f.ctx(), call, AddArgs{Text: "x"}) })
			}
			if !bytes.Equal(f.file(c.file), c.blob) {
				t.Error("the record was changed")
			}
			f.add("todo_b", AddArgs{})
			list, err := f.List(f.ctx(), "demo", Filter{})
			if err != nil || list.Total != 2 {
				t.Errorf("list: got %+v, %v", list, err)
			}
		})
	}
}

func TestUnreadableTodoIsARow(t *testing.T) {
	f := newDemo(t)
	f.add("todo_b", AddArgs{})
	f.put(map[string][]byte{TodoPath("todo_a"): []byte(`{"schema_version":"loopx.todo/2"}` + "\n")})
	list, err := f.List(f.ctx(), "demo", Filter{Role: RoleAgent})
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Rows) != 2 || list.Rows[0].TodoID != "todo_b" || !list.Rows[0].Readable {
		t.Fatalf("got %+v", list.Rows)
	}
	if diff := cmp.Diff(View{TodoID: "todo_a", Error: CodeUnsupportedSchema}, list.Rows[1]); diff != "" {
		t.Error(diff)
	}
	_, err = f.Show(f.ctx(), "demo", "todo_a")
	wantCode(t, Decision{}, err, CodeUnsupportedSchema)
	f.refused(CodeUnsupportedSchema, func() (Answer, error) {
		return f.Supersede(f.ctx(), f.call("agent-a", "todo_b"), SupersedeArgs{By: "todo_a"})
	})
	f.put(map[string][]byte{NotePath("todo_b"): []byte("[]\n")})
	show, err := f.Show(f.ctx(), "demo", "todo_b")
	if err != nil || show.Note.State != NoteUnsupported || show.Note.Error != CodeInvalidProjection {
		t.Errorf("got %+v, %v", show, err)
	}
}

func TestList(t *testing.T) {
	f := newDemo(t)
	for i, p := range []string{"P1", "", "P0", "P1", ""} {
		id := ID(fmt.Sprintf("todo_%d", i))
		f.add(id, AddArgs{Priority: p, Labels: []string{fmt.Sprintf("n%d", i%2)}})
		if i == 2 {
			f.clock = f.clock.Add(time.Second)
		}
	}
	f.add("todo_u", AddArgs{Role: RoleUser})
	f.add("todo_d", AddArgs{ClaimedBy: "agent-a", Labels: []string{"n1", "x"}})
	f.must(f.Complete(f.ctx(), f.call("agent-a", "todo_d"), CompleteArgs{}))
	f.add("todo_z", AddArgs{ClaimedBy: "agent-a"})
	f.must(f.Complete(f.ctx(), f.call("agent-a", "todo_z"), CompleteArgs{}))
	f.must(f.Archive(f.ctx(), f.call("agent-a", "todo_z")))
	for _, c := range []struct {
		name   string
		filter Filter
		want   []ID
	}{
		{"open work in order", Filter{}, []ID{"todo_2", "todo_0", "todo_3", "todo_1", "todo_4", "todo_u"}},
		{"all", Filter{All: true}, []ID{"todo_2", "todo_0", "todo_3", "todo_1", "todo_4", "todo_d", "todo_u", "todo_z"}},
		{"done", Filter{Status: Done}, []ID{"todo_d"}},
		{"done and archived too", Filter{Status: Done, All: true}, []ID{"todo_d", "todo_z"}},
		{"a user's", Filter{Role: RoleUser}, []ID{"todo_u"}},
		{"with a label", Filter{Labels: []string{"n1"}}, []ID{"todo_3", "todo_1"}},
		{"with two labels", Filter{Labels: []string{"n1", "x"}, All: true}, []ID{"todo_d"}},
		{"with no such label", Filter{Labels: []string{"y"}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := f.List(f.ctx(), "demo", c.filter)
			if err != nil {
				t.Fatal(err)
			}
			var got []ID
			for _, v := range list.Rows {
				got = append(got, v.TodoID)
			}
			if diff := cmp.Diff(c.want, got); diff != "" || list.Total != len(c.want) || list.Revision != f.tip() {
				t.Errorf("total %d, %s", list.Total, diff)
			}
		})
	}
	cut, err := f.List(f.ctx(), "demo", Filter{Limit: 2})
	if err != nil || cut.Total != 6 || len(cut.Rows) != 2 || cut.Rows[1].TodoID != "todo_0" {
		t.Errorf("with a limit: got %+v, %v", cut, err)
	}
	_, err = f.List(f.ctx(), "absent", Filter{})
	wantCode(t, Decision{}, err, CodeGoalNotFound)
	_, err = f.List(f.ctx(), "Bad", Filter{})
	wantCode(t, Decision{}, err, CodeUsage)
}

func TestResolve(t *testing.T) {
	f := newDemo(t)
	for _, id := range []ID{"todo_abcd", "todo_abcdef", "todo_abcx", "todo_1"} {
		f.add(id, AddArgs{})
	}
	for _, c := range []struct {
		prefix string
		want   ID
		code   Code
	}{
		{"todo_abcd", "todo_abcd", ""},
		{"todo_abcde", "todo_abcdef", ""},
		{"todo_abcx", "todo_abcx", ""},
		{"todo_abc", "todo_abc", ""}, // too short to stand for another
		{"todo_1", "todo_1", ""},
		{"todo_zzzz", "todo_zzzz", ""},
		{"nonsense", "nonsense", ""},
	} {
		got, err := f.Resolve(f.ctx(), "demo", c.prefix)
		if got != c.want || CodeOf(err) != c.code {
			t.Errorf("%s: got %q, %v", c.prefix, got, err)
		}
	}
	f.add("todo_abcdzz", AddArgs{})
	f.add("todo_abxy1", AddArgs{})
	f.add("todo_abxy2", AddArgs{})
	_, err := f.Resolve(f.ctx(), "demo", "todo_abxy")
	wantCode(t, Decision{}, err, CodeTodoIDAmbiguous)
	if diff := cmp.Diff([]ID{"todo_abxy1", "todo_abxy2"}, AsRefusal(err).Detail["candidates"]); diff != "" {
		t.Error(diff)
	}
	if got, err := f.Resolve(f.ctx(), "absent", "todo_abcd"); got != "todo_abcd" || err != nil {
		t.Errorf("absent goal: got %q, %v", got, err)
	}
}
