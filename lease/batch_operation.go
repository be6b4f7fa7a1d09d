package lease

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/git-loopx/git-loopx/todo"
)

// operation is one line of a batch: the flags of a verb in snake case, repeated ones as an array. Its JSON is what request
// digests cover, and parses to the same operation.
type operation interface {
	line() head
	proof() todo.Proof
	// normal returns the operation of an agent in canonical form: defaults filled in, sets sorted, instants in UTC.
	normal(agent todo.AgentID) operation
	// step is that of the verb, for a call with the operation's Todo and proof.
	step(l *Ledger, c todo.Call) (todo.Step, error)
}

// opWords are the operations of a batch (continuation.md, section 5).
var opWords = []string{"add", "update", "note", "claim", "release", "complete", "reopen", "supersede", "archive"}

// decoder returns what reads the members of an op; nil for a word that is none.
func decoder(op string) func([]byte) (operation, error) {
	switch op {
	case "add":
		return decoded[addLine]
	case "update":
		return decoded[updateLine]
	case "note":
		return decoded[noteLine]
	case "claim":
		return decoded[claimLine]
	case "release":
		return decoded[releaseLine]
	case "complete":
		return decoded[completeLine]
	case "reopen":
		return decoded[reopenLine]
	case "supersede":
		return decoded[supersedeLine]
	case "archive":
		return decoded[archiveLine]
	}
	return nil
}

func decoded[T operation](text []byte) (operation, error) {
	var o T
	err := json.Unmarshal(text, &o, json.RejectUnknownMembers(true))
	return o, err
}

// head is what every operation has.
type head struct {
	Op   string  `json:"op"`
	Todo todo.ID `json:"todo_id,omitzero"` // complete; only add may leave it out
}

func (h head) line() head        { return h }
func (h head) proof() todo.Proof { return todo.Proof{} }

// proved is what an operation has that may need the proof of a lease.
type proved struct {
	head
	Lease *leaseProof `json:"lease_proof,omitzero"`
}

type leaseProof struct {
	Key     *string `json:"idempotency_key,omitzero"`
	Version *int64  `json:"expected_version,omitzero"`
}

func (p proved) proof() todo.Proof {
	if p.Lease == nil {
		return todo.Proof{}
	}
	return todo.Proof{IdempotencyKey: p.Lease.Key, ExpectedVersion: p.Lease.Version}
}

// half says that a proof has not both of its members; where there is one at all, it needs both.
func (p proved) half() bool { return p.Lease != nil && (p.Lease.Key == nil || p.Lease.Version == nil) }

type addLine struct {
	head
	Role               todo.Role      `json:"role,omitzero"`
	Text               string         `json:"text,omitzero"`
	Title              string         `json:"title,omitzero"`
	Priority           string         `json:"priority,omitzero"`
	TaskClass          string         `json:"task_class,omitzero"`
	Label              []string       `json:"label,omitempty"`
	DependsOn          []todo.ID      `json:"depends_on,omitempty"`
	ResumeAt           todo.Instant   `json:"resume_at,omitzero"`
	RequiredWriteScope []string       `json:"required_write_scope,omitempty"`
	BoundAgent         todo.AgentID   `json:"bound_agent,omitzero"`
	ExcludedAgent      []todo.AgentID `json:"excluded_agent,omitempty"`
	ClaimedBy          todo.AgentID   `json:"claimed_by,omitzero"`
}

func (o addLine) normal(todo.AgentID) operation {
	if o.Role == "" {
		o.Role = todo.RoleAgent
	}
	o.Label, o.RequiredWriteScope, o.ExcludedAgent = todo.SetOf(o.Label), todo.SetOf(o.RequiredWriteScope), todo.SetOf(o.ExcludedAgent)
	o.DependsOn, o.ResumeAt = todo.SetOf(o.DependsOn), inUTC(o.ResumeAt)
	return o
}

func (o addLine) args() todo.AddArgs {
	return todo.AddArgs{
		Role: o.Role, Text: o.Text, Title: o.Title, Priority: o.Priority, TaskClass: o.TaskClass, Labels: o.Label,
		BoundAgent: o.BoundAgent, ExcludedAgents: o.ExcludedAgent, DependsOn: o.DependsOn, ResumeAt: o.ResumeAt,
		RequiredWriteScopes: o.RequiredWriteScope, ClaimedBy: o.ClaimedBy,
	}
}

type updateLine struct {
	proved
	Text               *string          `json:"text,omitzero"`
	Title              *string          `json:"title,omitzero"`
	Status             *todo.WorkStatus `json:"status,omitzero"`
	Priority           *string          `json:"priority,omitzero"`
	TaskClass          *string          `json:"task_class,omitzero"`
	Label              *[]string        `json:"label,omitzero"`
	DependsOn          *[]todo.ID       `json:"depends_on,omitzero"`
	ResumeAt           *todo.Instant    `json:"resume_at,omitzero"`
	RequiredWriteScope *[]string        `json:"required_write_scope,omitzero"`
	BoundAgent         *todo.AgentID    `json:"bound_agent,omitzero"`
	ExcludedAgent      *[]todo.AgentID  `json:"excluded_agent,omitzero"`
	Evidence           *string          `json:"evidence,omitzero"`
	Reason             *string          `json:"reason,omitzero"`
	Note               *string          `json:"note,omitzero"`

	ClearTitle               bool `json:"clear_title,omitzero"`
	ClearPriority            bool `json:"clear_priority,omitzero"`
	ClearTaskClass           bool `json:"clear_task_class,omitzero"`
	ClearLabels              bool `json:"clear_labels,omitzero"`
	ClearDependsOn           bool `json:"clear_depends_on,omitzero"`
	ClearResumeAt            bool `json:"clear_resume_at,omitzero"`
	ClearRequiredWriteScopes bool `json:"clear_required_write_scopes,omitzero"`
	ClearBoundAgent          bool `json:"clear_bound_agent,omitzero"`
	ClearExcludedAgents      bool `json:"clear_excluded_agents,omitzero"`
	ClearEvidence            bool `json:"clear_evidence,omitzero"`
	ClearReason              bool `json:"clear_reason,omitzero"`
}

