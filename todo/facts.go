package todo

import (
	"fmt"
	"maps"

	"github.com/git-loopx/git-loopx/gitstore/canonical"
)

// The fingerprints of continuation.md, section 2. Lease, note, mode and other Todos are in none of them.

// TodoFacts is the fingerprint of a Todo: of all members but updated_at and last_actor_agent_id.
func TodoFacts(t Todo) string {
	t.UpdatedAt, t.LastActorAgentID = "", ""
	return digest(t)
}

// StableFacts is the fingerprint that survives a change of owner: [TodoFacts] without claimed_by.
func StableFacts(t Todo) string {
	t.ClaimedBy = ""
	return TodoFacts(t)
}

// WorkDigest is the fingerprint of the work itself: text, title, role, task class, write scopes and dependencies.
func WorkDigest(t Todo) string {
	return digest(struct {
		Text                string   `json:"text"`
		Title               string   `json:"title,omitzero"`
		Role                Role     `json:"role"`
		TaskClass           string   `json:"task_class,omitzero"`
		RequiredWriteScopes []string `json:"required_write_scopes,omitempty"`
		DependsOn           []ID     `json:"depends_on,omitempty"`
	}{t.Text, t.Title, t.Role, t.TaskClass, t.RequiredWriteScopes, t.DependsOn})
}

// digest is the digest of a record, which holds only UTF-8 because it was decoded or checked.
func digest(v any) string {
	d, err := canonical.Digest(v)
	if err != nil {
		panic(fmt.Sprintf("todo: digest of a record that was never checked: %v", err))
	}
	return d
}

// RequestDigest is the request_sha256 of an operation (continuation.md, section 1.5): of kind, goal, Todo ("" is left
// out) and every argument that shapes the outcome. args holds no absent member, no time and nothing random. The error
// is that of a text that is not UTF-8.
func RequestDigest(kind string, goal GoalID, id ID, args map[string]any) (string, error) {
	members := maps.Clone(args)
	if members == nil {
		members = map[string]any{}
	}
	members["kind"], members["goal_id"] = kind, goal
	if id != "" {
		members["todo_id"] = id
	}
	return canonical.Digest(members)
}
