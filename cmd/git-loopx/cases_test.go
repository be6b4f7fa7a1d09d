package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// lastCase is the number of the last row of continuation.md, section 12.
const lastCase = 90

// rulesFirst are the cases about values that no command line can carry, with the test that has all of them. It names them
// in a comment, as "case 39" or "cases 36 to 39"; a script shows what of them a command line can do.
func rulesFirst() map[int]string {
	const claim = "../../todo/claim_test.go"
	return map[int]string{37: claim, 38: claim, 39: claim}
}

// TestEveryCaseHasAScript: each case of continuation.md, section 12, is shown by a script that names it in its first line,
//
//	# Cases 12, 13: the owner prepares, and only open work is handed over
//
// and beside the phases that show it, "# 12: nobody's".
func TestEveryCaseHasAScript(t *testing.T) {
	files, err := filepath.Glob("../../testdata/script/case_*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	shown := map[int]string{}
	for _, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		said := casesOf(string(text))
		if len(said) == 0 {
			t.Errorf("%s: the first line names no case, as \"# Cases 12, 13: …\"", name)
		}
		phases := phasesOf(string(text))
		for _, n := range said {
			if shown[n] != "" {
				t.Errorf("%s: case %d is shown by %s too", name, n, shown[n])
			}
			if !phases[n] {
				t.Errorf("%s: no phase \"# %d: …\" shows case %d", name, n, n)
			}
			shown[n] = name
		}
		for n := range phases {
			if !slices.Contains(said, n) {
				t.Errorf("%s: the first line does not name case %d", name, n)
			}
		}
		for _, n := range fileCases(name) {
			if !slices.Contains(said, n) {
				t.Errorf("%s: the first line does not name case %d, the name of the file does", name, n)
			}
		}
	}

	for n, file := range rulesFirst() {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !namedIn(string(text), n) {
			t.Errorf("%s: no test names case %d", file, n)
		}
	}
	for n := 1; n <= lastCase; n++ {
		if shown[n] == "" {
			t.Errorf("case %d: no script shows it", n)
		}
	}
	for n := range shown {
		if n < 1 || n > lastCase {
			t.Errorf("case %d of %s: there is no such case", n, shown[n])
		}
	}
}

// casesOf reads the numbers in the first line of a script, "# Case 11: …" or "# Cases 12, 13: …".
func casesOf(script string) []int {
	m := regexp.MustCompile(`^# Cases? (\d+(?:, \d+)*): `).FindStringSubmatch(script)
	if m == nil {
		return nil
	}
	var all []int
	for word := range strings.SplitSeq(m[1], ", ") {
		n, _ := strconv.Atoi(word)
		all = append(all, n)
	}
	return all
}

// phasesOf reads the numbers that the phases of a script begin with. A phase has at least one command.
func phasesOf(script string) map[int]bool {
	commands, _, _ := strings.Cut(script, "\n-- ")
	all := map[int]bool{}
	for _, m := range regexp.MustCompile(`(?m)^# (\d+): .*\n[^#\n]`).FindAllStringSubmatch(commands, -1) {
		n, _ := strconv.Atoi(m[1])
		all[n] = true
	}
	return all
}

// fileCases reads the first and the last number from the name of a script, "case_12_13_whose_work.txtar".
func fileCases(name string) []int {
	var all []int
	for word := range strings.SplitSeq(strings.TrimPrefix(name, "case_"), "_") {
		n, err := strconv.Atoi(word)
		if err != nil {
			break
		}
		all = append(all, n)
	}
	return all
}

// namedIn reports whether a Go file names a case in a comment.
func namedIn(source string, n int) bool {
	for _, m := range regexp.MustCompile(`(?i)//.*\bcases? (\d+)(?: to (\d+))?`).FindAllStringSubmatch(source, -1) {
		from, _ := strconv.Atoi(m[1])
		to, err := strconv.Atoi(m[2])
		if err != nil {
			to = from
		}
		if from <= n && n <= to {
			return true
		}
	}
	return false
}

func TestCasesAreRead(t *testing.T) {
	script := "# Cases 2, 10: a story\nrepo\n\n# 2: one\nexec true\n\n# 10: no command\n\n# not: 3\nexec true\n-- file --\n# 4: in a file\nx\n"
	if got := fmt.Sprint(casesOf(script), phasesOf(script), fileCases("case_2_10_story.txtar")); got != "[2 10] map[2:true] [2 10]" {
		t.Errorf("got %s", got)
	}
	if casesOf("# Cases: a story\n") != nil || casesOf("repo\n") != nil {
		t.Error("a first line without numbers has some")
	}
	for n, want := range map[int]bool{35: false, 36: true, 39: true, 40: false, 15: true} {
		if namedIn("// Cases 36 to 39 of continuation.md\n// (continuation.md, case 15)\n", n) != want {
			t.Errorf("case %d is named: %v, want %v", n, !want, want)
		}
	}
}

