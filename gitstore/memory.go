package gitstore

import "sync"

// memory keeps what the process has read or written of objects. An id says what its content is, so that it does not
// matter where that came from: nothing in it can be stale. It may be used by many at once.
type memory struct {
	mu      sync.Mutex
	objects map[ObjectID]object
	trees   map[ObjectID][]entry
}

// Bounds of a memory; a goal has about 520 trees of up to 8 KB, an operation about 8 objects.
const (
	mostTrees   = 1024
	mostObjects = 256
)

func newMemory() *memory {
	return &memory{objects: map[ObjectID]object{}, trees: map[ObjectID][]entry{}}
}

func (m *memory) tree(id ObjectID) ([]entry, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entries, ok := m.trees[id]
	return entries, ok
}

func (m *memory) keepTree(id ObjectID, entries []entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.trees) >= mostTrees {
		clear(m.trees)
	}
	m.trees[id] = entries
}

func (m *memory) object(id ObjectID) (object, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[id]
	return o, ok
}

// keep remembers objects whose ids were computed from their content.
func (m *memory) keep(objects ...object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.objects)+len(objects) > mostObjects {
		clear(m.objects)
	}
	for _, o := range objects {
		m.objects[o.id] = o
	}
}
