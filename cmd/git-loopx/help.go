package main

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

func helpVerbs() []verb {
	return []verb{{quick: true, flags: func() command { return &helpCommand{} },
		about: "explain a command", example: "git loopx help todo claim"}}
}

type helpCommand struct {
	Words []string `arg:"" optional:"" name:"command" help:"The command to explain; all of them unless named."`
	Man   bool     `help:"Print the manual page, in troff."`
	outputFlags
}

func (c *helpCommand) run(context.Context, *job) (*answer, error) {
	text, err := c.text()
	if err != nil {
		return nil, err
	}
	said := &answer{members: members{{"text", text}}}
	said.printf("%s", text)
	return said, nil
}

func (c *helpCommand) text() (string, error) {
	if c.Man {
		return manual()
	}
	if len(c.Words) == 0 {
		return overview(), nil
	}
	n, v, used, err := find(c.Words)
	switch {
	case err != nil:
		return "", err
	case v != nil:
		return verbHelp(n, v)
	case used < len(c.Words) && !slices.ContainsFunc(n.verbs(), func(v verb) bool { return strings.HasPrefix(v.words, c.Words[1]+" ") }):
		return "", unknownVerb(n, c.Words[1:])
	}
	return nounHelp(n), nil
}

// overview is what "git loopx -h" prints.
func overview() string {
	var b strings.Builder
	b.WriteString("Let one agent or person stop and another go on, in the same repository.\n\nusage: git loopx COMMAND [flags]\n\n")
	var rows [][2]string
	for _, n := range nouns() {
		if strings.HasPrefix(n.name, "__") {
			continue
		}
		rows = append(rows, [2]string{n.name, n.about})
	}
	columns(&b, rows)
	b.WriteString(`
Every command takes --format text|json|digest (or --json) and -h, before or after its words.
See the whole journey in a throw-away repository: git loopx tour
The manual page: git loopx --help
`)
	return b.String()
}

// nounHelp explains a noun: its verbs in one line each.
func nounHelp(n *noun) string {
	var b strings.Builder
	b.WriteString("git loopx " + n.name + ": " + n.about + "\n\nusage: git loopx " + n.name + " VERB [flags]\n\n")
	var rows [][2]string
	for _, v := range n.verbs() {
		rows = append(rows, [2]string{v.words, v.about})
	}
	columns(&b, rows)
	b.WriteString("\nEach explains itself: git loopx " + n.name + " VERB -h\n")
	return b.String()
}

// verbHelp explains one verb with its flags and an example.
func verbHelp(n *noun, v *verb) (string, error) {
	parser, err := grammar(v.flags())
	if err != nil {
		return "", err
	}
	name := strings.TrimSpace("git loopx " + n.name + " " + v.words)
	var b strings.Builder
	b.WriteString(name + ": " + v.about + "\n\nusage: " + name)
	for _, arg := range parser.Model.Positional {
		b.WriteString(" " + argName(arg))
	}
	b.WriteString(" [flags]\n")
	if v.detail != "" {
		b.WriteString("\n" + strings.Join(wrap(v.detail, 96), "\n") + "\n")
	}
	b.WriteString("\n")
	columns(&b, parameterRows(parser.Model.Node))
	b.WriteString("\nexample:\n  " + v.example + "\n")
	return b.String(), nil
}

// parameterRows are the arguments and flags of a verb with what they mean, its own before those of every verb.
func parameterRows(node *kong.Node) [][2]string {
	var rows [][2]string
	for _, arg := range node.Positional {
		rows = append(rows, [2]string{argName(arg), arg.Help})
	}
	for _, f := range node.Flags {
		if !f.Hidden {
			rows = append(rows, [2]string{flagName(f), flagHelp(f)})
		}
	}
	return rows
}

func argName(arg *kong.Positional) string {
	name := strings.ToUpper(arg.Name)
	if arg.IsSlice() {
		name += "…"
	}
	return "[" + name + "]"
}

// flagName is a flag as help writes it: "-h, --help", "--label LABEL".
func flagName(f *kong.Flag) string {
	name := "--" + f.Name
	if f.Short != 0 {
		name = "-" + string(f.Short) + ", " + name
	}
	if !f.IsBool() {
		name += " " + f.PlaceHolder
	}
	return name
}

// flagHelp is what a flag means, with its default where it has one.
func flagHelp(f *kong.Flag) string {
	if f.HasDefault && f.Default != "" {
		return f.Help + " Default: " + f.Default + "."
	}
	return f.Help
}

// columns prints names and meanings side by side; a meaning is wrapped to lines of about 100 characters.
func columns(b *strings.Builder, rows [][2]string) {
	width := 0
	for _, row := range rows {
		width = max(width, utf8.RuneCountInString(row[0]))
	}
	for _, row := range rows {
		left := "  " + row[0] + strings.Repeat(" ", width-utf8.RuneCountInString(row[0])+2)
		for _, line := range wrap(row[1], max(40, 100-width-4)) {
			b.WriteString(strings.TrimRight(left+line, " ") + "\n")
			left = strings.Repeat(" ", width+4)
		}
	}
}

// wrap breaks a text into lines of at most width characters where it can.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) > width:
			lines = append(lines, word)
		default:
			*last += " " + word
		}
	}
	return lines
}
