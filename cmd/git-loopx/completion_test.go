package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// completionRepo makes a repository with a goal, agents and Todos, and returns a directory with the completion scripts
// and the environment in which git-loopx is this test binary.
func completionRepo(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = t.TempDir()
	bin, home := filepath.Join(dir, "bin"), filepath.Join(dir, "home")
	for _, d := range []string{bin, home} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(bin, "git-loopx")); err != nil {
		t.Fatal(err)
	}
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "GIT_") && !strings.HasPrefix(name, "LOOPX_") && name != "PATH" && name != "HOME" {
			env = append(env, v)
		}
	}
	env = append(env, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "LOOPX_TEST_COUNTER="+filepath.Join(home, "counter"), "TERM=dumb")
	env = append(env, "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=a@example.com")
	for _, command := range []string{
		"git init -q -b main",
		"git loopx init demo",
		"git loopx agent add agent-a",
		"git loopx agent add claude:b",
		"git loopx todo add one --todo-id todo_one --agent-id agent-a",
		"git loopx todo add two --todo-id todo_two --agent-id agent-a",
		"git-loopx completion bash > git-loopx.bash",
		"git-loopx completion zsh > _git-loopx",
		"git-loopx completion fish > git-loopx.fish",
	} {
		runShell(t, dir, env, "sh", "-c", command)
	}
	return dir, env
}

func runShell(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = dir, env, 10*time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// needShell skips, loudly and by name, where a shell is not here.
func needShell(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		t.Skipf("SKIPPED: %s is not installed, its completion script was not tried", name)
	}
}

// completionCases are command lines with what completes them, in every shell.
var completionCases = []struct {
	line string
	want []string // all must be offered
	not  string   // must not
}{
	{"git loopx to", []string{"todo", "tour"}, "goal"},
	{"git loopx todo cl", []string{"claim"}, "show"},
	{"git loopx todo show todo_", []string{"todo_one", "todo_two"}, "todo_x"},
	{"git loopx todo claim --ag", []string{"--agent-id"}, "--goal-id"},
	{"git loopx todo claim todo_one --agent-id ", []string{"agent-a"}, "todo_one"},
	{"git loopx goal mode s", []string{"show", "set"}, "bind"},
	{"git loopx goal show ", []string{"demo"}, "todo_one"},
	{"git loopx --format ", []string{"json"}, "todo"},
	{"git loopx le", []string{"lease"}, "todo"},
	{"git loopx lease re", []string{"renew", "release"}, "acquire"},
	{"git loopx task-lease ac", []string{"acquire"}, "renew"},
	{"git loopx lease transfer todo_one --new-owner ", []string{"agent-a"}, "todo_one"},
	{"git loopx lease transfer todo_one --new-", []string{"--new-owner", "--new-idempotency-key"}, "--owner"},
	{"git loopx goal acceptance bind --todo ", []string{"todo_one", "todo_two"}, "agent-a"},
	{"git loopx goal mode set ", []string{"soft_claim", "hard_lease"}, "demo"},
	{"git loopx todo add x --depends-on ", []string{"todo_one"}, "agent-a"},
	{"git loopx todo apply git-loopx.b", []string{"git-loopx.bash"}, "todo_one"},
	{"git loopx help to", []string{"todo", "tour"}, "goal"},
	{"git-loopx todo cl", []string{"claim"}, "show"},
	{"git-loopx completion z", []string{"zsh"}, "bash"},
	{"git -C . loopx todo cl", []string{"claim"}, "show"},
	{"git-loopx handoff prepare --from-context git-loopx.b", []string{"git-loopx.bash"}, "todo_one"},
}

func checkCompletion(t *testing.T, complete func(line string) string) {
	t.Helper()
	for _, test := range completionCases {
		got := complete(test.line)
		fields := strings.FieldsFunc(got, func(r rune) bool { return strings.ContainsRune(" \n\r\t", r) })
		offered := map[string]bool{}
		for _, f := range fields {
			offered[f] = true
		}
		for _, want := range test.want {
			if !offered[want] {
				t.Errorf("%q: %q is not offered in %q", test.line, want, got)
			}
		}
		if offered[test.not] {
			t.Errorf("%q: %q is offered in %q", test.line, test.not, got)
		}
	}
}

func TestCompletionBash(t *testing.T) {
	needShell(t, "bash")
	dir, env := completionRepo(t)
	// git's own completion, where distributions put it; without it only git-loopx itself is completed.
	gitCompletion := ""
	for _, f := range []string{"/usr/share/bash-completion/completions/git", "/etc/bash_completion.d/git-completion.bash",
		"/opt/homebrew/etc/bash_completion.d/git-completion.bash", "/usr/share/git/completion/git-completion.bash"} {
		if _, err := os.Stat(f); err == nil {
			gitCompletion = f
			break
		}
	}
	if gitCompletion == "" {
		t.Skip("SKIPPED: git's bash completion is not installed, the one of git loopx was not tried")
	}
	checkCompletion(t, func(line string) string {
		words := strings.Fields(line)
		if strings.HasSuffix(line, " ") {
			words = append(words, "")
		}
		var quoted []string
		for _, w := range words {
			quoted = append(quoted, "'"+w+"'")
		}
		return runShell(t, dir, env, "bash", "--norc", "-c", `
			. `+gitCompletion+`
			. ./git-loopx.bash
			compopt () { case "$*" in *filenames*) files=1 ;; esac; }
			COMP_WORDS=(`+strings.Join(quoted, " ")+`)
			COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
			COMP_LINE='`+line+`'
			COMP_POINT=${#COMP_LINE}
			case ${COMP_WORDS[0]} in
			git) __git_wrap__git_main 2>/dev/null || _git ;;
			*) _git_loopx_alone ;;
			esac
			[ "$files" ] && COMPREPLY=($(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"))
			printf '%s\n' "${COMPREPLY[@]}"`)
	})
}

func TestCompletionFish(t *testing.T) {
	needShell(t, "fish")
	dir, env := completionRepo(t)
	checkCompletion(t, func(line string) string {
		return runShell(t, dir, env, "fish", "--no-config", "-c", "source git-loopx.fish; complete -C '"+line+"'")
	})
}

func TestCompletionZsh(t *testing.T) {
	needShell(t, "zsh")
	dir, env := completionRepo(t)
	// A shell within a shell, at a terminal: what a person sees after the tab key.
	script := filepath.Join(dir, "drive.zsh")
	if err := os.WriteFile(script, []byte(`
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner 'PS1=@@ PS2=; unsetopt prompt_cr prompt_sp; stty rows 40 cols 200; fpath=('$PWD' $fpath); autoload -Uz compinit; compinit -u -d '$PWD'/dump'
zpty -w inner 'LISTMAX=1000; zstyle ":completion:*" list-prompt ""; setopt list_packed; bindkey "^I" list-choices; bindkey "^U" kill-whole-line'
zpty -w inner 'print rea""dy'
zpty -r inner out '*ready*@@*'
zpty -n -w inner "$1"$'\t'
zpty -n -w inner $'\C-Uprint do""ne\n'
zpty -r inner out '*done*'
print -r -- "$out"
zpty -d inner
`), 0o666); err != nil {
		t.Fatal(err)
	}
	checkCompletion(t, func(line string) string {
		out := runShell(t, dir, env, "zsh", "-f", script, line)
		// What was typed is echoed, and drawn again below the list.
		return strings.ReplaceAll(out, line, "")
	})
}
