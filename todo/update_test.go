package todo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

func TestUpdateArguments(t *testing.T) {
	for _, c := range []struct {
		name string
		args UpdateArgs
		want Code
	}{
		{"a title", UpdateArgs{Title: ptr("x")}, ""},
		{"a title cleared", UpdateArgs{Clear: []string{"title"}}, ""},
		{"an empty title clears", UpdateArgs{Title: ptr("")}, ""},
		{"a note alone", UpdateArgs{Note: ptr("x")}, ""},
		{"labels in any order, doubled", UpdateArgs{Labels: &[]string{"b", "a", "b"}}, ""},
		{"nothing", UpdateArgs{}, CodeInvalidUpdate},
		{"given and cleared", UpdateArgs{Title: ptr("x"), Clear: []string{"title"}}, CodeInvalidUpdate},
		{"the text cleared", UpdateArgs{Clear: []string{"text"}}, CodeInvalidUpdate},
		{"an empty text", UpdateArgs{Text: ptr("")}, CodeInvalidUpdate},
		{"the status cleared", UpdateArgs{Clear: []string{"status"}}, CodeInvalidUpdate},
		{"the claim cleared", UpdateArgs{Clear: []string{"claimed_by"}}, CodeInvalidUpdate},
		{"done", UpdateArgs{Status: ptr(Done)}, CodeInvalidUpdate},
		{"another status", UpdateArgs{Status: ptr(WorkStatus("wip"))}, CodeInvalidUpdate},
		{"a title of two lines", UpdateArgs{Title: ptr("a\nb")}, CodeInvalidUpdate},
		{"a text of 4001 characters", UpdateArgs{Text: ptr(strings.Repeat("😀", 4001))}, CodeInvalidUpdate},
		{"a text of 4000 characters", UpdateArgs{Text: ptr(strings.Repeat("😀", 4000))}, ""},
		{"a text that is not UTF-8", UpdateArgs{Text: ptr("\xff")}, CodeInvalidUpdate},
		{"a scope that leaves", UpdateArgs{RequiredWriteScopes: &[]string{"../x"}}, CodeInvalidUpdate},
		{"a blank note", UpdateArgs{Note: ptr("\u3000")}, CodeInvalidUpdate},
		{"a blank reason", UpdateArgs{Reason: ptr(" ")}, CodeInvalidUpdate},
		{"a priority too low", UpdateArgs{Priority: ptr("P5")}, CodeInvalidUpdate},
	} {
		t.Run(c.name, func(t *testing.T) { wantCode(t, Decision{}, c.args.check(), c.want) })
	}
}

func TestUpdateChecks(t *testing.T) {
	args := UpdateArgs{Priority: ptr("P1")}
	for _, c := range []struct {
		name  string
		state State
		actor AgentID
		want  Code
	}{
		{"mine", demo(), "agent-a", ""},
		{"unclaimed, by any registered agent", demo(claimedBy("")), "agent-c", ""},
		{"mine and blocked, where leases are needed", demo(inStatus(Blocked), hardLease), "agent-a", ""},
		{"not there", demo(absent), "agent-a", CodeTodoNotFound},
		{"archived and done", demo(archived, inStatus(Done)), "agent-a", CodeTodoArchived},
		{"done", demo(inStatus(Done), excludes("agent-a")), "agent-a", CodeUpdateTarget},
		{"excluded", demo(excludes("agent-b")), "agent-b", CodeActorExcluded},
		{"bound away", demo(boundTo("agent-a")), "agent-b", CodeBoundAgentMismatch},
		{"another's", demo(hardLease), "agent-b", CodeUpdateOwnerMismatch},
		{"mine and open, where leases are needed", demo(hardLease), "agent-a", CodeModeRequiresLease},
		{"unclaimed, where leases are needed", demo(claimedBy(""), hardLease), "agent-a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideUpdate(c.state, by(c.actor), args, Dependencies{}, testAt)
			wantCode(t, d, err, c.want)
			d, err = decideNote(c.state, by(c.actor), NoteArgs{Text: "x"}, testAt)
			wantCode(t, d, err, c.want)
		})
	}
}

