package main

import (
	"context"
	"embed"
	"slices"
	"strings"

	"github.com/git-loopx/git-loopx/handoff"
	"github.com/git-loopx/git-loopx/todo"
)

//go:embed completion/*
var completionScripts embed.FS

func completionVerbs() []verb {
	return []verb{{quick: true, flags: func() command { return &completionCommand{} },
		about:   "print a completion script for bash, zsh or fish",
		detail:  "The script completes git-loopx, and git loopx through git's own completion.",
		example: "git-loopx completion bash > ~/.local/share/bash-completion/completions/git-loopx"}}
}

type completionCommand struct {
	Shell string `arg:"" optional:"" help:"bash, zsh or fish."`
	outputFlags
}

func (c *completionCommand) run(_ context.Context, j *job) (*answer, error) {
	if !slices.Contains(shells, c.Shell) {
		return nil, j.usagef("a shell is needed: bash, zsh or fish").hintf("git loopx completion -h tells where the script goes")
	}
	text, err := completionScripts.ReadFile("completion/git-loopx." + c.Shell)
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"text", string(text)}}}
	said.printf("%s", text)
	return said, nil
}

var shells = []string{"bash", "zsh", "fish"}

func candidateVerbs() []verb {
	return []verb{{hidden: true, flags: func() command { return &candidates{} },
		about: "print candidates for completion scripts", example: "git-loopx __complete -- todo cl"}}
}

// candidates prints what the last of its words may become, one per line, with a tab and a description where there is
// one. The words are those after "git loopx". A line ":files" says that names of files complete there. What cannot be
// found out, because there is no repository, is left out silently: a person is typing.
type candidates struct {
	Words []string `arg:"" optional:""`
	outputFlags
}

func (c *candidates) run(ctx context.Context, j *job) (*answer, error) {
	said := &answer{}
	if len(c.Words) == 0 {
		return said, nil
	}
	seen := map[string]bool{}
	word := c.Words[len(c.Words)-1]
	for _, k := range j.candidates(ctx, c.Words[:len(c.Words)-1], word) {
		if seen[k[0]] || !strings.HasPrefix(k[0], word) && k[0] != ":files" {
			continue
		}
		seen[k[0]] = true
		said.printf("%s\n", strings.TrimRight(k[0]+"\t"+k[1], "\t"))
	}
	return said, nil
}

// candidates are the possible words after before, with their descriptions.
func (j *job) candidates(ctx context.Context, before []string, word string) [][2]string {
	words, rest := splitWords(before)
	if len(words) == 0 {
		var out [][2]string
		switch {
		case len(before) > 0 && before[len(before)-1] == "--format":
			return j.values(ctx, "format", nil)
		case strings.HasPrefix(word, "-"):
			return [][2]string{{"--format", ""}, {"--json", ""}, {"--help", ""}, {"--version", ""}}
		}
		for _, n := range nouns() {
			if !strings.HasPrefix(n.name, "__") {
				out = append(out, [2]string{n.name, n.about})
			}
		}
		return out
	}
	if words[0] == "help" {
		words = words[1:]
		if len(words) == 0 {
			return j.candidates(ctx, nil, word)
		}
	}
	n, v, used, err := find(words)
	if err != nil {
		return nil
	}
	var out [][2]string
	if v == nil {
		for _, v := range n.verbs() {
			w := strings.Fields(v.words)
			if k := len(words) - 1; k < len(w) && slices.Equal(w[:k], words[1:]) {
				out = append(out, [2]string{w[k], v.about})
			}
		}
		return out
	}
	parser, err := grammar(v.flags())
	if err != nil {
		return nil
	}
	args := append(slices.Clone(words[used:]), rest...)
	if len(before) > 0 {
		if f := findFlag(parser.Model.Node, before[len(before)-1]); f != nil && !f.IsBool() {
			return j.values(ctx, f.Name, args)
		}
	}
	if name, _, joined := strings.Cut(word, "="); joined && strings.HasPrefix(name, "--") {
		if f := findFlag(parser.Model.Node, name); f != nil && !f.IsBool() {
			for _, k := range j.values(ctx, f.Name, args) {
				out = append(out, [2]string{name + "=" + k[0], k[1]})
			}
		}
		return out
	}
	if strings.HasPrefix(word, "-") {
		for _, f := range parser.Model.Flags {
			if !f.Hidden {
				out = append(out, [2]string{"--" + f.Name, f.Help})
			}
		}
		return out
	}
	if given := positionals(args, func(name string) bool {
		f := findFlag(parser.Model.Node, name)
		return f != nil && !f.IsBool()
	}); given < len(parser.Model.Positional) {
		return j.values(ctx, parser.Model.Positional[given].Name, args)
	}
	return nil
}

