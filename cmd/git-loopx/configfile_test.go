//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
)

func TestConfigFile(t *testing.T) {
	for _, test := range []struct {
		name, content string
		want          configFile
		err           string
	}{
		{name: "empty"},
		{"all keys", "goal = \"demo\"\nprepush = \"off\"\nmax_bytes = 4096\nredact = [\"a.*\"]\n",
			configFile{Goal: "demo", Prepush: "off", MaxBytes: 4096, Redact: []string{"a.*"}}, ""},
		{name: "unknown key", content: "gaol = \"demo\"", err: `.loopx.toml: unknown key "gaol"`},
		{name: "other letter case", content: "Goal = \"demo\"", err: `.loopx.toml: unknown key "Goal"`},
		{name: "a command", content: "[generator]\ncommand = \"x\"", err: `.loopx.toml: unknown key "generator"`},
		{name: "below a known key", content: "[goal]\nx = 1", err: ".loopx.toml: "},
		{name: "wrong type", content: "goal = 1", err: ".loopx.toml: "},
		{name: "wrong word", content: "prepush = \"no\"", err: `.loopx.toml: prepush: "no" is none of off, prepare, require`},
		{name: "no budget", content: "max_bytes = 0", err: ".loopx.toml: max_bytes: 0 is not a positive number"},
		{name: "blank goal", content: "goal = \" \"", err: ".loopx.toml: goal: blank"},
		{name: "doubled key", content: "goal = \"a\"\ngoal = \"b\"", err: ".loopx.toml: line 2: "},
		{name: "no toml", content: "goal", err: ".loopx.toml: line 1: "},
		{name: "too large", content: "# " + strings.Repeat("x", maxConfigFile), err: ".loopx.toml: larger than 64 KiB"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseConfigFile([]byte(test.content))
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Fatalf("error %v, want %q", err, test.err)
			}
			if err != nil && explain(err).exit != exitUsage {
				t.Errorf("exit status %d, want %d", explain(err).exit, exitUsage)
			}
			if diff := cmp.Diff(got, test.want); err == nil && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConfigFileMustBeRegular(t *testing.T) {
	for name, make := range map[string]func(string) error{
		"directory": func(p string) error { return os.Mkdir(p, 0o777) },
		"fifo":      func(p string) error { return syscall.Mkfifo(p, 0o666) },
		"link":      func(p string) error { return os.Symlink(os.DevNull, p) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := make(filepath.Join(dir, configFileName)); err != nil {
				t.Skip(err)
			}
			if _, err := readConfigFile(dir); err == nil || err.Error() != ".loopx.toml: not a regular file" {
				t.Errorf("got error %v", err)
			}
		})
	}
	if _, err := readConfigFile(t.TempDir()); err != nil {
		t.Errorf("no file: %v", err)
	}
}

// FuzzConfigFile: what is accepted can be written back and reads the same, within the bounds; nothing else is accepted.
func FuzzConfigFile(f *testing.F) {
	f.Add([]byte("goal = \"demo\"\nprepush = \"off\"\nmax_bytes = 4096\nredact = [\"a.*\"]\n"))
	f.Add([]byte("redact = []"))
	f.Add([]byte("GOAL = 'x'"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := parseConfigFile(b)
		if err != nil {
			if !strings.HasPrefix(err.Error(), configFileName+": ") {
				t.Errorf("error %q does not name the file", err)
			}
			return
		}
		if c.MaxBytes < 0 {
			t.Errorf("max_bytes %d", c.MaxBytes)
		}
		var text strings.Builder
		for key, value := range map[string]any{"goal": c.Goal, "prepush": c.Prepush, "max_bytes": c.MaxBytes, "redact": c.Redact} {
			if value == "" || value == int64(0) {
				continue
			}
			if err := toml.NewEncoder(&text).Encode(map[string]any{key: value}); err != nil {
				t.Fatal(err)
			}
		}
		again, err := parseConfigFile([]byte(text.String()))
		if err != nil {
			t.Fatalf("%q: %v", text.String(), err)
		}
		if len(again.Redact) == 0 {
			again.Redact = c.Redact
		}
		if diff := cmp.Diff(again, c); diff != "" {
			t.Error(diff)
		}
	})
}