func TestUpdateEffects(t *testing.T) {
	old := freeNote(t, "old")
	for _, c := range []struct {
		name   string
		state  State
		args   UpdateArgs
		fields []string
		next   func(*Todo)
		note   *string
	}{
		{"equal patch", demo(), UpdateArgs{Text: ptr(vectorTodo().Text)}, nil, nil, nil},
		{"clearing what is not there", demo(), UpdateArgs{Clear: []string{"labels"}}, nil, nil, nil},
		{"equal note", demo(noted(old)), UpdateArgs{Note: ptr("old")}, nil, nil, nil},
		{"labels become a set", demo(), UpdateArgs{Labels: &[]string{"b", "a", "b"}}, []string{"labels"}, func(t *Todo) { t.Labels = []string{"a", "b"} }, nil},
		{"several at once", demo(), UpdateArgs{Status: ptr(Blocked), Reason: ptr("no disk"), BoundAgent: ptr(AgentID("agent-a"))}, []string{"bound_agent", "reason", "status"}, func(t *Todo) {
			t.Status, t.Reason, t.BoundAgent = Blocked, "no disk", "agent-a"
		}, nil},
		{"note beside a member", demo(noted(old)), UpdateArgs{Title: ptr("t"), Note: ptr("new")}, []string{"title", "note"}, func(t *Todo) { t.Title = "t" }, ptr("new")},
		{"note alone", demo(), UpdateArgs{Note: ptr("new")}, []string{"note"}, func(*Todo) {}, ptr("new")},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideUpdate(c.state, by("agent-a"), c.args, Dependencies{}, testAt)
			if err != nil {
				t.Fatal(err)
			}
			result := d.Result.(UpdateResult)
			if diff := cmp.Diff(c.fields, result.Fields); diff != "" || result.Changed != (c.fields != nil) || d.Changes() != result.Changed {
				t.Errorf("got %+v", d)
			}
			var want []Todo
			if c.next != nil {
				next := vectorTodo().touched("agent-a", testAt)
				c.next(&next)
				want = []Todo{next}
			}
			if diff := cmp.Diff(want, d.Todos); diff != "" {
				t.Error(diff)
			}
			var note map[ID][]byte
			if c.note != nil {
				note = map[ID][]byte{"todo_a": freeNote(t, *c.note)}
			}
			if diff := cmp.Diff(note, d.Notes); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUpdateDoesNotTouchWhatItWasGiven(t *testing.T) {
	s := demo(func(s *State) { s.Todo.Labels = []string{"a", "b"} })
	if _, err := decideUpdate(s, by("agent-a"), UpdateArgs{Labels: &[]string{"c"}}, Dependencies{}, testAt); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, s.Todo.Labels); diff != "" {
		t.Error(diff)
	}
}

func TestNoteEffects(t *testing.T) {
	current := vectorNote(t)
	clear := NoteArgs{Clear: true}
	d, err := decideNote(demo(noted(current)), by("agent-a"), clear, testAt)
	if err != nil {
		t.Fatal(err)
	}
	want := UpdateResult{
		Schema: UpdateSchema, TodoID: "todo_a", Changed: true, Fields: []string{"note"},
		ReplacedNote: &ReplacedNote{State: NoteCurrent, Facts: NoteFacts(current), SourceAgent: "agent-a", SourceSession: "source-session", PreparedAt: vectorAt},
	}
	if diff := cmp.Diff(want, d.Result); diff != "" {
		t.Error(diff)
	}
	if b, there := d.Notes["todo_a"]; b != nil || !there {
		t.Errorf("the note is not removed: %v", d.Notes)
	}
	if d, err := decideNote(demo(), by("agent-a"), clear, testAt); err != nil || d.Changes() {
		t.Errorf("nothing to clear: got %+v, %v", d, err)
	}
	for _, bad := range []NoteArgs{{}, {Text: " "}, {Text: "a", Clear: true}, {Text: strings.Repeat("a", 8001)}} {
		wantCode(t, Decision{}, bad.check(), CodeInvalidUpdate)
	}
}

func TestReleaseChecks(t *testing.T) {
	override := ReleaseArgs{Override: true, Reason: "left the team"}
	for _, c := range []struct {
		name    string
		state   State
		args    ReleaseArgs
		actor   AgentID
		want    Code
		changed bool
	}{
		{"mine", demo(), ReleaseArgs{}, "agent-a", "", true},
		{"mine and blocked", demo(inStatus(Blocked)), ReleaseArgs{}, "agent-a", "", true},
		{"another's, overridden", demo(), override, "agent-b", "", true},
		{"unclaimed", demo(claimedBy("")), ReleaseArgs{}, "agent-b", "", false},
		{"unclaimed and done", demo(claimedBy(""), inStatus(Done)), ReleaseArgs{}, "agent-b", "", false},
		{"not there", demo(absent), ReleaseArgs{}, "agent-a", CodeTodoNotFound, false},
		{"done", demo(inStatus(Done)), ReleaseArgs{}, "agent-b", CodeTodoNotOpen, false},
		{"another's", demo(), ReleaseArgs{Reason: "mine now"}, "agent-b", CodeClaimOwnerMismatch, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := decideRelease(c.state, by(c.actor), c.args, testAt)
			wantCode(t, d, err, c.want)
			if d.Changes() != c.changed || c.changed && d.Todos[0].ClaimedBy != "" {
				t.Errorf("got %+v", d)
			}
		})
	}
	d, _ := decideRelease(demo(), by("agent-b"), override, testAt)
	want := ReleaseResult{Schema: ClaimSchema, TodoID: "todo_a", Changed: true, ReleasedFrom: "agent-a", Override: true, Reason: "left the team"}
	if diff := cmp.Diff(want, d.Result); diff != "" {
		t.Error(diff)
	}
	wantCode(t, Decision{}, ReleaseArgs{Override: true}.check(), CodeInvalidClaim)
	wantCode(t, Decision{}, ReleaseArgs{Override: true, Reason: " "}.check(), CodeInvalidClaim)
}
