//go:build unix

package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// readOnly makes a directory refuse writes, for root too: there by a read-only bind mount. repair takes it back.
func readOnly(t *testing.T, dir string) (repair func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		mode := func(m fs.FileMode) {
			if out, err := exec.Command("find", dir, "-type", "d", "-exec", "chmod", fmt.Sprintf("%o", m), "{}", "+").CombinedOutput(); err != nil {
				t.Fatalf("chmod: %v: %s", err, out)
			}
		}
		mode(0o555)
		t.Cleanup(func() { mode(0o755) })
		return func() { mode(0o755) }
	}
	repair = func() { exec.Command("umount", "-l", dir).Run() }
	for _, args := range [][]string{{"--bind", dir, dir}, {"-o", "remount,bind,ro", dir}} {
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			repair()
			t.Skipf("NOT TESTED: %s needs a bind mount: %v: %s", t.Name(), err, out)
		}
	}
	t.Cleanup(repair)
	return repair
}

// TestShapeReadOnlyObjects: where objects cannot be written the answer says so, the ref stands, reading works, and after
// the repair the same command with the same operation id is applied (continuation.md, case 15).
func TestShapeReadOnlyObjects(t *testing.T) {
	t.Parallel()
	for name, format := range map[string]string{"SHA-1": "sha1", "SHA-256": "sha256"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			dir := m.seed("repo", "--object-format="+format)
			m.does(dir, "init", "demo")
			m.does(dir, "agent", "add", "agent-a")
			m.does(dir, "todo", "add", "work", "--todo-id", "todo_a", "--agent-id", "agent-a", "--claimed-by", "agent-a")
			prepare := []string{"handoff", "prepare", "todo_a", "--goal-id", "demo", "--agent-id", "agent-a", "--session-id", "s",
				"--operation-id", "handoff-1", "--expected-revision", m.tip(dir), "--rationale", "because"}
			repair := readOnly(t, filepath.Join(dir, ".git/objects"))
			for _, args := range [][]string{prepare, {"todo", "add", "more", "--agent-id", "agent-a"}, {"init", "other"}} {
				if r := m.refuses(dir, "storage_write_failed", exitUnavailable, args...); r.get("status") != "failed" || r.get("hint") == "(none)" {
					t.Errorf("%s", r)
				}
			}
			if got := m.does(dir, "todo", "show", "todo_a").get("note_state"); got != "missing" {
				t.Errorf("note_state = %s", got)
			}
			m.does(dir, "doctor")
			repair()
			if r := m.does(dir, prepare...); r.get("status") != "applied" {
				t.Errorf("after the repair: %s", r)
			}
			m.fsck(dir)
		})
	}
}

// TestShapeReadOnlyRepository: a repository that cannot be written at all can still be read.
func TestShapeReadOnlyRepository(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	dir := m.goal("repo", "agent-a")
	m.does(dir, "todo", "add", "work", "--todo-id", "todo_a", "--agent-id", "agent-a")
	repair := readOnly(t, filepath.Join(dir, ".git"))
	for _, args := range [][]string{
		{"todo", "list"}, {"todo", "show", "todo_a"}, {"goal", "list"}, {"doctor"}, {"fsck"},
		{"handoff", "inspect", "todo_a", "--goal-id", "demo", "--agent-id", "agent-a", "--session-id", "s"},
	} {
		m.does(dir, args...)
	}
	m.refuses(dir, "storage_write_failed", exitUnavailable, "todo", "claim", "todo_a", "--agent-id", "agent-a")
	repair()
	m.does(dir, "todo", "claim", "todo_a", "--agent-id", "agent-a")
}

// TestShapeFullDisk: a full disk is an error without harm, and when there is room again all goes on.
func TestShapeFullDisk(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	disk := m.path("disk")
	if err := os.Mkdir(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=768k", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: %s needs to mount a tmpfs: %v: %s", t.Name(), err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", disk).Run() })
	m.git(m.dir, "init", "-q", "--template=", "disk/repo")
	dir := m.path("disk/repo")
	m.does(dir, "init", "demo")
	m.does(dir, "agent", "add", "agent-a")
	m.does(dir, "todo", "add", "work", "--todo-id", "todo_a", "--agent-id", "agent-a")

	fill, err := os.Create(m.path("disk/fill"))
	for err == nil {
		_, err = fill.Write(make([]byte, 1024))
	}
	fill.Close()
	claim := []string{"todo", "claim", "todo_a", "--agent-id", "agent-a", "--operation-id", "claim-1"}
	for _, args := range [][]string{claim, claim, {"todo", "note", "todo_a", "--text", strings.Repeat("long ", 1500), "--agent-id", "agent-a"}} {
		m.refuses(dir, "storage_write_failed", exitUnavailable, args...)
	}
	m.does(dir, "todo", "list")
	if err := os.Remove(fill.Name()); err != nil {
		t.Fatal(err)
	}
	if r := m.does(dir, claim...); r.get("status") != "applied" {
		t.Errorf("with room again: %s", r)
	}
	m.does(dir, "doctor")
	m.fsck(dir)
}

// sh runs a program that must succeed.
func (m *machine) sh(args ...string) {
	m.t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		m.t.Fatalf("%s: %v: %s", args[0], err, out)
	}
}

