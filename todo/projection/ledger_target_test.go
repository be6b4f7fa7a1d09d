package projection

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-loopx/git-loopx/todo"
)

// TestTargets: each name, with what is in its way, and what a delivery says. The repair is the same call again.
func TestTargets(t *testing.T) {
	for _, test := range []struct {
		name, file string
		before     func(w *world)
		want       todo.Code // "": delivered
		repair     func(w *world)
	}{
		{name: "in a directory", file: "docs/TODO.md", before: func(w *world) { w.must(os.Mkdir(w.path("docs"), 0o755)) }},
		{name: "no such directory", file: "docs/TODO.md", want: CodeTargetUnavailable,
			repair: func(w *world) { w.must(os.Mkdir(w.path("docs"), 0o755)) }},
		{name: "a file is on the way", file: "docs/TODO.md", before: func(w *world) { w.write("docs", "x") }, want: CodeTargetUnavailable,
			repair: func(w *world) { w.must(os.Remove(w.path("docs"))); w.must(os.Mkdir(w.path("docs"), 0o755)) }},
		{name: "a directory", file: "TODO.md", before: func(w *world) { w.must(os.Mkdir(w.path("TODO.md"), 0o755)) }, want: CodeTargetUnavailable,
			repair: func(w *world) { w.must(os.Remove(w.path("TODO.md"))) }},
		{name: "absolute", file: "/tmp/TODO.md", want: CodeTargetUnavailable},
		{name: "above", file: "../TODO.md", want: CodeTargetUnavailable},
		{name: "up and down", file: "docs/../TODO.md", before: func(w *world) { w.must(os.Mkdir(w.path("docs"), 0o755)) }, want: CodeTargetUnavailable},
		{name: "the work tree itself", file: ".", want: CodeTargetUnavailable},
		{name: "ends in a slash", file: "TODO.md/", want: CodeTargetUnavailable},
		{name: "git's own", file: ".git/TODO.md", want: CodeTargetUnavailable},
		{name: "git's own by another name", file: "own/TODO.md", before: func(w *world) { w.must(os.Symlink(".git", w.path("own"))) }, want: CodeTargetUnavailable},
		{name: "a name too long", file: strings.Repeat("x", 256), want: CodeTargetUnavailable},
		{name: "the longest name", file: strings.Repeat("x", 255)},
		{name: "a link within", file: "TODO.md", before: func(w *world) {
			w.must(os.Mkdir(w.path("docs"), 0o755))
			w.write("docs/real.md", "kept\n")
			w.must(os.Symlink("docs/real.md", w.path("TODO.md")))
		}},
		{name: "a directory link within", file: "d/TODO.md", before: func(w *world) {
			w.must(os.Mkdir(w.path("docs"), 0o755))
			w.must(os.Symlink(w.path("docs"), w.path("d")))
		}},
		{name: "a dangling link", file: "TODO.md", before: func(w *world) { w.must(os.Symlink("nothing.md", w.path("TODO.md"))) }, want: CodeTargetUnavailable,
			repair: func(w *world) { w.write("nothing.md", "") }},
		{name: "a link to a directory", file: "TODO.md", before: func(w *world) {
			w.must(os.Mkdir(w.path("docs"), 0o755))
			w.must(os.Symlink("docs", w.path("TODO.md")))
		}, want: CodeTargetUnavailable},
		{name: "a link out", file: "TODO.md", before: func(w *world) {
			w.write("../outside.md", "outside\n")
			w.must(os.Symlink("../outside.md", w.path("TODO.md")))
		}, want: CodeTargetUnavailable, repair: func(w *world) { w.must(os.Remove(w.path("TODO.md"))) }},
		{name: "a directory link out", file: "d/TODO.md", before: func(w *world) {
			w.must(os.Mkdir(w.path("../elsewhere"), 0o755))
			w.must(os.Symlink("../elsewhere", w.path("d")))
		}, want: CodeTargetUnavailable},
		{name: "a directory link to a name that begins the same", file: "d/TODO.md", before: func(w *world) {
			w.must(os.Mkdir(w.dir+"2", 0o755))
			w.must(os.Symlink(w.dir+"2", w.path("d")))
		}, want: CodeTargetUnavailable},
		{name: "markers doubled", file: "TODO.md", before: func(w *world) { w.write("TODO.md", beginDemo+"\n"+beginDemo+"\n"+endDemo+"\n") },
			want: CodeRenderRejected, repair: func(w *world) { w.write("TODO.md", beginDemo+"\n"+endDemo+"\n") }},
		{name: "markers crossed", file: "TODO.md", before: func(w *world) {
			w.write("TODO.md", beginDemo+"\n"+beginOther+"\n"+endDemo+"\n"+endOther+"\n")
		}, want: CodeRenderRejected},
		{name: "no place for the lock", file: "TODO.md", before: func(w *world) {
			w.must(os.RemoveAll(w.path(".git/loopx/locks")))
			w.must(os.WriteFile(w.path(".git/loopx/locks"), nil, 0o644))
		}, want: CodeWriteUnavailable, repair: func(w *world) { w.must(os.Remove(w.path(".git/loopx/locks"))) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.Contains(test.name, "link") {
				t.Skip("links need a permission here")
			}
			w := newWorld(t)
			if test.before != nil {
				test.before(w)
			}
			w.config("loopx.projection", test.file)
			if test.want == "" {
				w.delivered(Delivered)
				w.shown(test.file, "demo")
				return
			}
			before := snapshot(t, filepath.Dir(w.dir))
			w.pending(test.want)
			if diff := cmp.Diff(snapshot(t, filepath.Dir(w.dir)), before); diff != "" {
				t.Errorf("something was written:\n%s", diff)
			}
			if test.repair != nil {
				test.repair(w)
				w.delivered(Delivered)
				w.shown(test.file, "demo")
			}
		})
	}
}

