package gitstore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// wrapGit puts a shell script named git in front of the real one: body runs with the arguments of git, REAL names the
// real git and VERB is the first argument that is no option. The environment to open a repository with is returned.
func wrapGit(t *testing.T, body string) []string {
	t.Helper()
	real, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := `#!/bin/sh
REAL='` + real + `'
VERB= skip=
for a in "$@"; do
	if [ -n "$skip" ]; then skip=; continue; fi
	case $a in -c) skip=1 ;; -*) ;; *) VERB=$a; break ;; esac
done
` + body + `
exec "$REAL" "$@"
`
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
}

// tip returns the ref as git sees it, "" where it does not exist.
func (tr *testRepo) tip() string {
	return tr.run("for-each-ref", "--format=%(objectname)", string(testRef))
}

func TestSwapWhoseAnswerIsLost(t *testing.T) {
	for name, tt := range map[string]struct {
		body string
		want Status
	}{
		"git dies after the commit": {`[ "$VERB" = update-ref ] && { "$REAL" "$@" | sed -u /commit/d; exit 1; }`, Recovered},
		"git dies before it commits, once": {
			`if [ "$VERB" = update-ref ] && [ ! -e "$MARK" ]; then : >"$MARK"; head -n 2 >/dev/null; exit 1; fi`, Applied},
		"git dies at the commit, once": {
			`if [ "$VERB" = update-ref ] && [ ! -e "$MARK" ]; then : >"$MARK"; sed -u /commit/Q | "$REAL" "$@"; exit 1; fi`, Applied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := context.Background()
			r := newRepo(t, SHA1, Config{})
			r.open(Config{Env: append(wrapGit(t, tt.body), "MARK="+filepath.Join(t.TempDir(), "mark"))})
			out, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")}))
			if err != nil || out.Status != tt.want {
				t.Fatalf("status %q, %v; want %q", out.Status, err, tt.want)
			}
			if r.tip() != string(out.Receipt.Revision) {
				t.Errorf("tip %s, receipt says %s", r.tip(), out.Receipt.Revision)
			}
			again, err := r.Apply(ctx, put("op-1", nil))
			if err != nil || again.Status != Replayed {
				t.Errorf("again: %q, %v", again.Status, err)
			}
			r.fsck()
		})
	}
}

func TestSwapWhoseOutcomeCannotBeRead(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	if _, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")})); err != nil {
		t.Fatal(err)
	}
	// After the commit the ref is made unreadable: whether it moved cannot be told.
	ref := filepath.Join(r.CommonDir(), string(testRef))
	body := `[ "$VERB" = update-ref ] && { "$REAL" "$@" | sed -u /commit/d; mv '` + ref + `' '` + ref + `.aside'; : >'` + ref + `'; exit 1; }`
	r.open(Config{Env: wrapGit(t, body)})
	_, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")}))
	var ambiguous *AmbiguousError
	if !errors.As(err, &ambiguous) || ambiguous.OperationID != "op-2" {
		t.Fatalf("err = %v, want ambiguous", err)
	}
	if err := os.Rename(ref+".aside", ref); err != nil {
		t.Fatal(err)
	}
	r.open(Config{})
	again, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")}))
	if err != nil || again.Status != Replayed {
		t.Errorf("again: %q, %v", again.Status, err)
	}
}

// another commits one operation with a git of its own, from inside a wrapped git.
const another = `if [ "$VERB" = update-ref ] && [ ! -e "$MARK" ]; then
	: >"$MARK"
	old=$("$REAL" rev-parse refs/loopx/goals/demo)
	new=$(echo other | "$REAL" commit-tree "$old^{tree}" -p "$old")
	"$REAL" update-ref refs/loopx/goals/demo "$new" "$old"
fi`

func TestCommitBetweenLoadAndSwap(t *testing.T) {
	for name, pinned := range map[string]bool{"pinned": true, "not pinned": false} {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			r := newRepo(t, SHA1, Config{})
			first, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")}))
			if err != nil {
				t.Fatal(err)
			}
			r.open(Config{Env: append(wrapGit(t, another), "MARK="+filepath.Join(t.TempDir(), "mark"))})
			op := put("op-2", map[string][]byte{"b": []byte("b")})
			if pinned {
				op.Expected = first.Tip.Revision()
			}
			out, err := r.Apply(ctx, op)
			if !pinned {
				if err != nil || out.Status != Applied {
					t.Errorf("%q, %v", out.Status, err)
				}
				return
			}
			var mismatch *MismatchError
			if !errors.As(err, &mismatch) || mismatch.Current != ObjectID(r.tip()) {
				t.Errorf("err = %v", err)
			}
			if receipt, err := r.FindReceipt(ctx, r.At(testRef, ObjectID(r.tip())), "op-2"); receipt != nil || err != nil {
				t.Errorf("a receipt was left: %v, %v", receipt, err)
			}
		})
	}
}

