package main

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"github.com/git-loopx/git-loopx/gitstore"
	"github.com/git-loopx/git-loopx/todo"
)

// Exit statuses (cli.md). They are a promise: none is ever given another meaning.
const (
	exitOK          = 0
	exitRefused     = 1   // a rule said no; reason_code says which
	exitUsage       = 2   // the command line or an input file is malformed
	exitNotFound    = 3   // repository, goal, Todo, revision
	exitConflict    = 4   // the revision moved, or an operation id means something else
	exitUnavailable = 5   // busy, ambiguous or unavailable: retry with the same operation id
	exitDamaged     = 6   // stored data or input of an unknown version, or damaged
	exitDefect      = 70  // a defect in this program
	exitInterrupted = 130 // a signal ended the command
)

// row is one line of the table from reason code to exit status and hint. Hints name a next safe step and never a
// command that destroys, forces or resets: agents do what errors say.
type row struct {
	exit int
	hint string // TODO stands for the Todo that was asked for: see [failure.onTodo]
}

// codes has a row for every reason code of this program. A code that is not in it is a defect that the tests find; a
// user would see it with exit 1 and no hint.
func codes() map[string]row {
	const (
		lookAgain = "look at the Todo as it is now: git loopx todo show TODO"
		fixFlags  = "the command's -h explains what it takes"
		retry     = "run the same command again, with the same operation id if you gave one"
		newer     = "it is left untouched; a newer git-loopx may be able to read it"
		unblock   = "choose another Todo, or ask the one who set this up"
		seeLease  = "look at the lease as it is now: git loopx lease inspect TODO"
		confirm   = "somebody confirms it as it reads now: git loopx goal acceptance bind --todo TODO"
	)
	return map[string]row{
		// Arguments.
		"usage_error":                                  {exitUsage, fixFlags},
		"invalid_continuation_request":                 {exitUsage, fixFlags},
		"invalid_goal_request":                         {exitUsage, fixFlags},
		"invalid_coordination_todo_create":             {exitUsage, fixFlags},
		"invalid_coordination_todo_update":             {exitUsage, fixFlags},
		"invalid_coordination_todo_claim":              {exitUsage, fixFlags},
		"invalid_coordination_todo_terminal_lifecycle": {exitUsage, fixFlags},
		"invalid_coordination_todo_archive":            {exitUsage, fixFlags},
		"invalid_coordination_todo_batch":              {exitUsage, fixFlags},
		"invalid_canonical_acquire_request":            {exitUsage, fixFlags},
		"invalid_canonical_lifecycle_request":          {exitUsage, fixFlags},
		"invalid_owner":                                {exitUsage, "name the agent that holds the lease: --owner, LOOPX_AGENT or git config loopx.agent"},
		"invalid_idempotency_key":                      {exitUsage, "a key is 1 to 160 of the characters A-Z a-z 0-9 _ . : @ / -"},
		"invalid_ttl":                                  {exitUsage, "a lease lasts 1 to 86400 seconds"},
		"invalid_expected_version":                     {exitUsage, "a version is a whole number from 0; git loopx lease inspect TODO shows it"},
		"version_required":                             {exitUsage, "give the version that the lease has; git loopx lease inspect TODO shows it"},
		"actor_required":                               {exitUsage, "name the agent: --agent-id, LOOPX_AGENT or git config loopx.agent"},
		"todo_id_ambiguous":                            {exitUsage, "give more of the id, or all of it"},

		// Not found.
		"repository_not_found":                        {exitNotFound, "run it inside a git repository, or name one with git -C"},
		"goal_not_found":                              {exitNotFound, "git loopx goal list shows the goals here; git loopx init creates one"},
		"todo_not_found":                              {exitNotFound, "git loopx todo list shows the Todos of the goal, with --all those done too"},
		"todo_successor_not_found":                    {exitNotFound, "git loopx todo list --all shows the Todos of the goal"},
		"continuation_requires_canonical_authority":   {exitNotFound, "git loopx goal list shows the goals here; git loopx init creates one"},
		"claim_transfer_requires_canonical_authority": {exitNotFound, "git loopx goal list shows the goals here"},

		// Conflict.
		"provider_revision_mismatch":               {exitConflict, "look at what changed, git loopx todo history tells, then decide again on the current revision"},
		"coordination_operation_identity_mismatch": {exitConflict, "repeat the command exactly as it was then, or use a new operation id for a new intent; git loopx todo receipt tells what was done"},

		// Busy, ambiguous, unavailable.
		"authority_busy":                         {exitUnavailable, retry + "; git loopx doctor finds locks that were left behind"},
		"coordination_receipt_recovery_required": {exitUnavailable, "run the same command again with this operation id: its receipt then tells what happened"},
		"authority_unavailable":                  {exitUnavailable, "git loopx doctor tells what cannot be read; then " + retry},
		"workspace_read_failed":                  {exitUnavailable, "check that the workspace can be read, then " + retry},
		"storage_write_failed":                   {exitUnavailable, "nothing was acknowledged; check space and permissions of the repository, then " + retry},
		"git_unavailable":                        {exitUnavailable, "install git " + gitstore.OldestGit + " or newer"},

		// Unknown version, damaged.
		"unsupported_schema_version":      {exitDamaged, newer},
		"invalid_coordination_projection": {exitDamaged, "it is left untouched; git loopx fsck names every record that cannot be read"},

		// Refused by a rule.
		"identity_missing":                                 {exitRefused, "tell git who you are: git config user.name and git config user.email"},
		"goal_exists":                                      {exitRefused, "git loopx goal show tells what is there"},
		"invalid_handoff_mode":                             {exitRefused, "the modes are soft_claim and hard_lease"},
		"handoff_mode_not_quiescent":                       {exitRefused, "complete or release the claimed Todos first, and let the leases end"},
		"actor_not_registered":                             {exitRefused, "git loopx agent list shows who is registered; git loopx agent add registers"},
		"target_agent_not_registered":                      {exitRefused, "git loopx agent list shows who is registered; git loopx agent add registers"},
		"actor_excluded":                                   {exitRefused, unblock},
		"bound_agent_mismatch":                             {exitRefused, unblock},
		"todo_already_exists":                              {exitRefused, "git loopx todo show TODO tells what it is; leave the id out to have a new one drawn"},
		"todo_semantic_duplicate_conflict":                 {exitRefused, "update the Todo that is there, or word this one differently"},
		"todo_dependency_invalid":                          {exitRefused, "git loopx todo list --all shows the Todos of the goal"},
		"todo_dependency_pending":                          {exitRefused, "do what it waits for first, or choose another Todo: git loopx todo ready"},
		"todo_archived":                                    {exitRefused, "git loopx todo reopen TODO takes it back"},
		"unsupported_todo_update_target":                   {exitRefused, "git loopx todo reopen TODO takes it back"},
		"update_owner_mismatch":                            {exitRefused, lookAgain},
		"update_lease_requirements_transition_unsupported": {exitRefused, "give the Todo back first, with the lease proof: git loopx todo release TODO; then change it and claim it again"},
		"claim_actor_mismatch":                             {exitRefused, "an agent claims and adopts for itself only"},
		"claim_owner_mismatch":                             {exitRefused, lookAgain},
		"claim_lease_requires_hard_lease":                  {exitRefused, "claim without a lease: leases are for goals whose mode is hard_lease"},
		"todo_not_agent":                                   {exitRefused, "work of role user is not for agents"},
		"todo_not_open":                                    {exitRefused, lookAgain},
		"todo_not_done":                                    {exitRefused, "complete it first"},
		"todo_superseded":                                  {exitRefused, "go on with the Todo that took its place"},
		"todo_successor_cycle":                             {exitRefused, "name a successor that does not lead back here"},
		"todo_lease_conflict":                              {exitRefused, "git loopx lease inspect TODO tells whose it is; wait until it ends, or choose another Todo: git loopx todo ready"},
		"handoff_mode_requires_lease":                      {exitRefused, "take a lease: git loopx todo claim TODO --task-lease-idempotency-key KEY; where the goal's mode is soft_claim there is none, and no proof is needed"},
		"handoff_mode_lease_claim_divergence":              {exitRefused, "git loopx lease inspect TODO tells why the lease does not count"},
		"lease_fence_required":                             {exitRefused, "prove the lease: --task-lease-idempotency-key and --task-lease-expected-version"},
		"lease_cas_mismatch":                               {exitRefused, seeLease},
		"version_mismatch":                                 {exitRefused, seeLease},
		"handoff_mode_forbids_lease":                       {exitRefused, "claim without a lease, or git loopx goal mode set hard_lease while nothing is claimed"},
		"lease_not_active":                                 {exitRefused, "take it anew, under a new key: git loopx lease acquire TODO --idempotency-key KEY"},
		"idempotency_key_reuse":                            {exitRefused, "choose a new key; " + seeLease},
		"write_scope_conflict":                             {exitRefused, "wait until the other lease ends, or choose another Todo: git loopx todo ready"},
		"lease_generation_exhausted":                       {exitRefused, "go on with a new Todo: git loopx todo supersede"},
		"invalid_lease_skew":                               {exitRefused, "git config loopx.lease.skew is a whole number of seconds, 0 to 3600"},
		"owner_not_registered":                             {exitRefused, "git loopx agent list shows who is registered; git loopx agent add registers"},
		"owner_excluded_from_todo":                         {exitRefused, unblock},
		"owner_conflicts_with_claim":                       {exitRefused, "its owner hands it over: git loopx lease transfer TODO --transfer-claim"},
		"claim_transfer_requires_hard_lease":               {exitRefused, "without leases a Todo is handed over by its note: git loopx handoff prepare TODO"},
		"claim_transfer_requires_open_agent_todo":          {exitRefused, lookAgain},
		"claim_transfer_owner_mismatch":                    {exitRefused, lookAgain},
		"invalid_clock":                                    {exitRefused, "set the clock of this machine"},
		"continuation_owner_required":                      {exitRefused, "only the agent that claimed the Todo prepares its note: git loopx todo claim TODO"},
		"continuation_transfer_required":                   {exitRefused, "the holder of the lease hands it over first: git loopx lease transfer TODO --transfer-claim; git loopx handoff inspect, with the same flags, tells the next step"},
		"continuation_not_ready":                           {exitRefused, "git loopx handoff inspect TODO explains the blockers"},
		"continuation_note_replaced":                       {exitRefused, lookAgain},
		"continuation_note_stale":                          {exitRefused, "the Todo changed since: prepare anew"},
		"continuation_facts_changed":                       {exitRefused, lookAgain},
		"continuation_same_session":                        {exitRefused, "adopt from another session"},
		"note_missing":                                     {exitRefused, "the owner prepares a note first"},
		"note_stale":                                       {exitRefused, "the owner prepares a new note"},
		"workspace_unavailable":                            {exitRefused, "name a directory with --workspace"},
		"artifact_unavailable":                             {exitRefused, "git loopx handoff inspect tells what is missing"},
		"goal_acceptance_unbound":                          {exitRefused, confirm},
		"goal_acceptance_stale":                            {exitRefused, confirm},
		"goal_acceptance_ready":                            {exitRefused, "nothing holds it"}, // never refuses

		// Of the view, by the verb that writes nothing else.
		"todo_projection_target_unavailable":    {exitRefused, "git config loopx.projection names a file inside the work tree; name one that can be written"},
		"todo_projection_write_unavailable":     {exitRefused, "check space and permissions around the file, then " + retry},
		"todo_projection_render_rejected":       {exitRefused, "mend the markers in the file: one begin line and one end line of the goal, in this order"},
		"todo_projection_authority_unavailable": {exitRefused, "git loopx doctor tells what cannot be read; then " + retry},

		"leftovers_found": {exitRefused, "git loopx doctor --fix takes them away"},

		"no_branch": {exitRefused, "check a branch out first, or name the goal with --goal-id or LOOPX_GOAL"},

		// The program itself.
		"internal_error": {exitDefect, "this is a defect of git-loopx: please report it with the command line"},
		"interrupted":    {exitInterrupted, "run the same command again, with the same operation id if you gave one"},
	}
}