// temps are the temporary files at the top of the work tree.
func (w *world) temps() []string {
	w.t.Helper()
	all, err := filepath.Glob(w.path(".loopx-*" + tempSuffix))
	w.must(err)
	return all
}

// TestSweep: a temporary file that is left over is taken away by the next who has the turn, and nothing else that the lock
// may name.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	w.delivered(Delivered)
	locks, err := filepath.Glob(w.path(".git/loopx/locks/projection-*"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("got %q, %v", locks, err)
	}
	named, err := os.ReadFile(locks[0])
	w.must(err)
	if len(named) == 0 {
		t.Skip("this file system has no exclusive turn")
	}
	left := string(named)
	random := strings.TrimSuffix(left[len(left)-16-len(tempSuffix):], tempSuffix)
	for _, test := range []struct {
		name, says, file string
		removed          bool
	}{
		{"left over", left, left, true},
		{"not there any more", left, "kept.md", false},
		{"a name too short", "kept.md", "kept.md", false},
		{"a name as long", strings.Repeat("k", len(left)), strings.Repeat("k", len(left)), false},
		{"a way to another", strings.Replace(left, random, "-aaaaaaa/../kept", 1), "kept.tmp", false},
		{"of another file", strings.Replace(left, left[7:9], "zz", 1), strings.Replace(left, left[7:9], "zz", 1), false},
	} {
		w.write(test.file, "half of a vi")
		w.must(os.WriteFile(locks[0], []byte(test.says), 0o600))
		w.update(test.name)
		w.delivered(Delivered)
		if _, err := os.Stat(w.path(test.file)); errors.Is(err, os.ErrNotExist) != test.removed {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	w.must(os.WriteFile(locks[0], []byte(left), 0o600))
	w.must(os.MkdirAll(w.path(left+"/x"), 0o755))
	w.update("what cannot be taken away is in nobody's way")
	w.delivered(Delivered)
}

// snapshot is all that is below a directory but for the disposable files of git and ours, with content.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if filepath.Base(path) == ".git" {
			return filepath.SkipDir
		}
		all[path] = d.Type().String()
		if d.Type().IsRegular() {
			b, err := os.ReadFile(path)
			all[path] += string(b)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestLinkIsKept(t *testing.T) {
	w := newWorld(t)
	w.must(os.Mkdir(w.path("docs"), 0o755))
	w.write("docs/real.md", "kept\n")
	w.must(os.Symlink("docs/real.md", w.path("TODO.md")))
	w.delivered(Delivered)
	if link, err := os.Readlink(w.path("TODO.md")); err != nil || link != "docs/real.md" {
		t.Errorf("the link is %q (%v)", link, err)
	}
	if got := w.read("docs/real.md"); !strings.HasPrefix(got, "kept\n"+beginDemo) {
		t.Errorf("got %q", got)
	}
}

// TestTooLarge: a file never becomes so large that it would not be read again.
func TestTooLarge(t *testing.T) {
	w := newWorld(t)
	w.write("TODO.md", "")
	for _, size := range []int64{maxFile, maxFile + 1} {
		w.must(os.Truncate(w.path("TODO.md"), size))
		if o := w.pending(CodeTargetUnavailable); !strings.Contains(o.Action, "larger than 64 MiB; let git config name another file") {
			t.Errorf("got %q", o.Action)
		}
		if now, err := os.Stat(w.path("TODO.md")); err != nil || now.Size() != size {
			t.Errorf("the file is %v (%v)", now, err)
		}
	}
	w.must(os.Truncate(w.path("TODO.md"), 0))
	w.delivered(Delivered)
}

// TestRepairIsNamed: a delivery that is pending names the key that counts and the revision that is the tip, also where no
// view was made.
func TestRepairIsNamed(t *testing.T) {
	w := newWorld(t)
	w.config("loopx.goal.demo.projection", "../TODO.md")
	want := `the Markdown file "../TODO.md": it has a .. in it; let git config loopx.goal.demo.projection name a file of the work tree, ` +
		`then run the same command again with its operation id, or git loopx todo project-markdown --goal-id demo --provider-revision ` +
		string(w.tip()) + ` --execute`
	if o := w.pending(CodeTargetUnavailable); o.Action != want || o.Revision != "" {
		t.Errorf("got %q", o.Action)
	}
}

func TestReadOnlyFile(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("a read-only file needs a user who is not root")
	}
	w := newWorld(t)
	w.write("TODO.md", "mine\n")
	w.must(os.Chmod(w.path("TODO.md"), 0o444))
	w.pending(CodeWriteUnavailable)
	if got := w.read("TODO.md"); got != "mine\n" {
		t.Errorf("got %q", got)
	}
	w.must(os.Chmod(w.path("TODO.md"), 0o644))
	w.delivered(Delivered)
}

func TestBareRepository(t *testing.T) {
	w := newWorld(t, "--bare")
	if o := w.pending(CodeTargetUnavailable); !strings.Contains(o.Action, "no work tree") {
		t.Errorf("got %q", o.Action)
	}
}

// TestLinkedWorkTree: a view goes into the work tree that the command runs in.
func TestLinkedWorkTree(t *testing.T) {
	w := newWorld(t)
	w.git("commit", "-q", "--allow-empty", "-m", "first")
	main := w.dir
	w.git("worktree", "add", "-q", "--detach", main+"-b")
	w.dir = main + "-b"
	w.Ledger = w.open()
	w.delivered(Delivered)
	w.shown("TODO.md", "demo")
	if _, err := os.Stat(filepath.Join(main, "TODO.md")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the main work tree has it: %v", err)
	}
	w.config("loopx.projection", ".git")
	w.pending(CodeTargetUnavailable)
}
