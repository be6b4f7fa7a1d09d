package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// command is a verb with its flags filled in. run says what was done, or returns the error that kept it from being done.
type command interface {
	run(ctx context.Context, j *job) (*answer, error)
	output() *outputFlags
}

// noun is the first word of a command line with the verbs that may follow. A noun that is a command itself has one
// verb without words.
type noun struct {
	name  string
	about string // one line for the overview
	verbs func() []verb
}

// verb is one command: the words after the noun, what it is for, and how its flags are made.
type verb struct {
	words   string // "mode set"; "" where the noun is the command
	family  string // reason code of malformed arguments; "" is usage_error
	digest  bool   // --format digest is a form of this verb's answer
	quick   bool   // over at once: reads no repository and waits for nothing
	hidden  bool   // not in help, manual page or completion
	about   string // one line, lower case, no full stop
	detail  string // what else a person must know; may be ""
	example string // one command line
	flags   func() command
}

// nouns are all there are, in the order of the overview.
func nouns() []noun {
	return []noun{
		{"init", "create a goal here, \"main\" unless named", initVerbs},
		{"goal", "named workstreams, and which one this branch works for", goalVerbs},
		{"agent", "who takes part in a goal", agentVerbs},
		{"todo", "units of work: add, ready, claim, note, complete", todoVerbs},
		{"lease", "who may work on a claimed Todo, and for how long; also: task-lease", leaseVerbs},
		{"handoff", "hand a Todo over: prepare, inspect, adopt", handoffVerbs},
		{"tour", "the whole journey, live, in a throw-away repository", tourVerbs},
		{"doctor", "look for what interrupted commands left behind", doctorVerbs},
		{"fsck", "check the whole history of every goal", fsckVerbs},
		{"completion", "print a completion script for a shell", completionVerbs},
		{"version", "print the version", versionVerbs},
		{"help", "explain a command", helpVerbs},
		{"__complete", "candidates for completion scripts", candidateVerbs},
	}
}

// outputFlags are those of every command, allowed before and after its words.
type outputFlags struct {
	Format []string `sep:"none" placeholder:"FORMAT" help:"Form of the answer: text, json or digest; repeated values combine."`
	JSON   bool     `name:"json" help:"Same as --format json."`
	Help   bool     `short:"h" help:"Explain this command."`
}

func (f *outputFlags) output() *outputFlags { return f }

// commandLine is a command line taken apart. After a failed parse it is filled as far as the parse came, and json says
// what the arguments ask for.
type commandLine struct {
	noun, verb   string // "goal", "mode set"
	family       string
	command      command
	json, digest bool
	quick        bool
}

// action is what answers call the verb: the words after the noun, else the noun.
func (l *commandLine) action() string {
	if l == nil || l.noun == "" {
		return "help"
	}
	if l.verb == "" {
		return l.noun
	}
	return l.verb
}

// code is the reason code of malformed arguments.
func (l *commandLine) code() string {
	if l.family == "" {
		return "usage_error"
	}
	return l.family
}

// kind is the whole name of the verb: "todo claim".
func (l *commandLine) kind() string { return strings.TrimSpace(l.noun + " " + l.verb) }

