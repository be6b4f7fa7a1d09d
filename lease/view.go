package lease

// ViewOf is a lease as answers show it.
func ViewOf(l Lease) View {
	return View{
		GoalID: l.Goal, TodoID: l.Todo, Owner: l.Owner, IdempotencyKey: l.Key, WriteScopes: append([]string{}, l.WriteScopes...),
		AcquireTTL: l.TTL, Version: l.Version, Epoch: l.Epoch, Status: l.Status, AcquiredAt: l.AcquiredAt, UpdatedAt: l.UpdatedAt,
		ExpiresAt: l.ExpiresAt, ReleasedAt: l.ReleasedAt, Clock: l.Clock,
	}
}
