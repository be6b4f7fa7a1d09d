//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestShape takes one Todo through its journey in every shape of repository that must work (storage.md, section 5).
func TestShape(t *testing.T) {
	t.Parallel()
	both := func(p place) (place, place) { return p, p }
	for name, make := range map[string]func(t *testing.T, m *machine) (first, second place){
		"normal": func(t *testing.T, m *machine) (place, place) {
			return both(place{machine: m, dir: m.seed("repo"), artifact: "decision.md"})
		},
		"sub-directory": func(t *testing.T, m *machine) (place, place) {
			return both(place{machine: m, dir: filepath.Join(m.seed("repo"), "src/deep"), artifact: "code.go"})
		},
		"unborn HEAD": func(t *testing.T, m *machine) (place, place) {
			m.git(m.dir, "init", "-q", "repo")
			return both(place{machine: m, dir: m.path("repo")})
		},
		"detached HEAD": func(t *testing.T, m *machine) (place, place) {
			dir := m.seed("repo")
			m.git(dir, "checkout", "-q", "--detach", "HEAD~1")
			return both(place{machine: m, dir: dir})
		},
		"bare": func(t *testing.T, m *machine) (place, place) { return both(place{machine: m, dir: m.clone("--bare")}) },
		"linked worktree": func(t *testing.T, m *machine) (place, place) {
			dir := m.seed("repo")
			m.git(dir, "worktree", "add", "-q", m.path("linked"))
			return place{machine: m, dir: dir}, place{machine: m, dir: m.path("linked"), artifact: "decision.md"}
		},
		"worktree inside another work tree": func(t *testing.T, m *machine) (place, place) {
			dir := m.seed("repo")
			m.git(dir, "worktree", "add", "-q", "src/nested")
			return place{machine: m, dir: filepath.Join(dir, "src/nested")}, place{machine: m, dir: dir}
		},
		"worktree of a bare repository": func(t *testing.T, m *machine) (place, place) {
			dir := m.clone("--bare")
			m.git(dir, "worktree", "add", "-q", m.path("linked"), "main")
			return place{machine: m, dir: dir}, place{machine: m, dir: m.path("linked"), artifact: "src/deep/code.go"}
		},
		"submodule": func(t *testing.T, m *machine) (place, place) {
			super := m.seed("super")
			m.git(super, "submodule", "--quiet", "add", m.seed("origin"), "module")
			m.git(super, "commit", "-qm", "module")
			t.Cleanup(func() {
				if refs := m.git(super, "for-each-ref", "refs/loopx"); refs != "" {
					t.Errorf("the superproject has %q", refs)
				}
			})
			return both(place{machine: m, dir: filepath.Join(super, "module"), artifact: "decision.md"})
		},
		"separate git dir": func(t *testing.T, m *machine) (place, place) {
			return both(place{machine: m, dir: m.clone("--separate-git-dir=" + m.path("elsewhere.git"))})
		},
		"shallow": func(t *testing.T, m *machine) (place, place) {
			return both(place{machine: m, dir: m.clone("--depth=1")})
		},
		"partial": func(t *testing.T, m *machine) (place, place) {
			return both(place{machine: m, dir: m.clone("--filter=blob:none", "--sparse")})
		},
		"alternates, shared": func(t *testing.T, m *machine) (place, place) {
			m.git(m.dir, "clone", "-q", "--shared", m.seed("origin"), "repo")
			return both(place{machine: m, dir: m.path("repo")})
		},
		"alternates, reference": func(t *testing.T, m *machine) (place, place) {
			m.git(m.dir, "clone", "-q", "--reference", m.seed("near"), "file://"+m.seed("origin"), "repo")
			return both(place{machine: m, dir: m.path("repo")})
		},
		"sparse": func(t *testing.T, m *machine) (place, place) {
			dir := m.seed("repo")
			m.git(dir, "sparse-checkout", "set", "--cone", "other")
			m.git(dir, "config", "--get", "extensions.worktreeConfig")
			return both(place{machine: m, dir: dir})
		},
		"SHA-256": func(t *testing.T, m *machine) (place, place) {
			return both(place{machine: m, dir: m.seed("repo", "--object-format=sha256")})
		},
		"SHA-256, bare worktree": func(t *testing.T, m *machine) (place, place) {
			m.git(m.dir, "clone", "-q", "--bare", m.seed("origin", "--object-format=sha256"), "repo")
			m.git(m.path("repo"), "worktree", "add", "-q", m.path("linked"), "main")
			return place{machine: m, dir: m.path("repo")}, place{machine: m, dir: m.path("linked")}
		},
		"reftable": func(t *testing.T, m *machine) (place, place) {
			err := m.command(m.dir, "git", "init", "-q", "--ref-format=reftable", "probe").Run()
			skipWithout(t, "git 2.45 or newer with reftable", err == nil)
			dir := m.seed("repo", "--ref-format=reftable")
			m.git(dir, "worktree", "add", "-q", m.path("linked"))
			return place{machine: m, dir: dir}, place{machine: m, dir: m.path("linked")}
		},
		"reftable, SHA-256": func(t *testing.T, m *machine) (place, place) {
			err := m.command(m.dir, "git", "init", "-q", "--ref-format=reftable", "probe").Run()
			skipWithout(t, "git 2.45 or newer with reftable", err == nil)
			return both(place{machine: m, dir: m.seed("repo", "--ref-format=reftable", "--object-format=sha256")})
		},
		"path with spaces, quotes and other letters": func(t *testing.T, m *machine) (place, place) {
			return both(place{machine: m, dir: m.seed(` it's "ü" 雪\ $HOME; #&. `), artifact: "decision.md"})
		},
		"through a symbolic link": func(t *testing.T, m *machine) (place, place) {
			if err := os.Symlink(m.seed("repo"), m.path("link")); err != nil {
				t.Fatal(err)
			}
			return place{machine: m, dir: m.path("link")}, place{machine: m, dir: m.path("repo")}
		},
		"packed refs": func(t *testing.T, m *machine) (place, place) {
			p := place{machine: m, dir: m.seed("repo")}
			p.call = func(stdin string, args ...string) (reply, error) {
				m.git(p.dir, "-c", "core.hooksPath="+os.DevNull, "pack-refs", "--all", "--prune")
				cmd := m.command(p.dir, "git", append([]string{"loopx"}, args...)...)
				cmd.Stdin = strings.NewReader(stdin)
				return ask(cmd)
			}
			return both(p)
		},
		"index.lock is there": func(t *testing.T, m *machine) (place, place) {
			p := place{machine: m, dir: m.seed("repo")}
			m.write(p.gitPath("index.lock"), "")
			return both(p)
		},
		"a tag that is called like the goal's ref": func(t *testing.T, m *machine) (place, place) {
			dir := m.seed("repo")
			m.git(dir, "tag", demoRef)
			m.git(dir, "branch", "loopx/goals/demo")
			return both(place{machine: m, dir: dir})
		},
		"core.sharedRepository": func(t *testing.T, m *machine) (place, place) {
			dir := m.seed("repo", "--shared=group")
			t.Cleanup(func() { groupWrites(t, filepath.Join(dir, ".git")) })
			return both(place{machine: m, dir: dir})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journey(make(t, newMachine(t)))
		})
	}
}

// groupWrites checks that all directories and objects of a repository are as core.sharedRepository=group asks for.
func groupWrites(t *testing.T, gitDir string) {
	t.Helper()
	for _, part := range []string{"objects", "refs/loopx"} {
		out, err := exec.Command("find", filepath.Join(gitDir, part), "-type", "d", "!", "-perm", "-g+wx", "-o", "-type", "f", "!", "-perm", "-g+r").CombinedOutput()
		if err != nil || len(out) > 0 {
			t.Errorf("the group cannot use %s: %v", out, err)
		}
	}
}
