package main

import (
	"slices"
	"strings"
)

// splitWords parts the leading words of a command line from the rest: the noun, then what follows it up to the first
// flag that belongs to a verb. Flags of every command may stand between; they move to the rest.
func splitWords(args []string) (words, rest []string) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case arg == "--version" && len(words) == 0:
			words = append(words, "version")
		case arg == "--format" && i+1 < len(args):
			rest = append(rest, arg, args[i+1])
			i++
		case arg == "--json" || arg == "-h" || arg == "--help" || strings.HasPrefix(arg, "--format="):
			rest = append(rest, arg)
		case strings.HasPrefix(arg, "-"):
			return words, append(rest, args[i:]...)
		default:
			words = append(words, arg)
		}
	}
	return words, rest
}

// strayFlag returns the first flag of rest that is not one of every command, "" if there is none.
func strayFlag(rest []string) string {
	for i := 0; i < len(rest); i++ {
		switch arg := rest[i]; {
		case arg == "--format":
			i++
		case arg != "--json" && arg != "-h" && arg != "--help" && !strings.HasPrefix(arg, "--format="):
			return arg
		}
	}
	return ""
}

// asksForJSON looks for the wish before anything is parsed, so that a failed parse is answered in its form too.
func asksForJSON(args []string) bool {
	for i, arg := range args {
		switch {
		case arg == "--":
			return false
		case arg == "--json" || arg == "--format=json" || arg == "--format" && i+1 < len(args) && args[i+1] == "json":
			return true
		}
	}
	return false
}

// find returns the noun and verb that begin words, and how many words they take. A noun that needs a verb and has none
// here comes with a nil verb.
func find(words []string) (*noun, *verb, int, error) {
	all := nouns()
	name := words[0]
	if name == "task-lease" { // its other name (continuation.md, section 6)
		name = "lease"
	}
	i := slices.IndexFunc(all, func(n noun) bool { return n.name == name })
	if i < 0 {
		return nil, nil, 0, unknownNoun(words[0], all)
	}
	n := &all[i]
	var best *verb
	used := 1
	verbs := n.verbs()
	for k := range verbs {
		v := &verbs[k]
		w := strings.Fields(v.words)
		if len(words) > len(w) && slices.Equal(words[1:1+len(w)], w) && (best == nil || len(w)+1 > used) {
			best, used = v, len(w)+1
		}
	}
	return n, best, used, nil
}

// planned are the words of the command line that this version does not have yet, by noun; "" is for nouns themselves.
func planned(noun, word string) bool {
	words := map[string]string{
		"":        "continue session run brief status sync fetch push hooks",
		"goal":    "fetch",
		"handoff": "draft check finalize show bundle commit continue log diff set-aside",
	}
	return slices.Contains(strings.Fields(words[noun]), word)
}

func unknownNoun(word string, all []noun) error {
	if planned("", word) {
		return usagef("usage_error", "git loopx %s is not in this version yet", word).hintf("git loopx help lists the commands")
	}
	var names []string
	for _, n := range all {
		if !strings.HasPrefix(n.name, "__") {
			names = append(names, n.name)
		}
	}
	e := usagef("usage_error", "%q is not a git loopx command", word)
	if like := closest(word, names); like != "" {
		return e.hintf("the most similar command is git loopx %s", like)
	}
	return e.hintf("git loopx help lists the commands")
}

// unknownVerb is the answer to a noun without a verb that exists. The reason code is that of the noun's verbs, where
// all have the same.
func unknownVerb(n *noun, rest []string) error {
	verbs := n.verbs()
	code := verbs[0].family
	for _, v := range verbs {
		if v.family != code || code == "" {
			code = "usage_error"
		}
	}
	var names []string
	for _, v := range verbs {
		if !v.hidden {
			names = append(names, v.words)
		}
	}
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		return usagef(code, "git loopx %s needs a verb: %s", n.name, strings.Join(names, ", ")).
			hintf("git loopx %s -h explains them", n.name)
	}
	if planned(n.name, rest[0]) {
		return usagef(code, "git loopx %s %s is not in this version yet", n.name, rest[0]).hintf("git loopx %s -h lists its verbs", n.name)
	}
	if more := following(rest[0], names); len(more) > 0 {
		return usagef(code, "git loopx %s %s needs another word: %s", n.name, rest[0], strings.Join(more, ", ")).
			hintf("git loopx %s -h explains them", n.name)
	}
	e := usagef(code, "%q is not a verb of git loopx %s", strings.Join(rest[:1], " "), n.name)
	if like := closest(rest[0], names); like != "" {
		return e.hintf("the most similar verb is git loopx %s %s", n.name, like)
	}
	return e.hintf("its verbs are %s", strings.Join(names, ", "))
}

// following lists what may come after the first word of verbs of two words.
func following(word string, names []string) []string {
	var more []string
	for _, name := range names {
		if rest, ok := strings.CutPrefix(name, word+" "); ok {
			more = append(more, rest)
		}
	}
	return more
}

// closest returns the name that differs from word in the fewest letters, "" if all differ in more than a third.
func closest(word string, names []string) string {
	best, least := "", max(1, (len(word)+2)/3)+1
	for _, name := range names {
		if d := distance(word, name); d < least {
			best, least = name, d
		}
	}
	return best
}

// distance is the Levenshtein distance in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
