package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/git-loopx/git-loopx/"

// layers are the packages from the bottom up: each imports only what is below it. Sub-packages count as their parent,
// and a parent may import them.
var layers = []string{"gitstore", "todo", "lease", "handoff", "hooks", "cmd"}

// homes say where a third-party library may be imported; * is tests as well.
var homes = map[string][]string{
	"github.com/go-git/":              {"gitstore"},
	"github.com/alecthomas/kong":      {"cmd"},
	"github.com/BurntSushi/toml":      {"cmd", "handoff"},
	"github.com/sergi/go-diff":        {"handoff"},
	"golang.org/x/sys":                {"gitstore"},
	"github.com/go-json-experiment":   {"gitstore", "todo", "lease", "handoff", "hooks", "cmd"},
	"pgregory.net/rapid":              {"*"},
	"github.com/google/go-cmp":        {"*"},
	"github.com/rogpeppe/go-internal": {"*"},
}

// layer is the top-level package of an import path or directory of ours.
func layer(path string) string {
	top, _, _ := strings.Cut(strings.TrimPrefix(path, module), "/")
	return top
}

// sources are all Go files below the layers, with their imports.
func sources(t *testing.T, each func(name string, file *ast.File)) {
	t.Helper()
	for _, dir := range layers {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			each(filepath.ToSlash(strings.TrimPrefix(filepath.Clean(name), filepath.Clean("../..")+string(filepath.Separator))), file)
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

// TestLayers: imports go downwards only, and each library stays in its home.
func TestLayers(t *testing.T) {
	sources(t, func(name string, file *ast.File) {
		from, test := layer(name), strings.HasSuffix(name, "_test.go")
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case strings.HasPrefix(to, module):
				if slices.Index(layers, layer(to)) > slices.Index(layers, from) {
					t.Errorf("%s imports %s, which is above it", name, to)
				}
				if strings.HasPrefix(name, "gitstore/canonical/") && to != module+"gitstore/canonical" {
					t.Errorf("%s imports %s; canonical knows nothing of a repository", name, to)
				}
			case strings.Contains(to, "."):
				if !atHome(to, from, test) {
					t.Errorf("%s imports %s, whose home is elsewhere", name, to)
				}
			}
		}
	})
}

func atHome(library, from string, test bool) bool {
	for prefix, where := range homes {
		if strings.HasPrefix(library, prefix) {
			return slices.Contains(where, from) || test && slices.Contains(where, "*")
		}
	}
	return false
}

// TestRulesArePure: in todo, lease and handoff only ledger files do I/O. A rule gets time and random bytes as arguments
// and needs no context.
func TestRulesArePure(t *testing.T) {
	rules := []string{"todo", "lease", "handoff"}
	forbidden := []string{"context", "os", "os/exec", "os/signal", "io/ioutil", "net", "net/http", "math/rand", "math/rand/v2", "crypto/rand", "syscall"}
	sources(t, func(name string, file *ast.File) {
		if !slices.Contains(rules, layer(name)) || strings.HasSuffix(name, "_test.go") ||
			strings.HasPrefix(path.Base(name), "ledger") {
			return
		}
		for _, spec := range file.Imports {
			if p, _ := strconv.Unquote(spec.Path.Value); slices.Contains(forbidden, p) {
				t.Errorf("%s imports %s: only ledger files may", name, p)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "Tick"}, s.Sel.Name) {
					t.Errorf("%s uses time.%s: only ledger files may ask the clock, and they are told", name, s.Sel.Name)
				}
			}
			return true
		})
	})
}

// TestOneWorld: the clock, random bytes and the end of the process are main's alone.
func TestOneWorld(t *testing.T) {
	sources(t, func(name string, file *ast.File) {
		if name == "cmd/git-loopx/main.go" || strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, spec := range file.Imports {
			if spec.Path.Value == `"crypto/rand"` {
				t.Errorf("%s imports crypto/rand", name)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch x := n.(type) {
			case *ast.FuncDecl:
				if x.Name.Name == "init" && x.Recv == nil {
					t.Errorf("%s has an init function", name)
				}
			case *ast.SelectorExpr:
				pkg, ok := x.X.(*ast.Ident)
				if ok && pkg.Name == "os" && x.Sel.Name == "Exit" {
					t.Errorf("%s uses os.Exit", name)
				}
			}
			return true
		})
	})
}
