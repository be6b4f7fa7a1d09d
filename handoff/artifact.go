package handoff

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounds of the artifacts of one request, in characters each.
const (
	maxArtifacts   = 8
	maxArtifactRef = 240
)

// Artifact is one artifact as seen.
type Artifact struct {
	Ref       string `json:"ref"` // as given
	Available bool   `json:"available"`
	// Reason is not_found (also a dangling link), not_a_regular_file, outside_workspace; "" if available.
	Reason string `json:"reason,omitzero"`
}

// Why an artifact is not available.
const (
	NotFound         = "not_found"
	NotRegularFile   = "not_a_regular_file"
	OutsideWorkspace = "outside_workspace"
	// Unread stands in a replay only, which asks for no artifact: the look itself failed.
	Unread = "workspace_read_failed"
)

// Availability is what was seen of the workspace and the artifacts. Nothing was opened.
type Availability struct {
	WorkspaceAvailable bool       `json:"workspace_available"`
	Artifacts          []Artifact `json:"artifacts"`
	Ready              bool       `json:"ready"` // the workspace and all artifacts are available
}

// unseen is the availability of artifacts that could not be looked at.
func unseen(refs []string, reason string) Availability {
	v := Availability{Artifacts: make([]Artifact, len(refs))}
	for i, ref := range refs {
		v.Artifacts[i] = Artifact{Ref: ref, Reason: reason}
	}
	return v
}

// checkArtifacts refuses artifacts that could not name a file below the workspace (continuation.md, section 7.2): too
// many, too long, blank, not UTF-8, with a NUL, absolute, with a drive, or left by ".." on the way or in the end. Both
// kinds of slash separate, so that a ref means the same everywhere.
func checkArtifacts(refs []string) error {
	if len(refs) > maxArtifacts {
		return invalid(fmt.Sprintf("%d artifacts were given, at most %d are looked at", len(refs), maxArtifacts))
	}
	for _, ref := range refs {
		if why := badArtifactRef(ref); why != "" {
			return invalid(fmt.Sprintf("artifact %q %s", cutText(ref, 80), why))
		}
	}
	return nil
}

// badArtifactRef says what is wrong with a ref, "" if nothing.
func badArtifactRef(ref string) string {
	switch {
	case !utf8.ValidString(ref):
		return "is not UTF-8"
	case strings.ContainsRune(ref, 0):
		return "has a NUL character"
	case strings.TrimSpace(ref) == "":
		return "is blank"
	case utf8.RuneCountInString(ref) > maxArtifactRef:
		return fmt.Sprintf("has more than %d characters", maxArtifactRef)
	case isSlash(rune(ref[0])):
		return "is not relative to the workspace"
	case len(ref) > 1 && ref[1] == ':' && (ref[0]|0x20 >= 'a' && ref[0]|0x20 <= 'z'):
		return "names a drive"
	}
	depth := 0
	for _, element := range strings.FieldsFunc(ref, isSlash) {
		switch element {
		case ".":
		case "..":
			depth--
		default:
			depth++
		}
		if depth < 0 {
			return "leaves the workspace"
		}
	}
	return ""
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }

// cutText returns s in at most limit bytes, the last three of them an ellipsis where it was cut; never half a character.
func cutText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := max(limit-len("…"), 0)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