// parse finds the verb that args name and fills its flags. Only that verb's grammar is built: with all of them, kong
// would take longer than most commands do. found, if not nil, is called with the verb before its flags are filled.
func parse(args []string, found func(*commandLine, command)) (*commandLine, error) {
	line := &commandLine{json: asksForJSON(args)}
	words, rest := splitWords(args)
	if len(words) == 0 {
		if stray := strayFlag(rest); stray != "" {
			return line, usagef("usage_error", "%q is not a flag of git loopx itself", stray).
				hintf("flags of a command come after its words; git loopx help lists the commands")
		}
		line.noun, line.command = "help", &helpCommand{}
		return line, nil
	}
	n, v, used, err := find(words)
	if err != nil {
		return line, err
	}
	line.noun = n.name
	args = append(slices.Clone(words[used:]), rest...)
	if v == nil {
		if slices.Contains(args, "-h") || slices.Contains(args, "--help") {
			line.command = &helpCommand{Words: []string{n.name}}
			return line, nil
		}
		return line, unknownVerb(n, args)
	}
	line.verb, line.family, line.quick = v.words, v.family, v.quick
	cmd := v.flags()
	if found != nil {
		found(line, cmd)
	}
	if err := fill(cmd, args, v.quick); err != nil {
		return line, usagef(line.code(), "%s", err).hintf("git loopx %s -h explains the flags", line.kind())
	}
	help, err := line.form(cmd, v)
	if err != nil {
		return line, err
	}
	line.command = cmd
	if help {
		line.command = &helpCommand{Words: words[:used]}
	}
	return line, nil
}

// form settles the form of the answer, and tells whether the command shall only be explained.
func (l *commandLine) form(cmd command, v *verb) (help bool, err error) {
	out := cmd.output()
	l.json = out.JSON || slices.Contains(out.Format, "json") // of a refusal below too
	for _, name := range out.Format {
		switch {
		case name == "digest" && v.digest:
			l.digest = true
		case name == "digest":
			return false, usagef(l.code(), "git loopx %s has no --format digest", l.kind())
		case name != "text" && name != "json":
			return false, usagef(l.code(), "--format: %q is none of text, json, digest", name)
		}
	}
	return out.Help, nil
}

// fill lets kong fill the flags of one command. The flags of quick commands have no defaults, so that without arguments
// there is nothing to fill.
func fill(cmd command, args []string, quick bool) error {
	for _, a := range args { // kong would hand on invalid bytes as U+FFFD
		if !utf8.ValidString(a) {
			return fmt.Errorf("%q is not UTF-8", a)
		}
	}
	if quick && len(args) == 0 {
		return nil
	}
	parser, err := grammar(cmd)
	if err != nil {
		return err
	}
	args, err = joinValues(parser.Model.Node, args)
	if err != nil {
		return err
	}
	_, err = parser.Parse(args)
	return quoteWord(err)
}

// quoteWord puts the word that kong does not know in quotes, so that it cannot pass for a part of our sentence.
func quoteWord(err error) error {
	if err == nil {
		return nil
	}
	for _, what := range []string{"unexpected argument ", "unknown flag "} {
		if word, ok := strings.CutPrefix(err.Error(), what); ok {
			return fmt.Errorf("%s%q", what, word)
		}
	}
	return err
}

// grammar is the kong model of one command.
func grammar(cmd command) (*kong.Kong, error) {
	return kong.New(cmd, kong.NoDefaultHelp(), kong.WithHyphenPrefixedParameters(true))
}

// joinValues writes "--flag value" as "--flag=value", so that a value may begin with a hyphen in every kind of flag, and
// refuses a flag whose value is missing, or empty where that can only be a shell variable that was not set.
func joinValues(node *kong.Node, args []string) ([]string, error) {
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...), nil
		}
		if arg == "" && len(node.Positional) > 0 {
			return nil, errors.New("an argument is empty here")
		}
		name, value, joined := strings.Cut(arg, "=")
		flag := findFlag(node, name)
		if flag == nil || flag.IsBool() {
			out = append(out, arg)
			continue
		}
		if !joined {
			if i++; i == len(args) {
				return nil, fmt.Errorf("%s needs a value", name)
			}
			value = args[i]
		}
		if value == "" && flag.Tag.Has("nonempty") {
			return nil, fmt.Errorf("%s needs a value, and it is empty here", name)
		}
		out = append(out, name+"="+value)
	}
	return out, nil
}

func findFlag(node *kong.Node, name string) *kong.Flag {
	long, ok := strings.CutPrefix(name, "--")
	if !ok {
		return nil
	}
	for _, f := range node.Flags {
		if f.Name == long || slices.Contains(f.Aliases, long) {
			return f
		}
	}
	return nil
}
