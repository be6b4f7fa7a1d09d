//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestShapeCaller takes a Todo through its journey with every way of calling that must work (storage.md, section 5).
func TestShapeCaller(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(t *testing.T, m *machine) place{
		"git -C": func(t *testing.T, m *machine) place {
			dir := m.seed("repo")
			return place{machine: m, dir: dir, artifact: "code.go", call: m.through(func(args ...string) *exec.Cmd {
				return m.command(m.dir, "git", append([]string{"-C", "repo", "-C", "src/deep", "loopx"}, args...)...)
			})}
		},
		"git --git-dir": func(t *testing.T, m *machine) place {
			dir := m.seed("repo")
			return place{machine: m, dir: dir, call: m.through(func(args ...string) *exec.Cmd {
				return m.command(m.dir, "git", append([]string{"--git-dir", "repo/.git", "loopx"}, args...)...)
			})}
		},
		"git --git-dir --work-tree": func(t *testing.T, m *machine) place {
			dir := m.seed("repo")
			return place{machine: m, dir: dir, call: m.through(func(args ...string) *exec.Cmd {
				return m.command(m.dir, "git", append([]string{"--git-dir=repo/.git", "--work-tree=repo", "loopx"}, args...)...)
			})}
		},
		// Git's variables decide, as for any git command: the repository around is not asked.
		"GIT_DIR inside another repository": func(t *testing.T, m *machine) place {
			dir, other := m.seed("repo"), m.seed("other")
			t.Cleanup(func() {
				if refs := m.git(other, "for-each-ref", "refs/loopx"); refs != "" {
					t.Errorf("the other repository has %q", refs)
				}
			})
			return place{machine: m, dir: dir, call: m.through(func(args ...string) *exec.Cmd {
				cmd := m.command(other, filepath.Join(m.bin, "git-loopx"), args...)
				cmd.Env = append(cmd.Env, "GIT_DIR="+filepath.Join(dir, ".git"), "GIT_WORK_TREE="+dir)
				return cmd
			})}
		},
		"GIT_DIR, relative": func(t *testing.T, m *machine) place {
			dir := m.seed("repo")
			return place{machine: m, dir: dir, artifact: "decision.md", call: m.through(func(args ...string) *exec.Cmd {
				cmd := m.command(dir, "git", append([]string{"loopx"}, args...)...)
				cmd.Env = append(cmd.Env, "GIT_DIR=.git", "GIT_INDEX_FILE=.git/other-index")
				return cmd
			})}
		},
		"alias": func(t *testing.T, m *machine) place {
			dir := m.seed("repo")
			m.git(dir, "config", "alias.lx", "loopx")
			return place{machine: m, dir: dir, artifact: "decision.md", call: m.through(func(args ...string) *exec.Cmd {
				return m.command(dir, "git", append([]string{"lx"}, args...)...)
			})}
		},
		"alias, in a sub-directory": func(t *testing.T, m *machine) place {
			dir := m.seed("repo")
			m.git(dir, "config", "alias.lx", "loopx")
			return place{machine: m, dir: dir, artifact: "code.go", call: m.through(func(args ...string) *exec.Cmd {
				return m.command(filepath.Join(dir, "src/deep"), "git", append([]string{"lx"}, args...)...)
			})}
		},
		"shell alias, in a sub-directory": func(t *testing.T, m *machine) place {
			dir := m.seed("repo")
			m.git(dir, "config", "alias.lx", "!git loopx")
			return place{machine: m, dir: dir, artifact: "decision.md", call: m.through(func(args ...string) *exec.Cmd {
				return m.command(filepath.Join(dir, "src/deep"), "git", append([]string{"lx"}, args...)...)
			})}
		},
		"hook of this repository": func(t *testing.T, m *machine) place {
			p := place{machine: m, dir: m.seed("repo"), artifact: "decision.md", moves: true}
			p.hook("pre-commit", hookScript(""))
			p.call = m.fromHook(func() { m.git(p.dir, "commit", "-q", "--allow-empty", "-am", "mine") })
			return p
		},
		"hook of a linked worktree": func(t *testing.T, m *machine) place {
			p := place{machine: m, dir: m.seed("repo"), moves: true}
			m.git(p.dir, "worktree", "add", "-q", m.path("linked"))
			p.hook("post-commit", hookScript(""))
			p.call = m.fromHook(func() { m.git(m.path("linked"), "commit", "-q", "--allow-empty", "-m", "mine") })
			return p
		},
		"hook of another repository": func(t *testing.T, m *machine) place {
			p := place{machine: m, dir: m.seed("repo"), artifact: "decision.md"}
			other := place{machine: m, dir: m.seed("other")}
			other.hook("post-commit", hookScript("unset $(git rev-parse --local-env-vars)\ncd '"+p.dir+"'"))
			p.call = m.fromHook(func() { m.git(other.dir, "commit", "-q", "--allow-empty", "-m", "mine") })
			t.Cleanup(func() {
				if refs := m.git(other.dir, "for-each-ref", "refs/loopx"); refs != "" {
					t.Errorf("the other repository has %q", refs)
				}
			})
			return p
		},
		"hook of a receiving repository": func(t *testing.T, m *machine) place {
			p := place{machine: m, dir: m.clone("--bare"), moves: true}
			p.hook("post-receive", hookScript(""))
			m.git(m.dir, "clone", "-q", p.dir, "work")
			p.call = m.fromHook(func() {
				m.git(m.path("work"), "commit", "-q", "--allow-empty", "-m", "mine")
				m.git(m.path("work"), "push", "-q", "origin", "main")
			})
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := make(t, newMachine(t))
			journey(p, p)
		})
	}
}

