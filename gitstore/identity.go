package gitstore

import (
	"context"
	"errors"
	"os"
	"strings"
)

// answers are what a write needs of git.
type answers struct {
	settings    Settings
	settingsErr error
	ident       string // "Name <email> seconds zone"
	identErr    error
}

// askGit asks for configuration and committer: with one git var -l where the identity is configured, else with two
// processes, so that git itself refuses an identity that it would have to invent.
func askGit(ctx context.Context, g *git, env []string) answers {
	limited, cancel := context.WithTimeout(ctx, childDeadline)
	defer cancel()
	variables, err := g.start("var", "-l")
	os.FindProcess(os.Getpid()) // finds out about the kernel, beside git, what os/exec needs to know for the next child
	var out []byte
	if err == nil {
		out, err = variables.whole(limited)
	}
	if err == nil {
		settings, ident := parseVariables(string(out))
		if configured(settings, env) && !strings.HasPrefix(ident, "<") && ident != "" {
			return answers{settings: settings, ident: ident}
		}
	}
	var a answers
	a.settings, a.settingsErr = readSettings(ctx, g)
	a.ident, a.identErr = readIdentity(ctx, g)
	return a
}

// parseVariables reads git var -l: the configuration as "key=value" lines, then git's variables. A line that is neither
// belongs to the value before it.
func parseVariables(out string) (Settings, string) {
	s := Settings{}
	ident, last := "", ""
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\n"), "\n") {
		key, value, ok := strings.Cut(line, "=")
		switch {
		case key == "GIT_COMMITTER_IDENT" && ok:
			ident, last = strings.TrimSpace(value), ""
		case strings.HasPrefix(key, "GIT_") && ok:
			last = ""
		case settingKey(key):
			if !ok {
				value = "true"
			}
			s[key], last = value, key
		case last != "":
			s[last] += "\n" + line
		}
	}
	return s, ident
}

// settingKey reports whether a line of git var -l begins with the name of a configuration key.
func settingKey(key string) bool {
	section, rest, ok := strings.Cut(key, ".")
	if !ok || section == "" || rest == "" {
		return false
	}
	name := rest[strings.LastIndexByte(rest, '.')+1:]
	plain := func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') && (r < '0' || r > '9') }
	return name != "" && !strings.ContainsFunc(section, plain) && !strings.ContainsFunc(name, plain)
}

// configured reports whether somebody said who commits, so that git has nothing to invent.
func configured(s Settings, env []string) bool {
	name := envValue(env, "GIT_COMMITTER_NAME") + s["committer.name"] + s["user.name"]
	email := envValue(env, "GIT_COMMITTER_EMAIL") + s["committer.email"] + s["user.email"]
	return strings.TrimSpace(name) != "" && strings.TrimSpace(email) != ""
}

// readIdentity asks git who commits; it is never invented here.
func readIdentity(ctx context.Context, g *git) (string, error) {
	out, err := g.run(ctx, nil, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if exitCode(err) < 0 { // it did not get to say anything
			return "", &UnavailableError{What: "git var", Err: err}
		}
		return "", &IdentityMissingError{Advice: identityAdvice(err)}
	}
	ident := strings.TrimSuffix(string(out), "\n")
	if strings.ContainsAny(ident, "\n\x00") {
		return "", &IdentityMissingError{Advice: "git var GIT_COMMITTER_IDENT answered with more than one line"}
	}
	return ident, nil
}

func identityAdvice(err error) string {
	var g *gitError
	if errors.As(err, &g) && strings.TrimSpace(g.stderr) != "" {
		return strings.TrimSpace(g.stderr)
	}
	return err.Error()
}