// casesOfMembers are the members of JSON answers on which callers act, with cases whose phases hold them to what
// continuation.md promises (sections 3, 5, 6, 7.3 to 7.5, 9 to 11). What every refusal has is held by the command "refused".
func casesOfMembers() map[string][]int {
	return map[string][]int{
		// mutations and their replays
		"status":                             {2, 19, 21, 25, 35, 49, 51, 59, 60, 63, 69, 70, 73, 74, 79, 80, 82, 84, 86, 88, 89, 90},
		"changed":                            {2, 19, 21, 25, 49, 51, 59, 63, 69, 72, 73, 74, 79, 80, 84, 86, 89},
		"operation_id":                       {2, 21, 49, 51, 62, 74, 80},
		"provider_revision":                  {1, 2, 21, 23, 49, 51, 59, 62, 79, 80, 84, 87, 89},
		"original_receipt.operation_id":      {2, 23, 53, 89},
		"original_receipt.kind":              {2, 49, 51, 62, 80, 89},
		"original_receipt.provider_revision": {2, 16, 19, 21, 22, 23, 24, 35, 49, 51, 53, 54, 59, 63, 69, 73, 74, 80, 89},
		"projection_delivery":                {21, 84, 85, 86},
		"todo.claimed_by":                    {21, 74, 75, 82, 83, 89},
		"already_exists":                     {90},
		"results":                            {80},
		"result.bound":                       {82},

		// refusals
		"conflict_kind":             {14, 17, 27, 34, 35, 52, 59, 62, 86},
		"current_provider_revision": {14, 27, 34, 35, 86},
		"stored_kind":               {17, 18, 52, 59, 62, 80},
		"recovery":                  {88},
		"findings":                  {4, 6, 7, 8, 9},
		"hint":                      {87, 88, 89},
		"expected_version":          {47, 58, 67, 70, 77},
		"actual_version":            {47, 58, 67, 70, 77},
		"todo_status":               {57, 61, 78},
		"excluded_agents":           {57, 61},
		"conflicts":                 {65},
		"claimed_todos":             {72},
		"active_leases":             {66, 72},
		"pending_todo_ids":          {76, 77},
		"invalid_todo_ids":          {76},
		"cycle":                     {76},
		"acceptance":                {82},
		"line":                      {76, 80, 82},
		"op":                        {76, 80, 82},
		"result.reason_code":        {80},

		// prepare
		"note_readback_verified": {2, 16, 19, 88},
		"note_state":             {1, 2, 19, 20, 25, 26, 40, 41},
		"result.note_facts":      {2},

		// inspect
		"blockers":           {1, 20, 25, 26, 27, 28, 29, 32, 33, 40, 41, 46, 48, 50, 54, 55, 56},
		"can_adopt":          {1, 20, 25, 26, 28, 32, 33, 40, 41, 46, 48, 50, 54, 55, 56},
		"availability":       {20, 28, 29},
		"digest":             {1, 2, 20, 26, 40, 42, 43},
		"outdated_digest":    {1, 21, 26, 43},
		"decision_rationale": {1, 3, 14, 26},
		"evidence_refs":      {3, 21, 26},
		"note_findings":      {20, 26},
		"next_step":          {20, 28},
		"digest_text":        {42},

		"execution_authority": {20, 46, 48, 50, 54, 55, 56},
		"dependency_state":    {50, 56, 75, 76},

		// adopt
		"current_authority_verified": {21, 22, 23, 24, 25, 35, 51, 53, 54, 73, 74, 75, 82, 88, 89},
		"verification_failures":      {21, 22, 23, 24, 51, 53, 54},
		"target_agent_id":            {21, 51},
		"claim.claimed_by":           {21, 22, 23, 25, 35},
		"claim.reason_code":          {23, 24, 30, 32, 33},
		"adoption.changed":           {51},
		"adoption.reason_code":       {48, 50, 53, 54, 56},

		// ready
		"todo":         {74, 82},
		"todo_id":      {74, 75},
		"agent_id":     {75},
		"todos":        {75},
		"todos.6.mine": {75},
		"total":        {74, 75, 82},
		"returned":     {75},
		"truncated":    {75},
		"held":         {75, 82},

		// projection
		"projection_outbox":                           {84, 85, 86},
		"projection_outbox.schema_version":            {84},
		"projection_outbox.status":                    {84, 85},
		"projection_outbox.provider_revision":         {84},
		"projection_outbox.trigger_provider_revision": {84},
		"projection_outbox.todo_count":                {84},
		"projection_outbox.changed":                   {84, 86},
		"projection_outbox.rendered_sha256":           {84},
		"projection_outbox.recovery_scope":            {84, 85},
		"projection_outbox.reason_code":               {84, 85, 86},
		"projection_outbox.retryable":                 {84},
		"projection_outbox.recommended_action":        {84},
		"projection_outbox.retry_business_mutation":   {84, 85},

		// leases
		"schema_version":      {49, 62},
		"lease":               {49, 59, 60, 62, 63, 65, 66, 68, 69, 70, 77, 78},
		"handoff_mode":        {49, 62},
		"idempotent":          {49, 60, 62, 63, 69, 70},
		"acquired":            {62, 63, 66, 68},
		"renewed":             {69},
		"transferred":         {49, 59, 60},
		"released":            {54, 70},
		"missing":             {70},
		"transfer_claim":      {49},
		"claimed_by":          {49, 55, 57, 58, 60, 61, 67},
		"todo_changed":        {49, 60},
		"active":              {66, 68, 69, 77, 78},
		"judged_at":           {68},
		"skew_seconds":        {68},
		"executor_constraint": {66},
		"result.lease":        {73},
		"result.todo_changed": {73},
	}
}

func TestMembersHaveCases(t *testing.T) {
	files, err := filepath.Glob("../../testdata/script/case_*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	held := map[int]string{} // the commands of all phases of a case
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		commands, _, _ := strings.Cut(string(text), "\n-- ")
		for phase := range strings.SplitSeq(commands, "\n\n") {
			if m := regexp.MustCompile(`^# (\d+): `).FindStringSubmatch(phase); m != nil {
				n, _ := strconv.Atoi(m[1])
				held[n] += phase + "\n"
			}
		}
	}
	for member, cases := range casesOfMembers() {
		for _, n := range cases {
			if !regexp.MustCompile(`(?m)^(! )?(want|get [A-Z]+) ` + regexp.QuoteMeta(member) + `(\.| |$)`).MatchString(held[n]) {
				t.Errorf("case %d says nothing of %s", n, member)
			}
		}
	}
}
