package main

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// packages are the packages whose errors this program speaks for.
var packages = []string{"gitstore", "todo", "lease", "handoff", "hooks"}

// declarations calls each for every exported declaration in the non-test files below the packages.
func declarations(t *testing.T, each func(pkg string, spec ast.Spec, file *ast.File)) {
	t.Helper()
	for _, dir := range packages {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range file.Decls {
				if g, ok := decl.(*ast.GenDecl); ok {
					for _, spec := range g.Specs {
						each(file.Name.Name, spec, file)
					}
				}
				// A method Error makes its receiver an error type.
				if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil && f.Name.Name == "Error" {
					each(file.Name.Name, &ast.TypeSpec{Name: receiver(f)}, file)
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

func receiver(f *ast.FuncDecl) *ast.Ident {
	switch x := f.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		return x.X.(*ast.Ident)
	case *ast.Ident:
		return x
	}
	return ast.NewIdent("_")
}

// TestEveryErrorHasARow: a package that exports an error sentinel, an error type or a reason code needs a row in the
// table, or users get exit status 70 or 1 and no hint.
func TestEveryErrorHasARow(t *testing.T) {
	rows := map[string]bool{"todo.Refusal": true, "canonical.ErrNotCanonical": true} // the former carries a code; the latter is always wrapped in one
	for _, r := range errorRows() {
		rows[r.name] = true
	}
	table := codes()
	declarations(t, func(pkg string, spec ast.Spec, file *ast.File) {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Type == nil && s.Name.IsExported() && !rows[pkg+"."+s.Name.Name] {
				t.Errorf("error type %s.%s has no row in errorRows", pkg, s.Name.Name)
			}
		case *ast.ValueSpec:
			for i, name := range s.Names {
				if strings.HasPrefix(name.Name, "Err") && name.IsExported() && !rows[pkg+"."+name.Name] {
					t.Errorf("sentinel %s.%s has no row in errorRows", pkg, name.Name)
				}
				if !isCode(s.Type) || i >= len(s.Values) {
					continue
				}
				literal, ok := s.Values[i].(*ast.BasicLit)
				if !ok {
					continue
				}
				code, err := strconv.Unquote(literal.Value)
				if err != nil {
					t.Fatal(err)
				}
				if _, ok := table[code]; !ok {
					t.Errorf("code %q (%s.%s) has no row in codes", code, pkg, name.Name)
				}
			}
		}
	})
}

// isCode reports whether a constant has the type Code or todo.Code.
func isCode(t ast.Expr) bool {
	switch x := t.(type) {
	case *ast.Ident:
		return x.Name == "Code"
	case *ast.SelectorExpr:
		return x.Sel.Name == "Code"
	}
	return false
}

// TestExitStatuses: the exit status of every code is the one that cli.md gives to its kind.
func TestExitStatuses(t *testing.T) {
	argument := map[string]bool{"usage_error": true, "actor_required": true, "todo_id_ambiguous": true,
		"invalid_continuation_request": true, "invalid_goal_request": true,
		"invalid_canonical_acquire_request": true, "invalid_canonical_lifecycle_request": true, "invalid_owner": true,
		"invalid_idempotency_key": true, "invalid_ttl": true, "invalid_expected_version": true, "version_required": true}
	for code, row := range codes() {
		want := exitRefused
		switch {
		case argument[code], strings.HasPrefix(code, "invalid_coordination_todo_"):
			want = exitUsage
		case strings.HasSuffix(code, "_not_found"), strings.HasSuffix(code, "_requires_canonical_authority"):
			want = exitNotFound
		case code == "provider_revision_mismatch", code == "coordination_operation_identity_mismatch":
			want = exitConflict
		case code == "authority_busy", code == "coordination_receipt_recovery_required", code == "authority_unavailable",
			code == "workspace_read_failed", code == "git_unavailable", code == "storage_write_failed":
			want = exitUnavailable
		case code == "unsupported_schema_version", code == "invalid_coordination_projection":
			want = exitDamaged
		case code == "internal_error":
			want = exitDefect
		case code == "interrupted":
			want = exitInterrupted
		}
		if row.exit != want {
			t.Errorf("%s: exit status %d, want %d", code, row.exit, want)
		}
	}
}

// TestHintsAreSafe: every code has a hint, in the shape of our speech, and none names a command that destroys, forces or
// resets.
func TestHintsAreSafe(t *testing.T) {
	for code, row := range codes() {
		hint := row.hint
		if hint == "" || strings.HasSuffix(hint, ".") || strings.ContainsAny(hint[:1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			t.Errorf("%s: hint %q", code, hint)
		}
		for _, word := range []string{"--force", "reset", "delete", "remove", "rm ", "clean", "--hard", "prune", "update-ref"} {
			if strings.Contains(hint, word) {
				t.Errorf("%s: hint %q names %q", code, hint, word)
			}
		}
	}
}

// TestHintNamesTodo: a hint names the Todo that was asked for, and nothing that is no id, since hints are run.
func TestHintNamesTodo(t *testing.T) {
	const show = "look at the Todo as it is now: git loopx todo show "
	refusal := &todo.Refusal{Code: todo.CodeTodoNotOpen, Status: todo.Rejected, Reason: "done"}
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"known", &placedError{refusal, members{{"goal_id", "demo"}, {"todo_id", "todo_a"}}}, show + "todo_a"},
		{"chosen by the rule", &placedError{&todo.Refusal{Code: refusal.Code, Detail: map[string]any{"todo_id": todo.ID("todo_b")}},
			members{{"goal_id", "demo"}}}, show + "todo_b"},
		{"not known", refusal, show + "TODO"},
		{"no id", &placedError{refusal, members{{"todo_id", "todo_a; echo"}}}, show + "TODO"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := explain(test.err).hint; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	at := time.Date(2026, 9, 13, 10, 5, 0, 0, time.UTC)
	for _, test := range []struct {
		name         string
		err          error
		code, status string
		exit         int
		document     string // members besides those of every refusal
	}{
		{"moved", &gitstore.MismatchError{Expected: "aa", Current: "bb"}, "provider_revision_mismatch", "conflict", 4,
			`{"conflict_kind":"provider_revision_mismatch","expected_revision":"aa","current_provider_revision":"bb"}`},
		{"identity", fmt.Errorf("todo claim: %w", &gitstore.IdentityError{OperationID: "op", Kind: "todo add", At: at}),
			"coordination_operation_identity_mismatch", "conflict", 4,
			`{"conflict_kind":"operation_id_exists","operation_id":"op","stored_kind":"todo add","stored_at":"2026-09-13T10:05:00Z"}`},
		{"busy", &gitstore.BusyError{Ref: "refs/loopx/goals/demo", Lock: "x.lock"}, "authority_busy", "busy", 5, `{"lock":"x.lock"}`},
		{"ambiguous", &gitstore.AmbiguousError{OperationID: "op", Err: io.EOF}, "coordination_receipt_recovery_required", "ambiguous", 5,
			`{"operation_id":"op","recovery":{"operation_id":"op","retry_with_same_operation_id":true}}`},
		{"unavailable", &gitstore.UnavailableError{What: "x", Err: io.EOF}, "authority_unavailable", "failed", 5, `{}`},
		{"unavailable, because absent", &gitstore.UnavailableError{What: "x", Err: gitstore.ErrObjectMissing}, "authority_unavailable", "failed", 5, `{}`},
		{"damaged", &gitstore.DamagedError{Path: "goal.json", Err: io.EOF}, "invalid_coordination_projection", "failed", 6, `{"record":"goal.json"}`},
		{"newer", &gitstore.DamagedError{Path: "p", Schema: "loopx.receipt/2", Err: io.EOF}, "unsupported_schema_version", "failed", 6,
			`{"record":"p","schema":"loopx.receipt/2"}`},
		{"no git", gitstore.ErrGitMissing, "git_unavailable", "failed", 5, `{}`},
		{"old git", &gitstore.VersionError{Have: "2.30"}, "git_unavailable", "failed", 5, `{}`},
		{"no repository", &gitstore.NotRepositoryError{Words: "fatal"}, "repository_not_found", "failed", 3, `{}`},
		{"nobody", &gitstore.IdentityMissingError{Advice: "tell me"}, "identity_missing", "failed", 1, `{}`},
		{"read-only", &gitstore.WriteError{Err: fs.ErrPermission}, "storage_write_failed", "failed", 5, `{}`},
		{"quarantine", &gitstore.WriteError{Err: gitstore.ErrQuarantine}, "storage_write_failed", "failed", 5, `{}`},
		{"rule", &todo.Refusal{Code: "todo_not_open", Status: todo.Rejected, Reason: "done", Detail: map[string]any{"b": 1, "a": "x"}},
			"todo_not_open", "rejected", 1, `{"a":"x","b":1}`},
		{"usage", usagef("invalid_goal_request", "bad"), "invalid_goal_request", "failed", 2, `{}`},
		{"interrupted", context.Canceled, "interrupted", "failed", 130, `{}`},
		{"anything else", io.ErrUnexpectedEOF, "internal_error", "failed", 70, `{}`},
		{"panic", &panicError{value: "x"}, "internal_error", "failed", 70, `{}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := explain(test.err)
			if f.code != test.code || f.status != test.status || f.exit != test.exit {
				t.Errorf("got %s, %s, %d; want %s, %s, %d", f.code, f.status, f.exit, test.code, test.status, test.exit)
			}
			if got := documentOf(t, f.detail); got != test.document {
				t.Errorf("got  %s\nwant %s", got, test.document)
			}
			if f.reason == "" || f.hint == "" {
				t.Errorf("reason %q, hint %q", f.reason, f.hint)
			}
		})
	}
}

// documentOf is an answer with these members as JSON.
func documentOf(t *testing.T, m members) string {
	t.Helper()
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := (&App{Stdout: file}).document(m); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(b), "\n")
}
