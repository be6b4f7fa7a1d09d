package lease

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
	"github.com/git-loopx/git-loopx/todo"
)

// holder is who holds the lease on todo_a.
func holder(owner todo.AgentID, key string, version *int64) Held {
	return Held{Caller: Caller{Goal: "demo", Todo: "todo_a", Owner: owner}, Key: key, ExpectedVersion: version}
}

func acquireRequest() AcquireRequest {
	return AcquireRequest{Caller: Caller{Goal: "demo", Todo: "todo_a", Owner: "agent-a"}, Request: Request{Key: "execution-a"}}
}

func renewRequest() RenewRequest {
	return RenewRequest{Held: holder("agent-a", "execution-a", ptr[int64](1))}
}

// transferRequest is L8 of continuation.md, section 7.1.
func transferRequest() TransferRequest {
	return TransferRequest{
		Held:     holder("agent-a", "execution-a", ptr[int64](3)),
		NewOwner: "agent-b", NewKey: "execution-b", TTL: ptr[int64](600), TransferClaim: true,
	}
}

func releaseRequest() ReleaseRequest {
	return ReleaseRequest{Held: holder("agent-a", "execution-a", ptr[int64](1))}
}

// The faults of the arguments are reported in this order: each row has those of all rows below it too.
func TestArgumentsRefusedInOrder(t *testing.T) {
	type row struct {
		code                               todo.Code // "" has the verb's family
		acquire, renew, transfer, released func()
	}
	a, r, x, d := acquireRequest(), renewRequest(), transferRequest(), releaseRequest()
	rows := []row{
		{CodeInvalidOwner, func() { a.Owner = "" }, func() { r.Owner = "Agent-A" }, func() { x.Owner = "a b" }, func() { d.Owner = "\xff" }},
		{CodeInvalidKey, func() { a.Key = "" }, func() { r.Key = "a b" }, func() { x.Key = strings.Repeat("k", 161) }, func() { d.Key = "é" }},
		{CodeInvalidTTL, func() { a.TTL = ptr[int64](0) }, func() { r.TTL = ptr[int64](86401) }, func() { x.TTL = ptr[int64](-1) }, nil},
		{CodeInvalidExpectedVersion, func() { a.ExpectedVersion = ptr[int64](-1) }, func() { r.ExpectedVersion = ptr[int64](canonical.MaxInteger + 1) }, nil, nil},
		{CodeVersionRequired, nil, func() { r.ExpectedVersion = nil }, func() { x.ExpectedVersion = nil }, func() { d.ExpectedVersion = nil }},
		{"", nil, nil, func() { x.NewOwner = "" }, nil},
		{"", nil, nil, func() { x.NewKey = "" }, nil},
		{CodeInvalidOwner, nil, nil, func() { x.NewOwner = "Agent-B" }, nil},
		{CodeInvalidKey, nil, nil, func() { x.NewKey = "b b" }, nil},
		{"", func() { a.WriteScopes = []string{"../x"} }, nil, nil, nil},
		{"", func() { a.WriteScopes = slices.Repeat([]string{"a", "/b"}, 2) }, nil, nil, nil},
		{"", func() { a.Goal = "Demo" }, func() { r.Goal = "" }, func() { x.Goal = "a..b" }, func() { d.Goal = "x.lock" }},
		{"", func() { a.Session = "\u3000" }, func() { r.Session = " " }, func() { x.Session = "\n" }, func() { d.Session = "\t" }},
		{"", func() { a.Todo = "" }, func() { r.Todo = "todo" }, func() { x.Todo = "" }, func() { d.Todo = "" }},
	}
	check := func(verb string, family, want todo.Code, err error) {
		t.Helper()
		if want == "" {
			want = family
		}
		if r := todo.AsRefusal(err); r == nil || r.Code != want || r.Status != todo.Failed || r.Reason == "" {
			t.Errorf("%s: got %v, want %s", verb, err, want)
		}
	}
	for _, row := range slices.Backward(rows) {
		if row.acquire != nil {
			row.acquire()
			check("acquire", CodeInvalidAcquireRequest, row.code, a.check())
		}
		if row.renew != nil {
			row.renew()
			check("renew", CodeInvalidLifecycleRequest, row.code, r.check())
		}
		if row.transfer != nil {
			row.transfer()
			check("transfer", CodeInvalidLifecycleRequest, row.code, x.check())
		}
		if row.released != nil {
			row.released()
			check("release", CodeInvalidLifecycleRequest, row.code, d.check())
		}
	}
	for name, err := range map[string]error{
		"acquire": acquireRequest().check(), "renew": renewRequest().check(), "transfer": transferRequest().check(), "release": releaseRequest().check(),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	bounds := Request{Key: "A_.:@/-9", TTL: ptr[int64](86400), ExpectedVersion: ptr[int64](canonical.MaxInteger), WriteScopes: []string{".", "src/**"}}
	if err := bounds.Check(CodeInvalidAcquireRequest); err != nil {
		t.Errorf("at its bounds: %v", err)
	}
}

// The vectors of continuation.md, section 2.
func TestOperationIDs(t *testing.T) {
	got, err := acquireID("demo", "todo_a", "agent-a", "execution-a")
	if want := "lease-acquire:912a85a4b46e32f3984492515a6432fe5f8f2da7a14e43b75fb97f94cb7a873b"; got != want || err != nil {
		t.Errorf("acquire: got %s, %v", got, err)
	}
	got, err = transferRequest().lifecycleID("transfer")
	if want := "lease-transfer:436583349e4dad1f57318902d50829f43fbf72499950a8f2d88d18f5998d2a29"; got != want || err != nil {
		t.Errorf("transfer: got %s, %v", got, err)
	}
}

// The digest of a request has every argument that shapes the outcome after defaults, and no other (continuation.md, section
// 1.5).
func TestRequestDigests(t *testing.T) {
	digest := func(verb string, args map[string]any) string {
		d, err := todo.RequestDigest("lease "+verb, "demo", "todo_a", args)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	plain := func(members map[string]any) string {
		d, err := canonical.Digest(members)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a := acquireRequest()
	if got, want := digest("acquire", a.args()), plain(map[string]any{
		"kind": "lease acquire", "goal_id": "demo", "todo_id": "todo_a", "owner": "agent-a", "idempotency_key": "execution-a", "ttl_seconds": 2700,
	}); got != want {
		t.Errorf("acquire: got %s, want %s", got, want)
	}
	a.Session, a.DryRun, a.TTL = "s", true, ptr[int64](2700)
	a.ExpectedVersion, a.WriteScopes = ptr[int64](0), []string{"b", "a", "b"}
	if got, want := digest("acquire", a.args()), plain(map[string]any{
		"kind": "lease acquire", "goal_id": "demo", "todo_id": "todo_a", "owner": "agent-a", "idempotency_key": "execution-a", "ttl_seconds": 2700,
		"expected_version": 0, "write_scopes": []string{"a", "b"},
	}); got != want {
		t.Errorf("acquire with all: got %s, want %s", got, want)
	}
	x := transferRequest()
	members := map[string]any{
		"kind": "lease transfer", "goal_id": "demo", "todo_id": "todo_a", "owner": "agent-a", "idempotency_key": "execution-a", "expected_version": 3,
		"ttl_seconds": 600, "new_owner": "agent-b", "new_idempotency_key": "execution-b", "transfer_claim": true,
	}
	if got, want := digest("transfer", x.args()), plain(members); got != want {
		t.Errorf("transfer with the claim: got %s, want %s", got, want)
	}
	x.TransferClaim = false
	delete(members, "transfer_claim")
	if got, want := digest("transfer", x.args()), plain(members); got != want {
		t.Errorf("transfer: got %s, want %s", got, want)
	}
	holder := map[string]any{
		"goal_id": "demo", "todo_id": "todo_a", "owner": "agent-a", "idempotency_key": "execution-a", "expected_version": 1, "kind": "lease release",
	}
	if got, want := digest("release", releaseRequest().args()), plain(holder); got != want {
		t.Errorf("release: got %s, want %s", got, want)
	}
	holder["kind"], holder["ttl_seconds"] = "lease renew", 2700
	if got, want := digest("renew", renewRequest().args()), plain(holder); got != want {
		t.Errorf("renew: got %s, want %s", got, want)
	}
}