func (o updateLine) normal(todo.AgentID) operation {
	o.Label, o.DependsOn, o.ExcludedAgent = eachSet(o.Label), eachSet(o.DependsOn), eachSet(o.ExcludedAgent)
	o.RequiredWriteScope = eachSet(o.RequiredWriteScope)
	if o.ResumeAt != nil {
		at := inUTC(*o.ResumeAt)
		o.ResumeAt = &at
	}
	return o
}

func (o updateLine) args() todo.UpdateArgs {
	a := todo.UpdateArgs{
		Text: o.Text, Title: o.Title, Priority: o.Priority, TaskClass: o.TaskClass, Labels: o.Label, BoundAgent: o.BoundAgent,
		ExcludedAgents: o.ExcludedAgent, DependsOn: o.DependsOn, ResumeAt: o.ResumeAt,
		RequiredWriteScopes: o.RequiredWriteScope, Status: o.Status, Evidence: o.Evidence, Reason: o.Reason, Note: o.Note,
	}
	for _, c := range []struct {
		set  bool
		name string
	}{
		{o.ClearTitle, "title"}, {o.ClearPriority, "priority"}, {o.ClearTaskClass, "task_class"}, {o.ClearLabels, "labels"},
		{o.ClearDependsOn, "depends_on"}, {o.ClearResumeAt, "resume_at"},
		{o.ClearRequiredWriteScopes, "required_write_scopes"}, {o.ClearBoundAgent, "bound_agent"},
		{o.ClearExcludedAgents, "excluded_agents"}, {o.ClearEvidence, "evidence"}, {o.ClearReason, "reason"},
	} {
		if c.set {
			a.Clear = append(a.Clear, c.name)
		}
	}
	return a
}

type noteLine struct {
	proved
	Text  string `json:"text,omitzero"`
	Clear bool   `json:"clear,omitzero"`
}

func (o noteLine) normal(todo.AgentID) operation { return o }

// claimLine asks for a lease too where it has any of the members of a lease request.
type claimLine struct {
	head
	ClaimedBy  todo.AgentID `json:"claimed_by,omitzero"`
	Key        *string      `json:"task_lease_idempotency_key,omitzero"`
	Version    *int64       `json:"task_lease_expected_version,omitzero"`
	TTL        *int64       `json:"ttl_seconds,omitzero"`
	WriteScope []string     `json:"write_scope,omitempty"`
}

func (o claimLine) normal(agent todo.AgentID) operation {
	if o.ClaimedBy == "" {
		o.ClaimedBy = agent
	}
	o.WriteScope = todo.SetOf(o.WriteScope)
	if o.request() != nil && o.TTL == nil {
		ttl := int64(DefaultTTL)
		o.TTL = &ttl
	}
	return o
}

// request is the lease that is asked for; nil where none is.
func (o claimLine) request() *Request {
	if o.Key == nil && o.Version == nil && o.TTL == nil && o.WriteScope == nil {
		return nil
	}
	r := &Request{ExpectedVersion: o.Version, TTL: o.TTL, WriteScopes: o.WriteScope}
	if o.Key != nil {
		r.Key = *o.Key
	}
	return r
}

type releaseLine struct {
	proved
	Override bool   `json:"override,omitzero"`
	Reason   string `json:"reason,omitzero"`
}

func (o releaseLine) normal(todo.AgentID) operation { return o }

type completeLine struct {
	proved
	Evidence  string    `json:"evidence,omitzero"`
	Reason    string    `json:"reason,omitzero"`
	Successor []todo.ID `json:"successor,omitempty"`
}

func (o completeLine) normal(todo.AgentID) operation {
	o.Successor = todo.SetOf(o.Successor)
	return o
}

type supersedeLine struct {
	proved
	By     todo.ID `json:"by,omitzero"`
	Reason string  `json:"reason,omitzero"`
}

func (o supersedeLine) normal(todo.AgentID) operation { return o }

type reopenLine struct {
	head
	Reason string `json:"reason,omitzero"`
}

func (o reopenLine) normal(todo.AgentID) operation { return o }

type archiveLine struct{ head }

func (o archiveLine) normal(todo.AgentID) operation { return o }

// eachSet is asSet for update, where an empty list is given and removes.
func eachSet[T cmp.Ordered](list *[]T) *[]T {
	if list == nil {
		return nil
	}
	set := slices.Compact(slices.Sorted(slices.Values(*list)))
	if set == nil {
		set = []T{}
	}
	return &set
}

// inUTC returns a time as it is stored, and what is none as it was given.
func inUTC(given todo.Instant) todo.Instant {
	if at, ok := todo.ParseInstant(string(given)); ok {
		return at
	}
	return given
}
