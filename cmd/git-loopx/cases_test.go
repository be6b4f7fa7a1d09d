package main

import (
	"fmt"
	"maps"
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

// casesToCome are those that a part still to come brings along, by that part.
func casesToCome() map[string][]int {
	return map[string][]int{
		"leases":       {46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 73, 78},
		"dependencies": {74, 75, 76},
		"batches":      {80},
		"acceptance":   {82},
		"projection":   {84, 85, 86},
	}
}

// halvesToCome are the cases that have a script for one half while the other waits for a part still to come.
func halvesToCome() map[string][]int {
	return map[string][]int{
		"acceptance":   {33},
		"leases":       {72, 77, 83},
		"dependencies": {77},
	}
}

// TestEveryCaseHasAScript: each case of continuation.md, section 12, is shown by a script that names it in its first line,
//
//	# Cases 12, 13: the owner prepares, and only open work is handed over
//
// and beside the phases that show it, "# 12: nobody's". The only others are those that a part still to come brings
// along, and that list is no longer than it has to be.
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
	left := casesToCome()
	for _, part := range slices.Sorted(maps.Keys(left)) {
		for _, n := range left[part] {
			if shown[n] != "" {
				t.Errorf("case %d: %s shows it, it is not left for %s any more", n, shown[n], part)
			}
			shown[n] = part
		}
		t.Logf("left for %s: %v", part, left[part])
	}
	for part, halves := range halvesToCome() {
		for _, n := range halves {
			if !strings.HasSuffix(shown[n], ".txtar") {
				t.Errorf("case %d: half of it is left for %s, and no script has the other", n, part)
			}
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
// continuation.md promises (sections 3, 7.3 to 7.5, 9). What every refusal has is held by the command "refused".
func casesOfMembers() map[string][]int {
	return map[string][]int{
		// mutations and their replays
		"status":                             {2, 19, 21, 25, 35, 79, 88, 89, 90},
		"changed":                            {2, 19, 21, 25, 72, 79, 89},
		"operation_id":                       {2, 21},
		"provider_revision":                  {1, 2, 21, 23, 79, 87, 89},
		"original_receipt.operation_id":      {2, 23, 89},
		"original_receipt.kind":              {2, 89},
		"original_receipt.provider_revision": {2, 16, 19, 21, 22, 23, 24, 35, 89},
		"projection_delivery":                {21},
		"todo.claimed_by":                    {21, 83, 89},
		"already_exists":                     {90},

		// refusals
		"conflict_kind":             {14, 17, 27, 34, 35},
		"current_provider_revision": {14, 27, 34, 35},
		"stored_kind":               {17, 18},
		"recovery":                  {88},
		"findings":                  {4, 6, 7, 8, 9},
		"hint":                      {87, 88, 89},

		// prepare
		"note_readback_verified": {2, 16, 19, 88},
		"note_state":             {1, 2, 19, 20, 25, 26, 40, 41},
		"result.note_facts":      {2},

		// inspect
		"blockers":           {1, 20, 25, 26, 27, 28, 29, 32, 33, 40, 41},
		"can_adopt":          {1, 20, 25, 26, 28, 32, 33, 40, 41},
		"availability":       {20, 28, 29},
		"digest":             {1, 2, 20, 26, 40, 42, 43},
		"outdated_digest":    {1, 21, 26, 43},
		"decision_rationale": {1, 3, 14, 26},
		"evidence_refs":      {3, 21, 26},
		"note_findings":      {20, 26},
		"next_step":          {20, 28},
		"digest_text":        {42},

		// adopt
		"current_authority_verified": {21, 22, 23, 24, 25, 35, 88, 89},
		"verification_failures":      {21, 22, 23, 24},
		"target_agent_id":            {21},
		"claim.claimed_by":           {21, 22, 23, 25, 35},
		"claim.reason_code":          {23, 24, 30, 32, 33},
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
