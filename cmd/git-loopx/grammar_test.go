package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eachVerb calls f for every verb that people see.
func eachVerb(t *testing.T, f func(t *testing.T, n *noun, v *verb)) {
	all := nouns()
	for i := range all {
		verbs := all[i].verbs()
		for k := range verbs {
			t.Run(strings.TrimSpace(all[i].name+" "+verbs[k].words), func(t *testing.T) { f(t, &all[i], &verbs[k]) })
		}
	}
}

// TestEveryVerb: the grammar of each verb can be built, each explains itself with an example that parses, and no flag
// has a name that another verb uses for something that takes no value.
func TestEveryVerb(t *testing.T) {
	takesValue := map[string]bool{}
	eachVerb(t, func(t *testing.T, n *noun, v *verb) {
		parser, err := grammar(v.flags())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range parser.Model.Flags {
			if f.Help == "" || !strings.HasSuffix(f.Help, ".") {
				t.Errorf("--%s: help %q", f.Name, f.Help)
			}
			if !f.IsBool() && f.PlaceHolder == "" {
				t.Errorf("--%s has no placeholder", f.Name)
			}
			if f.IsSlice() && f.Tag.Sep != -1 {
				t.Errorf("--%s is split at commas", f.Name)
			}
			if was, seen := takesValue[f.Name]; seen && was == f.IsBool() && f.Name != "clear" {
				t.Errorf("--%s takes a value in one verb and none in another", f.Name)
			}
			takesValue[f.Name] = !f.IsBool()
			if v.quick && f.HasDefault {
				t.Errorf("--%s has a default, which a quick verb without arguments would not get", f.Name)
			}
		}
		if v.hidden {
			return
		}
		text, err := verbHelp(n, v)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "\nexample:\n") || len(text) > 6000 {
			t.Errorf("help of %d bytes: %s", len(text), text)
		}
		if v.about == "" || strings.HasSuffix(v.about, ".") {
			t.Errorf("about %q", v.about)
		}
		line, err := parse(exampleArgs(v.example), nil)
		if err != nil {
			t.Fatalf("example %q: %v", v.example, err)
		}
		if line.noun != n.name || line.verb != v.words {
			t.Errorf("example %q is of %s", v.example, line.kind())
		}
	})
}

// exampleArgs splits an example as a shell would, as far as examples need.
func exampleArgs(example string) []string {
	var args []string
	for _, m := range regexp.MustCompile(`'([^']*)'|"([^"]*)"|>.*|(\S+)`).FindAllStringSubmatch(example, -1) {
		if !strings.HasPrefix(m[0], ">") {
			args = append(args, m[1]+m[2]+m[3])
		}
	}
	if args[0] == "git" {
		return args[2:]
	}
	return args[1:]
}

func TestParse(t *testing.T) {
	for _, test := range []struct {
		args string
		want func(*commandLine) bool
	}{
		{"todo list", func(l *commandLine) bool { return l.action() == "list" && l.kind() == "todo list" && !l.json }},
		{"--json todo list", func(l *commandLine) bool { return l.json }},
		{"todo --format json list", func(l *commandLine) bool { return l.json && l.verb == "list" }},
		{"todo list --format=json", func(l *commandLine) bool { return l.json }},
		{"goal mode set soft_claim", func(l *commandLine) bool {
			return l.action() == "mode set" && l.command.(*goalModeSet).ModeArg == "soft_claim"
		}},
		{"handoff inspect --format json --format digest", func(l *commandLine) bool { return l.json && l.digest }},
		{"todo add --label a,b --label -c --label=", func(l *commandLine) bool {
			return slices.Equal(l.command.(*todoAdd).Label, []string{"a,b", "-c", ""})
		}},
		{"todo note todo_a --text --json", func(l *commandLine) bool { return !l.json && *l.command.(*todoNote).Text == "--json" }},
		{"todo note todo_a --text=-x", func(l *commandLine) bool { return *l.command.(*todoNote).Text == "-x" }},
		{"todo update todo_a --title=", func(l *commandLine) bool { return *l.command.(*todoUpdate).Title == "" }},
		{"todo update todo_a", func(l *commandLine) bool { return l.command.(*todoUpdate).Title == nil }},
		{"todo add -- --text", func(l *commandLine) bool { return l.command.(*todoAdd).TextArg == "--text" }},
		{"handoff prepare --from-context -", func(l *commandLine) bool { return l.command.(*handoffPrepare).FromContext == "-" }},
		{"todo claim -h", func(l *commandLine) bool {
			return slices.Equal(l.command.(*helpCommand).Words, []string{"todo", "claim"})
		}},
		{"todo -h", func(l *commandLine) bool { return slices.Equal(l.command.(*helpCommand).Words, []string{"todo"}) }},
		{"task-lease renew todo_a --json", func(l *commandLine) bool { return l.json && l.kind() == "lease renew" && l.action() == "renew" }},
		{"lease acquire --owner= --expected-version -1", func(l *commandLine) bool {
			c := l.command.(*leaseAcquire)
			return *c.Owner == "" && *c.ExpectedVersion == "-1"
		}},
		{"lease acquire", func(l *commandLine) bool { return l.command.(*leaseAcquire).Owner == nil }},
		{"todo ready --limit 0", func(l *commandLine) bool { return *l.command.(*todoReady).Limit == 0 }},
		{"todo apply -", func(l *commandLine) bool { return l.command.(*todoApply).File == "-" }},
		{"goal acceptance bind --todo a --todo b,c", func(l *commandLine) bool {
			return l.action() == "acceptance bind" && slices.Equal(l.command.(*acceptanceBind).Todo, []string{"a", "b,c"})
		}},
		{"", func(l *commandLine) bool { return l.noun == "help" }},
		{"-h", func(l *commandLine) bool { return l.noun == "help" }},
		{"--version", func(l *commandLine) bool { return l.noun == "version" }},
	} {
		line, err := parse(strings.Fields(test.args), nil)
		if err != nil {
			t.Errorf("%q: %v", test.args, err)
		} else if !test.want(line) {
			t.Errorf("%q: got %+v, %+v", test.args, line, line.command)
		}
	}
}

func TestManualIsCurrent(t *testing.T) {
	want, err := manual()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("git-loopx.1", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("git-loopx.1")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("git-loopx.1 is not what \"git-loopx help --man\" prints; go test -update rewrites it:\n%s", diff)
	}
}

// FuzzArguments: whatever the arguments, the program ends with a status of its table, and where they ask for JSON and
// nothing is written by the verb itself, stdout is one line of JSON.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{"todo add\x00--json", "--format\x00json", "help\x00todo", "version", "goal\x00mode\x00set\x00--mode", "todo\x00list\x00--\x00--json", "-h\x00--json", "task-lease\x00transfer\x00--transfer-claim\x00x\x00--json"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		args := strings.Split(joined, "\x00")
		line, err := parse(args, nil)
		if err == nil {
			switch line.command.(type) {
			case *helpCommand, *versionCommand, *completionCommand:
			default:
				return // what verbs do is for the scripts
			}
		}
		var out, errs bytes.Buffer
		app := &App{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs}
		status := app.Run(context.Background())
		if status != exitOK && status != exitUsage {
			t.Errorf("exit status %d: %s%s", status, &out, &errs)
		}
		if line.json && (strings.Count(out.String(), "\n") != 1 || !strings.HasPrefix(out.String(), "{") || errs.Len() > 0) {
			t.Errorf("stdout %q, stderr %q", &out, &errs)
		}
		if !line.json && status != exitOK && out.Len() > 0 {
			t.Errorf("a failure speaks on stdout: %q", &out)
		}
	})
}