// errorRow is the line of the table for an error of Go. Rows are tried in order.
type errorRow struct {
	name   string // "gitstore.BusyError": the exported sentinel or type it is for, "" for what is not ours
	match  func(error) bool
	code   string
	status string
	detail func(error) members
}

// errorRows has a row for every exported error of the packages below.
func errorRows() []errorRow {
	return []errorRow{
		{"", is(errInterrupted), "interrupted", "failed", nil},
		{"gitstore.AmbiguousError", as[*gitstore.AmbiguousError], "coordination_receipt_recovery_required", "ambiguous", func(err error) members {
			id := the[*gitstore.AmbiguousError](err).OperationID
			return members{{"operation_id", id}, {"recovery", members{{"operation_id", id}, {"retry_with_same_operation_id", true}}}}
		}},
		{"gitstore.MismatchError", as[*gitstore.MismatchError], "provider_revision_mismatch", "conflict", func(err error) members {
			e := the[*gitstore.MismatchError](err)
			return members{{"conflict_kind", "provider_revision_mismatch"}, {"expected_revision", e.Expected}, {"current_provider_revision", e.Current}}
		}},
		{"gitstore.IdentityError", as[*gitstore.IdentityError], "coordination_operation_identity_mismatch", "conflict", func(err error) members {
			e := the[*gitstore.IdentityError](err)
			return members{{"conflict_kind", "operation_id_exists"}, {"operation_id", e.OperationID},
				{"stored_kind", e.Kind}, {"stored_at", e.At.UTC().Format(time.RFC3339)}}
		}},
		{"gitstore.BusyError", as[*gitstore.BusyError], "authority_busy", "busy", func(err error) members {
			var m members
			m.setGiven("lock", the[*gitstore.BusyError](err).Lock)
			return m
		}},
		{"gitstore.ErrGitMissing", is(gitstore.ErrGitMissing), "git_unavailable", "failed", nil},
		{"gitstore.VersionError", as[*gitstore.VersionError], "git_unavailable", "failed", nil},
		{"gitstore.NotRepositoryError", as[*gitstore.NotRepositoryError], "repository_not_found", "failed", nil},
		{"gitstore.IdentityMissingError", as[*gitstore.IdentityMissingError], "identity_missing", "failed", nil},
		{"gitstore.DamagedError", as[*gitstore.DamagedError], "invalid_coordination_projection", "failed", func(err error) members {
			e := the[*gitstore.DamagedError](err)
			m := members{{"record", e.Path}}
			m.setGiven("schema", e.Schema)
			return m
		}},
		{"gitstore.ErrQuarantine", is(gitstore.ErrQuarantine), "storage_write_failed", "failed", nil},
		{"gitstore.WriteError", as[*gitstore.WriteError], "storage_write_failed", "failed", nil},
		{"gitstore.UnavailableError", as[*gitstore.UnavailableError], "authority_unavailable", "failed", nil},
		{"gitstore.ErrNoBranch", is(gitstore.ErrNoBranch), "no_branch", "rejected", nil},
		{"gitstore.ErrRefMissing", is(gitstore.ErrRefMissing), "goal_not_found", "rejected", nil},
		{"gitstore.ErrObjectMissing", is(gitstore.ErrObjectMissing), "authority_unavailable", "failed", nil},
		{"", is(context.Canceled), "interrupted", "failed", nil},
		{"", is(context.DeadlineExceeded), "authority_unavailable", "failed", nil},
	}
}