func TestOthersKeepCommittingPastTheDeadline(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	if _, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")})); err != nil {
		t.Fatal(err)
	}
	r.run("config", "loopx.timeout", "400ms")
	always := strings.Replace(another, `&& [ ! -e "$MARK" ]`, "", 1)
	r.open(Config{Env: append(wrapGit(t, always), "MARK="+filepath.Join(t.TempDir(), "mark"))})
	_, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")}))
	if !is[*BusyError](err) {
		t.Errorf("err = %v, want busy", err)
	}
	r.open(Config{})
	if receipt, err := r.FindReceipt(ctx, r.At(testRef, ObjectID(r.tip())), "op-2"); receipt != nil || err != nil {
		t.Errorf("a receipt was left: %v, %v", receipt, err)
	}
}

func TestHeldRefLock(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	out, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")}))
	if err != nil {
		t.Fatal(err)
	}
	r.run("config", "loopx.timeout", "0.5")
	r.open(Config{})
	lock := filepath.Join(r.CommonDir(), string(testRef)+".lock")
	if err := os.WriteFile(lock, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")}))
	var busy *BusyError
	if !errors.As(err, &busy) || busy.Lock != string(testRef)+".lock" {
		t.Errorf("err = %v", err)
	}
	if r.tip() != string(out.Tip.Revision()) {
		t.Error("the ref moved")
	}
	// Young, the lock is somebody's; older than a minute it is nobody's.
	if found, err := r.Leftovers(ctx); len(found) != 0 || err != nil {
		t.Errorf("leftovers = %v, %v", found, err)
	}
	old := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	found, err := r.Leftovers(ctx)
	if err != nil || len(found) != 1 || found[0].Kind != StaleLock {
		t.Fatalf("leftovers = %v, %v", found, err)
	}
	if err := r.Mend(ctx, found[0]); err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")})); err != nil || out.Status != Applied {
		t.Errorf("after mending: %q, %v", out.Status, err)
	}
}

func TestFullDisk(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=768k", "tmpfs", dir).CombinedOutput(); err != nil {
		t.Skipf("TestFullDisk needs to mount a tmpfs (root on Linux): %v: %s", err, out)
	}
	t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
	tr := &testRepo{t: t, dir: filepath.Join(dir, "repo"), env: testEnv(t)}
	gitIn(t, ".", tr.env, "init", "-q", "--template=", tr.dir)
	r := tr.open(Config{})
	out, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")}))
	if err != nil {
		t.Fatal(err)
	}
	fill := filepath.Join(dir, "fill")
	f, err := os.Create(fill)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	f.Close()
	for i := range 3 {
		_, err = r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte(strings.Repeat(fmt.Sprint(i), 20_000))}))
		if !is[*WriteError](err) {
			t.Errorf("err = %v, want a write error", err)
		}
		if r.tip() != string(out.Tip.Revision()) {
			t.Error("the ref moved")
		}
	}
	if err := os.Remove(fill); err != nil {
		t.Fatal(err)
	}
	if out, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")})); err != nil || out.Status != Applied {
		t.Errorf("with room again: %q, %v", out.Status, err)
	}
	r.fsck()
}

func TestReadOnlyObjectStore(t *testing.T) {
	for _, plumbing := range []bool{false, true} {
		t.Run(fmt.Sprint("plumbing=", plumbing), func(t *testing.T) {
			ctx := context.Background()
			r := newRepo(t, SHA1, Config{Plumbing: plumbing})
			out, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")}))
			if err != nil {
				t.Fatal(err)
			}
			readOnly(t, filepath.Join(r.CommonDir(), "objects"))
			_, err = r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")}))
			if !is[*WriteError](err) {
				t.Errorf("err = %v, want a write error", err)
			}
			if now, err := r.Resolve(ctx, testRef); now != out.Tip.Revision() || err != nil {
				t.Errorf("the ref moved: %v, %v", now, err)
			}
			if b, ok, err := r.At(testRef, out.Tip.Revision()).File(ctx, "a"); !ok || string(b) != "a" || err != nil {
				t.Errorf("reading: %q, %v, %v", b, ok, err)
			}
		})
	}
}

