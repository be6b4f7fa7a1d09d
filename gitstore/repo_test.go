package gitstore

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// testEnv is an environment that holds nothing of the person who runs the tests.
func testEnv(t testing.TB, more ...string) []string {
	t.Helper()
	home := t.TempDir()
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + filepath.Join(home, "config"),
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "TMPDIR=" + os.TempDir(),
	}, more...)
}

// testRepo is a new repository and what tests do to it with git.
type testRepo struct {
	*Repository
	t   testing.TB
	dir string
	env []string
}

// newRepo makes a repository with git init and opens it.
func newRepo(t testing.TB, format Format, c Config) *testRepo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	tr := &testRepo{t: t, dir: dir, env: testEnv(t)}
	gitIn(t, ".", tr.env, "init", "-q", "-b", "main", "--object-format="+string(format), dir)
	tr.open(c)
	return tr
}

// open opens the repository again with another configuration.
func (tr *testRepo) open(c Config) *testRepo {
	tr.t.Helper()
	c.Dir, c.Env, c.Random = tr.dir, append(tr.env, c.Env...), rand.Reader
	if c.Now == nil {
		c.Now = time.Now
	}
	r, err := Open(context.Background(), c)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.t.Cleanup(func() { r.Close() })
	tr.Repository = r
	return tr
}

// gitIn runs git and returns its output.
func gitIn(t testing.TB, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

func (tr *testRepo) run(args ...string) string {
	tr.t.Helper()
	return gitIn(tr.t, tr.dir, tr.env, args...)
}

// fsck fails the test where git finds anything wrong.
func (tr *testRepo) fsck() {
	tr.t.Helper()
	tr.run("fsck", "--strict", "--full", "--no-dangling")
}

const testRef RefName = "refs/loopx/goals/demo"

// put is an operation that stores files.
func put(id string, files map[string][]byte) Operation {
	return Operation{
		Ref: testRef, ID: id, Kind: "test put", Goal: "demo", Request: strings.Repeat("a", 64), Creates: true,
		Decide: func(context.Context, *Snapshot) (Change, error) {
			return Change{Subject: "test put " + id, Files: files, Result: map[string]any{"id": id}}, nil
		},
	}
}

// formats runs a test for both object formats, natively and through git alone.
func formats(t *testing.T, test func(t *testing.T, f Format, c Config)) {
	for _, f := range []Format{SHA1, SHA256} {
		for _, plumbing := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/plumbing=%v", f, plumbing), func(t *testing.T) {
				t.Parallel()
				test(t, f, Config{Plumbing: plumbing})
			})
		}
	}
}

// TestLooseSizes: git reads back what is stored and what is compressed, and so do we.
func TestLooseSizes(t *testing.T) {
	for _, format := range []Format{SHA1, SHA256} {
		tr := newRepo(t, format, Config{})
		var objects []object
		for _, size := range []int{0, 1, 100, smallObject - 1, smallObject, smallObject + 1, 70000} {
			objects = append(objects, newObject(format, blobKind, bytes.Repeat([]byte{'x', 0, '\n', 0xff, byte(size)}, size/5+1)[:size]))
		}
		finish, err := tr.writeLoose(objects, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := finish(); err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			kind, content, err := tr.readLoose(o.id)
			if err != nil || kind != blobKind || !bytes.Equal(content, o.content) {
				t.Errorf("%d bytes: read back %d, %v", len(o.content), len(content), err)
			}
			if got := tr.run("cat-file", "-s", string(o.id)); got != fmt.Sprint(len(o.content)) {
				t.Errorf("%d bytes: git says %s", len(o.content), got)
			}
		}
		tr.run("fsck", "--strict", "--full", "--no-dangling")
		tr.run("repack", "-adq", "--keep-unreachable")
		tr.run("fsck", "--strict", "--full", "--no-dangling")
	}
}