// hookScript is a hook that gives the command of fromHook, after what comes before. Without one it does nothing.
func hookScript(before string) string {
	return "#!/bin/sh\n[ -n \"$HOOK_WORDS\" ] || exit 0\n(\n" + before + "\neval \"set -- $HOOK_WORDS\"\nexec git loopx \"$@\"\n" +
		") <\"$HOOK_IO.in\" >\"$HOOK_IO.out\" 2>\"$HOOK_IO.err\"\necho $? >\"$HOOK_IO.exit\"\nexit 0\n"
}

// fromHook gives commands from the hook that trigger sets off.
func (m *machine) fromHook(trigger func()) func(stdin string, args ...string) (reply, error) {
	return func(stdin string, args ...string) (r reply, err error) {
		m.t.Helper()
		io := m.path("hook")
		m.write(io+".in", stdin)
		os.Remove(io + ".exit")
		words := ""
		for _, a := range args {
			words += " '" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		env := m.env
		m.env = append(env, "HOOK_IO="+io, "HOOK_WORDS="+words)
		trigger()
		m.env = env
		status, err := os.ReadFile(io + ".exit")
		if err != nil {
			return r, fmt.Errorf("the hook did not run: %w", err)
		}
		if r.exit, err = strconv.Atoi(strings.TrimSpace(string(status))); err != nil {
			return r, err
		}
		for name, to := range map[string]*string{".out": &r.stdout, ".err": &r.stderr} {
			b, err := os.ReadFile(io + name)
			if err != nil {
				return r, err
			}
			*to = string(b)
		}
		return r, r.check()
	}
}

// TestShapeQuarantine: in a hook that runs before pushed objects are accepted nothing can be stored, as they may vanish
// together with what a command wrote; reading works.
func TestShapeQuarantine(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	p := place{machine: m, dir: m.clone("--bare")}
	m.does(p.dir, "init", "demo")
	m.does(p.dir, "agent", "add", "agent-a")
	p.hook("pre-receive", hookScript(""))
	m.git(m.dir, "clone", "-q", p.dir, "work")
	call := m.fromHook(func() {
		m.git(m.path("work"), "commit", "-q", "--allow-empty", "-m", "mine")
		m.git(m.path("work"), "push", "-q", "origin", "main")
	})
	before := m.tip(p.dir)
	r, err := call("", "todo", "add", "work", "--agent-id", "agent-a", "--json")
	if err != nil || r.get("reason_code") != "storage_write_failed" || r.exit != exitUnavailable {
		t.Errorf("todo add: %v: %s", err, r)
	}
	if m.tip(p.dir) != before {
		t.Error("the ref moved")
	}
	if r, err := call("", "goal", "show", "demo", "--json"); err != nil || r.exit != 0 {
		t.Errorf("goal show: %v: %s", err, r)
	}
	m.fsck(p.dir)
}