// positionals counts the arguments that are neither flags nor their values.
func positionals(args []string, takesValue func(string) bool) int {
	count := 0
	for i := 0; i < len(args); i++ {
		switch {
		case !strings.HasPrefix(args[i], "-"):
			count++
		case takesValue(args[i]):
			i++
		}
	}
	return count
}

// values are the values that a flag or an argument may have.
func (j *job) values(ctx context.Context, name string, args []string) [][2]string {
	words := func(values ...string) (out [][2]string) {
		for _, v := range values {
			out = append(out, [2]string{v, ""})
		}
		return out
	}
	switch name {
	case "format":
		return words("text", "json", "digest")
	case "role":
		return words("agent", "user")
	case "status":
		return words("open", "blocked", "deferred", "done")
	case "mode":
		return words("soft_claim", "hard_lease")
	case "priority":
		return words("P0", "P1", "P2", "P3", "P4")
	case "shell":
		return words(shells...)
	case "from-context", "file", "workspace", "artifact":
		return words(":files")
	case "goal-id", "goal":
		return j.goalValues(ctx)
	case "agent-id", "agent", "target-agent-id", "claimed-by", "bound-agent", "excluded-agent", "owner", "new-owner":
		return j.agentValues(ctx, flagValue(args, "--goal-id"))
	case "todo-id", "todo", "by", "successor", "depends-on":
		return j.todoValues(ctx, flagValue(args, "--goal-id"))
	}
	return nil
}

// flagValue returns the value of a flag among args, "" where it has none.
func flagValue(args []string, name string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
		if arg == name && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

func (j *job) goalValues(ctx context.Context) (out [][2]string) {
	if _, err := j.open(false, false); err != nil {
		return nil
	}
	goals, err := j.ledger().Goals(ctx)
	if err != nil {
		return nil
	}
	for _, g := range goals {
		if !g.GoalID.Valid() {
			continue // a shell puts the candidate on the command line as it is
		}
		out = append(out, [2]string{string(g.GoalID), firstLine(g.Title, 60)})
	}
	return out
}

func (j *job) agentValues(ctx context.Context, goal string) (out [][2]string) {
	v, err := j.goalShown(ctx, goalArg{}, goalFlags{GoalID: goal})
	if err != nil {
		return nil
	}
	for _, a := range v.Agents {
		out = append(out, [2]string{string(a.AgentID), firstLine(a.Label, 60)})
	}
	return out
}

func (j *job) todoValues(ctx context.Context, goal string) (out [][2]string) {
	id, err := j.reading(ctx, goalFlags{GoalID: goal})
	if err != nil {
		return nil
	}
	list, err := j.ledger().List(ctx, id, todo.Filter{All: true, Limit: 500})
	if err != nil {
		return nil
	}
	for _, v := range list.Rows {
		if !v.TodoID.Valid() {
			continue // as in goalValues
		}
		out = append(out, [2]string{string(v.TodoID), handoff.Visible(string(v.Status)) + " " + firstLine(headline(v), 50)})
	}
	return out
}
