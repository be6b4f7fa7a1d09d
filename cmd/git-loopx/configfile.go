package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// configFileName is the tracked file with defaults that are safe in a hostile clone.
const configFileName = ".loopx.toml"

// maxConfigFile is the largest .loopx.toml that is read, in bytes.
const maxConfigFile = 64 << 10

// configFile is what .loopx.toml may say (cli.md). It holds nothing that runs a command, names a remote or writes a
// file: whoever sends a branch writes it. The zero value says nothing.
type configFile struct {
	Goal     string   `toml:"goal"`
	Prepush  string   `toml:"prepush"`   // off, prepare, require
	MaxBytes int64    `toml:"max_bytes"` // of a preparation, at least 1
	Redact   []string `toml:"redact"`    // patterns added to loopx.redact
}

// readConfigFile reads .loopx.toml at the top of a work tree ("" in a bare repository). No file is the zero value;
// anything but a regular file of at most 64 KiB with known keys is an error naming file and key.
func readConfigFile(workTree string) (configFile, error) {
	if workTree == "" {
		return configFile{}, nil
	}
	name := filepath.Join(workTree, configFileName)
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return configFile{}, nil
	}
	if err != nil {
		return configFile{}, configError("%s", fsReason(err))
	}
	if !info.Mode().IsRegular() {
		return configFile{}, configError("not a regular file")
	}
	f, err := os.Open(name)
	if err != nil {
		return configFile{}, configError("%s", fsReason(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfigFile+1))
	if err != nil {
		return configFile{}, configError("%s", fsReason(err))
	}
	return parseConfigFile(b)
}

// parseConfigFile reads the content of .loopx.toml. Whatever it accepts has only the four known keys, each within its
// bounds.
func parseConfigFile(b []byte) (configFile, error) {
	if len(b) > maxConfigFile {
		return configFile{}, configError("larger than 64 KiB")
	}
	var c configFile
	meta, err := toml.Decode(string(b), &c)
	if err != nil {
		var syntax toml.ParseError
		if errors.As(err, &syntax) {
			return configFile{}, configError("line %d: %s", syntax.Position.Line, strings.TrimPrefix(syntax.Message, "toml: "))
		}
		return configFile{}, configError("%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return configFile{}, configError("unknown key %q", unknown[0].String())
	}
	for _, key := range meta.Keys() {
		// The library folds letter case where it finds no exact key.
		switch key.String() {
		case "goal", "prepush", "max_bytes", "redact":
		default:
			return configFile{}, configError("unknown key %q", key.String())
		}
	}
	switch {
	case meta.IsDefined("goal") && strings.TrimSpace(c.Goal) == "":
		return configFile{}, configError("goal: blank")
	case meta.IsDefined("prepush") && c.Prepush != "off" && c.Prepush != "prepare" && c.Prepush != "require":
		return configFile{}, configError("prepush: %q is none of off, prepare, require", c.Prepush)
	case meta.IsDefined("max_bytes") && c.MaxBytes < 1:
		return configFile{}, configError("max_bytes: %d is not a positive number", c.MaxBytes)
	}
	return c, nil
}

func configError(format string, args ...any) error {
	return usagef("usage_error", "%s: %s", configFileName, fmt.Sprintf(format, args...)).
		hintf("correct %s at the top of the work tree, or name what it should say on the command line", configFileName)
}

// fsReason is what the system says about a file, without the call and the name.
func fsReason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err.Error()
}