// readOnly makes a directory refuse writes, also to root: by a read-only bind mount there.
func readOnly(t *testing.T, dir string) {
	t.Helper()
	if os.Geteuid() != 0 {
		err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				t.Cleanup(func() { os.Chmod(path, 0o755) })
				return os.Chmod(path, 0o555)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, args := range [][]string{{"--bind", dir, dir}, {"-o", "remount,bind,ro", dir}} {
		if out, err := exec.Command("mount", args...).CombinedOutput(); err != nil {
			t.Skipf("%s needs a read-only directory, which root gets by a bind mount: %v: %s", t.Name(), err, out)
		}
		if args[0] == "--bind" {
			t.Cleanup(func() { exec.Command("umount", "-l", dir).Run() })
		}
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	ctx := context.Background()
	empty := t.TempDir()
	if _, err := Open(ctx, Config{Dir: empty, Env: []string{"PATH=" + empty}}); !errors.Is(err, ErrGitMissing) {
		t.Errorf("no git: %v", err)
	}
	if _, err := Open(ctx, Config{Dir: empty, Env: testEnv(t)}); !is[*NotRepositoryError](err) {
		t.Errorf("no repository: %v", err)
	}
	old := wrapGit(t, `[ "$VERB" = version ] && { echo git version 2.30.2; exit; }; [ "$VERB" = rev-parse ] && exit 129`)
	var version *VersionError
	if _, err := Open(ctx, Config{Dir: empty, Env: append(testEnv(t), old...)}); !errors.As(err, &version) || version.Have != "2.30.2" {
		t.Errorf("old git: %v", err)
	}
	r := newRepo(t, SHA1, Config{})
	r.open(Config{Env: []string{"GIT_QUARANTINE_PATH=" + empty}})
	if _, err := r.Apply(ctx, put("op", nil)); !errors.Is(err, ErrQuarantine) {
		t.Errorf("quarantine: %v", err)
	}
	r.env = slices.DeleteFunc(r.env, func(v string) bool { return strings.HasPrefix(v, "GIT_COMMITTER_") })
	r.run("config", "user.useConfigOnly", "true")
	r.open(Config{})
	var missing *IdentityMissingError
	if _, err := r.Apply(ctx, put("op", nil)); !errors.As(err, &missing) || !strings.Contains(missing.Advice, "git config") {
		t.Errorf("no identity: %v", err)
	}
	if r.tip() != "" {
		t.Error("a ref was made")
	}
}

func TestAnOutcomeThatCannotBeToldIsNotCalledBusy(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	if _, err := r.Apply(ctx, put("op-1", map[string][]byte{"a": []byte("a")})); err != nil {
		t.Fatal(err)
	}
	ref := filepath.Join(r.CommonDir(), string(testRef))
	// It commits, makes the ref unreadable, and then says nothing until it is ended.
	r.run("config", "loopx.timeout", "1s")
	r.open(Config{Env: wrapGit(t, `[ "$VERB" = update-ref ] && { "$REAL" "$@" | sed -u /commit/d; mv '`+ref+`' '`+ref+`.aside'; : >'`+ref+`'; exec sleep 30; }`)})
	_, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")}))
	if !is[*AmbiguousError](err) || is[*BusyError](err) {
		t.Errorf("err = %v, want ambiguous", err)
	}
	if err := os.Rename(ref+".aside", ref); err != nil {
		t.Fatal(err)
	}
	r.open(Config{})
	if again, err := r.Apply(ctx, put("op-2", nil)); err != nil || again.Status != Replayed {
		t.Errorf("again: %q, %v", again.Status, err)
	}
}

func TestAStoppedWriterDoesNotStopOthers(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	r.apply("op-1", map[string][]byte{"a": []byte("a")})
	r.run("config", "loopx.timeout", "1s")
	r.open(Config{})
	other := (&testRepo{t: t, dir: r.dir, env: r.env}).open(Config{})
	done := other.queue(ctx, testRef)
	defer done()
	if out, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")})); err != nil || out.Status != Applied {
		t.Errorf("%q, %v", out.Status, err)
	}
}

func TestAnAnswerThatComesTooLateAndUnderAnother(t *testing.T) {
	ctx := context.Background()
	r := newRepo(t, SHA1, Config{})
	r.apply("op-1", map[string][]byte{"a": []byte("a")})
	r.run("config", "loopx.timeout", "1s")
	// It commits without saying so, another writes on top of it, and then nothing more is heard.
	r.open(Config{Env: wrapGit(t, `if [ "$VERB" = update-ref ]; then
	"$REAL" "$@" | sed -u /commit/d
	old=$("$REAL" rev-parse refs/loopx/goals/demo)
	new=$(echo other | "$REAL" commit-tree "$old^{tree}" -p "$old")
	"$REAL" update-ref refs/loopx/goals/demo "$new" "$old"
	exec sleep 30
fi`)})
	out, err := r.Apply(ctx, put("op-2", map[string][]byte{"b": []byte("b")}))
	if err != nil || out.Status != Recovered {
		t.Errorf("%q, %v", out.Status, err)
	}
}