// letIn lets other users into the machine: temporary directories are their maker's alone.
func (m *machine) letIn() {
	m.t.Helper()
	m.sh("chmod", "-R", "a+rX", filepath.Dir(m.dir), filepath.Dir(filepath.Dir(m.bin)))
}

// asUser makes a command somebody else's.
func asUser(cmd *exec.Cmd, user, group uint32) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: group}}
	return cmd
}

// TestShapeForeignOwner: git does not trust a repository that belongs to somebody else, and neither do we.
func TestShapeForeignOwner(t *testing.T) {
	t.Parallel()
	skipWithout(t, "root, to give a repository away", os.Geteuid() == 0)
	m := newMachine(t)
	dir := m.goal("repo", "agent-a")
	before := m.tip(dir)
	m.sh("chown", "-R", "4242", dir)
	for _, args := range [][]string{{"todo", "list"}, {"init", "other"}, {"todo", "add", "work", "--agent-id", "agent-a"}, {"doctor"}} {
		r := m.refused(m.loopx(dir, args...), "repository_not_found", exitNotFound)
		if !strings.Contains(r.get("reason"), "safe.directory") {
			t.Errorf("git's own advice is missing: %s", r)
		}
	}
	m.sh("chown", "-R", "0", dir)
	if m.tip(dir) != before {
		t.Error("a ref moved")
	}
	m.sh("chown", "-R", "4242", dir)
	m.git(dir, "config", "--global", "safe.directory", dir)
	m.does(dir, "todo", "add", "work", "--agent-id", "agent-a")
}

// TestShapeTwoOfOneGroup: in a repository that a group shares, two of its users take turns, whatever their umask.
func TestShapeTwoOfOneGroup(t *testing.T) {
	t.Parallel()
	skipWithout(t, "root, to become two users", os.Geteuid() == 0)
	m := newMachine(t)
	const group, one, two uint32 = 4300, 4301, 4302
	dir := m.seed("repo", "--shared=group")
	m.git(dir, "config", "--global", "safe.directory", "*")
	m.letIn()
	m.sh("chgrp", "-R", fmt.Sprint(group), dir)
	m.sh("find", dir, "-type", "d", "-exec", "chmod", "g+s", "{}", "+")
	turn := func(user uint32, args ...string) {
		t.Helper()
		sh := m.command(dir, "sh", append([]string{"-c", `umask 077; exec "$@"`, "sh", filepath.Join(m.bin, "git-loopx")}, append(args, "--json")...)...)
		if r, err := ask(asUser(sh, user, group)); err != nil || r.exit != 0 {
			t.Errorf("user %d: git loopx %s: %v: %s", user, strings.Join(args, " "), err, r)
		}
	}
	turn(one, "init", "demo")
	turn(two, "agent", "add", "agent-b")
	turn(one, "agent", "add", "agent-a")
	for i, user := range []uint32{one, two, one, two} {
		id := fmt.Sprintf("todo_%d", i)
		turn(user, "todo", "add", "work "+id, "--todo-id", id, "--agent-id", "agent-a", "--claimed-by", "agent-a")
		turn(one+two-user, "todo", "list")
		turn(one+two-user, "handoff", "prepare", id, "--goal-id", "demo", "--agent-id", "agent-a", "--session-id", "s",
			"--operation-id", "prepare-"+id, "--expected-revision", m.tip(dir), "--rationale", "because")
		turn(user, "todo", "show", id)
	}
	turn(two, "doctor")
	turn(one, "fsck")
	groupWrites(t, filepath.Join(dir, ".git"))
	m.fsck(dir)
}

// TestShapeUnreadable: what the file system does not let us read is unavailable, not absent, and no write follows.
func TestShapeUnreadable(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	dir := m.goal("repo", "agent-a")
	reader := func(cmd *exec.Cmd) *exec.Cmd { return cmd }
	if os.Geteuid() == 0 { // root may read everything: somebody else looks
		m.git(dir, "config", "--global", "safe.directory", "*")
		m.letIn()
		reader = func(cmd *exec.Cmd) *exec.Cmd { return asUser(cmd, 4242, 4242) }
	}
	before := m.tip(dir)
	blob := m.git(dir, "rev-parse", demoRef+":goal.json")
	for _, name := range []string{demoRef, "refs/loopx/goals", "objects/" + blob[:2] + "/" + blob[2:]} {
		path := filepath.Join(dir, ".git", name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"todo", "list", "--goal-id", "demo"}, {"todo", "add", "work", "--goal-id", "demo", "--agent-id", "agent-a"},
			{"handoff", "inspect", "todo_a", "--goal-id", "demo", "--agent-id", "agent-a", "--session-id", "s"}, {"init", "demo"}} {
			r := m.refused(reader(m.loopx(dir, args...)), "authority_unavailable", exitUnavailable)
			if t.Failed() {
				t.Fatalf("%s: %s", name, r)
			}
		}
		if err := os.Chmod(path, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
	if m.tip(dir) != before {
		t.Error("the ref moved")
	}
	m.fsck(dir)
}
