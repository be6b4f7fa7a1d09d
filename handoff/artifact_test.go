package handoff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/todo"
)

// Case 29 of continuation.md, section 12.
func TestArtifactRef(t *testing.T) {
	for ref, words := range map[string]string{
		"decision.md":                  "",
		"./a/./b":                      "",
		"a/../b":                       "",
		"..b/c":                        "",
		"a b é 日本":                     "",
		"~/x":                          "",
		".":                            "",
		strings.Repeat("é", 240):       "",
		strings.Repeat("é", 241):       "more than 240 characters",
		"../x":                         "leaves the workspace",
		"a/../../x":                    "leaves the workspace",
		"..":                           "leaves the workspace",
		`a\..\..\x`:                    "leaves the workspace",
		"a/../..":                      "leaves the workspace",
		"a/../../workspace/x":          "leaves the workspace",
		"/x":                           "not relative",
		`\x`:                           "not relative",
		"//server/x":                   "not relative",
		"C:x":                          "names a drive",
		`c:\x`:                         "names a drive",
		"a\x00b":                       "NUL",
		"":                             "blank",
		"\u00a0":                       "blank",
		"\xff":                         "UTF-8",
		strings.Repeat("a", 239) + "/": "",
	} {
		err := checkArtifacts([]string{ref})
		if words == "" {
			if err != nil {
				t.Errorf("%q: %v", ref, err)
			}
			continue
		}
		if r := wantCode(t, err, todo.CodeInvalidContinuation); !strings.Contains(r.Reason, words) {
			t.Errorf("%q: %q, want %q", ref, r.Reason, words)
		}
	}
}

// Law: a ref that is taken stays below the workspace, whatever it is joined to.
func FuzzArtifactRef(f *testing.F) {
	for _, s := range []string{"a", "../x", "a/../../x", `a\..\..`, "/x", "c:x", "a/./../b/..", "..."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		if checkArtifacts([]string{ref}) != nil {
			return
		}
		for _, path := range []string{filepath.Join("/w/s", ref), filepath.Join("/w/s", strings.ReplaceAll(ref, `\`, "/"))} {
			if path != "/w/s" && !strings.HasPrefix(path, "/w/s/") {
				t.Errorf("%q leads to %q", ref, path)
			}
		}
	})
}

// Case 28: what is there, by its real path.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	workspace := filepath.Join(dir, "w")
	for _, d := range []string{"w/dir/sub", "w2", "elsewhere"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"w/file", "w/dir/sub/deep", "w2/file", "elsewhere/file"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := func(target, name string) {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	link("file", "w/inside")
	link("gone", "w/dangling")
	link("../elsewhere/file", "w/outside")
	link("../w2", "w/sibling")
	link("../elsewhere/gone", "w/dangling-outside")
	link(filepath.Join(dir, "w", "dir"), "w/absolute")
	link("..", "w/up")
	link("loop", "w/loop")
	link("w", "alias")

	for ref, want := range map[string]string{
		"file": "", "inside": "", "dir/sub/deep": "", "absolute/sub/deep": "", "./dir/../file": "", "up/w/file": "",
		"missing": NotFound, "dangling": NotFound, "dangling-outside": NotFound, "file/x": NotFound, "missing/x": NotFound,
		strings.Repeat("x", 240) + "": NotFound, strings.Repeat("😀", 240): NotFound,
		"dir": NotRegularFile, ".": NotRegularFile, "absolute": NotRegularFile,
		"outside": OutsideWorkspace, "sibling/file": OutsideWorkspace, "up": OutsideWorkspace, "up/elsewhere/file": OutsideWorkspace,
	} {
		for _, w := range []string{workspace, filepath.Join(dir, "alias"), workspace + "/dir/.."} {
			v, err := look(w, []string{ref})
			if err != nil {
				t.Errorf("%s in %s: %v", ref, w, err)
				continue
			}
			if got := v.Artifacts[0]; got.Reason != want || got.Available != (want == "") || v.Ready != got.Available || !v.WorkspaceAvailable || got.Ref != ref {
				t.Errorf("%q in %s: %+v, want %q", ref, w, v, want)
			}
		}
	}
	_, err := look(workspace, []string{"file", "loop"})
	wantCode(t, err, CodeWorkspaceReadFailed)

	for _, w := range []string{filepath.Join(dir, "gone"), filepath.Join(workspace, "file"), filepath.Join(workspace, "file", "x")} {
		v, err := look(w, []string{"file"})
		if err != nil || v.WorkspaceAvailable || v.Ready || v.Artifacts[0].Available || v.Artifacts[0].Reason != NotFound {
			t.Errorf("workspace %s: %+v, %v", w, v, err)
		}
	}
	t.Chdir(workspace)
	if v, err := look("", []string{"file"}); err != nil || !v.Ready {
		t.Errorf("workspace of the process: %+v, %v", v, err)
	}
	if v, err := look(".", nil); err != nil || !v.Ready || v.Artifacts == nil {
		t.Errorf("no artifacts: %+v, %v", v, err)
	}
}

func TestCutText(t *testing.T) {
	for _, row := range []struct {
		in    string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "…"}, {"éééé", 7, "éé…"}, {"éééé", 6, "é…"}, {"😀😀", 5, "…"}} {
		if got := cutText(row.in, row.limit); got != row.want {
			t.Errorf("cutText(%q, %d) is %q, want %q", row.in, row.limit, got, row.want)
		}
	}
}