// explain turns any error into what a command says about it.
func explain(err error) *failure {
	f := &failure{status: "failed", reason: sentence(err.Error())}
	var placed *placedError
	if errors.As(err, &placed) {
		f.place = placed.place
	}
	table := codes()
	var (
		refusal *todo.Refusal
		usage   *usageError
	)
	switch {
	case errors.As(err, &usage):
		f.code, f.hint = usage.code, usage.hint
	case errors.As(err, &refusal):
		f.code, f.status, f.detail = string(refusal.Code), string(refusal.Status), sorted(refusal.Detail)
	default:
		f.code = "internal_error"
		for _, r := range errorRows() {
			if r.match(err) {
				f.code, f.status = r.code, r.status
				if r.detail != nil {
					f.detail = r.detail(err)
				}
				break
			}
		}
		var damaged *gitstore.DamagedError
		if errors.As(err, &damaged) && damaged.Schema != "" {
			f.code = "unsupported_schema_version"
		}
	}
	r, known := table[f.code]
	if !known {
		r.exit = exitRefused
	}
	f.exit = r.exit
	if f.hint == "" {
		f.hint = leaseHint(err)
	}
	if f.hint == "" {
		f.hint = r.hint
	}
	f.hint = f.onTodo(f.hint)
	return f
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func as[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

func the[T error](err error) T {
	e, _ := errors.AsType[T](err)
	return e
}

// fileError is an input file that cannot be read: a mistake in the command line, whatever the system calls it.
func fileError(code, flag, name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return usagef(code, "%s: %q: %s", flag, name, err).hintf("check the name; - is standard input")
}

// sentence brings text that another program may have written into the shape of ours: no final full stop or line end.
func sentence(s string) string {
	return strings.TrimSuffix(strings.TrimRight(s, " \n\r\t"), ".")
}
