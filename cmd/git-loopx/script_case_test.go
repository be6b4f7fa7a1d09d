package main

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptRefused is the command
//
//	refused N CODE git loopx NOUN VERB ARGS…
//
// of the scripts that show the cases of continuation.md, section 12. It runs the command, which must have --json among
// its arguments, and holds it to everything that a refusal promises (continuation.md, section 3; cli.md):
//
//   - exit status N, and the reason code CODE;
//   - exactly one JSON document on stdout with ok:false, a status, the failure kind that goes with it, a sentence, and
//     as action the verb that was asked for; nothing on stderr;
//   - no ref moved, came or went;
//   - no goal has a receipt of the command's operation id, unless the refusal is that it means something else already.
//
// The document stays on stdout for want and stdout.
func scriptRefused(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 || neg {
		ts.Fatalf("usage: refused N CODE CMD ARGS…")
	}
	exit, code, command := args[0], args[1], args[2:]
	before := refsOf(ts, ".")
	scriptStatus(ts, false, append([]string{exit}, command...))
	scriptJSON(ts, false, nil)
	if text := ts.ReadFile("stderr"); text != "" {
		ts.Fatalf("beside the document, stderr has %q", text)
	}
	scriptWant(ts, false, []string{"ok", "false"})
	scriptWant(ts, false, []string{"reason_code", code})
	doc := document(ts, "stdout")
	status, _ := memberOf(doc, "status")
	kind := map[string]string{
		"rejected": "decision_rejection",
		"failed":   "protocol_failure", "conflict": "protocol_failure", "busy": "protocol_failure", "ambiguous": "protocol_failure",
	}[status]
	if got, _ := memberOf(doc, "failure_kind"); got != kind {
		ts.Fatalf("status %q with failure_kind %q, want %q", status, got, kind)
	}
	if reason, _ := memberOf(doc, "reason"); strings.TrimSpace(reason) == "" {
		ts.Fatalf("the reason is blank")
	}
	if action, _ := memberOf(doc, "action"); !slices.Contains(command, strings.Fields(action)[0]) {
		ts.Fatalf("action %q was not asked for", action)
	}
	if after := refsOf(ts, "."); after != before {
		ts.Fatalf("a refusal moved refs\n%s\nbefore:\n%s", after, before)
	}
	if code == "coordination_operation_identity_mismatch" {
		return
	}
	if i := slices.Index(command, "--operation-id"); i >= 0 && i+1 < len(command) && receiptStored(ts, command[i+1]) {
		ts.Fatalf("a refusal left a receipt of operation %q", command[i+1])
	}
}

// receiptStored reports whether a goal of the repository has a receipt of an operation (storage.md, section 2).
func receiptStored(ts *testscript.TestScript, operation string) bool {
	sum := sha256.Sum256([]byte(operation))
	digest := hex.EncodeToString(sum[:])
	for line := range strings.Lines(refsOf(ts, ".")) {
		_, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(ref, "refs/loopx/goals/") &&
			git(ts, ".", "ls-tree", "--full-tree", "--name-only", ref, "receipts/"+digest[:2]+"/"+digest+".json") != "" {
			return true
		}
	}
	return false
}
