package main

import (
	"context"
	"runtime/debug"
)

// version is the release that this source is of.
const version = "0.1.0"

func versionVerbs() []verb {
	return []verb{{quick: true, flags: func() command { return &versionCommand{} },
		about: "print the version", example: "git loopx version"}}
}

type versionCommand struct{ outputFlags }

func (c *versionCommand) run(_ context.Context, j *job) (*answer, error) {
	said := &answer{members: members{{"version", version}}}
	said.printf("git-loopx version %s\n", version)
	if info, ok := debug.ReadBuildInfo(); ok && j.line.json {
		said.members.set("go_version", info.GoVersion)
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				said.members.set("commit", s.Value)
			}
		}
	}
	return said, nil
}
