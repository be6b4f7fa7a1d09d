package gitstore

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One git var -l tells what git config --list and git var GIT_COMMITTER_IDENT tell.
func TestOneQuestionTellsWhatTwoTell(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	for key, value := range map[string]string{
		"loopx.timeout":             "3s",
		"branch.Feature/X.Y.merge":  "refs/heads/a=b",
		"alias.many":                "!echo a\necho b=c\n  indented",
		"hook.my hook.event":        "pre-push",
		"user.name":                 "Ada Ünïcode",
		"remote.o.url":              "https://example.com/?q=1&GIT_COMMITTER_IDENT=x",
		"url.a\tb.insteadOf":        "c",
		"core.excludesFile":         "",
		"includeIf.gitdir:/x/.path": "y",
	} {
		r.run("config", key, value)
	}
	file := r.CommonDir() + "/config"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, file, string(b)+"[bare]\n\tkey\n") // a key without a value
	two, err := readSettings(ctx, r.git)
	if err != nil {
		t.Fatal(err)
	}
	one := askGit(ctx, r.git, r.env)
	if diff := cmp.Diff(two, one.settings); diff != "" || one.settingsErr != nil {
		t.Errorf("settings: %s, %v", diff, one.settingsErr)
	}
	if ident, err := readIdentity(ctx, r.git); err != nil || cutTime(ident) != cutTime(one.ident) {
		t.Errorf("ident %q, %v; with one question %q", ident, err, one.ident)
	}
}

func cutTime(ident string) string { return ident[:strings.LastIndexByte(ident, '>')+1] }

// An identity that git would have to make up is refused in git's own words.
func TestAnIdentityIsNeverInvented(t *testing.T) {
	ctx := context.Background()
	for name, set := range map[string][]string{
		"nothing":                  nil,
		"a name alone":             {"GIT_COMMITTER_NAME=Ada"},
		"an empty name":            {"GIT_COMMITTER_NAME=", "GIT_COMMITTER_EMAIL=ada@example.com"},
		"a name of nothing but ,.": {"GIT_COMMITTER_NAME=.,", "GIT_COMMITTER_EMAIL=ada@example.com"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t, SHA1, Config{})
			r.env = slices.DeleteFunc(r.env, func(v string) bool { return strings.HasPrefix(v, "GIT_COMMITTER_") })
			r.run("config", "user.useConfigOnly", "true")
			r.env = append(r.env, set...)
			r.open(Config{})
			if _, err := r.Apply(ctx, put("op", map[string][]byte{"a": []byte("a")})); !is[*IdentityMissingError](err) {
				t.Errorf("err = %v", err)
			}
			if r.tip() != "" {
				t.Error("a ref was made")
			}
		})
	}
}
