package prompt

import (
	"container/list"
	"slices"
	"sync"
)

// entryBytes is what an entry of a Raw costs besides its ids: the map's and
// the list's share.
const entryBytes = 160

// Raw keeps answers as the model gave them: token ids by the rolling hash of
// the history that ends with the answer. It is bounded in bytes and drops
// what was used longest ago. A nil Raw holds nothing. Safe for concurrent use.
type Raw struct {
	mu   sync.Mutex // guards all below
	max  int
	used int
	m    map[uint64]*list.Element
	lru  list.List // of *rawEntry, the latest first
}

type rawEntry struct {
	key uint64
	ids []uint32
}

// NewRaw returns an empty store of at most maxBytes.
func NewRaw(maxBytes int) *Raw {
	return &Raw{max: maxBytes, m: map[uint64]*list.Element{}}
}

// Put keeps a copy of ids under key, in place of what was there.
func (r *Raw) Put(key uint64, ids []uint32) {
	if r == nil || 4*len(ids)+entryBytes > r.max {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(key)
	r.m[key] = r.lru.PushFront(&rawEntry{key, slices.Clone(ids)})
	r.used += 4*len(ids) + entryBytes
	for r.used > r.max {
		r.drop(r.lru.Back().Value.(*rawEntry).key)
	}
}

// Find returns the ids under key. They must not be written.
func (r *Raw) Find(key uint64) ([]uint32, bool) {
	if r == nil {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.m[key]
	if !ok {
		return nil, false
	}
	r.lru.MoveToFront(e)
	return e.Value.(*rawEntry).ids, true
}

// Bytes tells how much is held.
func (r *Raw) Bytes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

// remove forgets key.
func (r *Raw) remove(key uint64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(key)
}

// drop forgets key; mu must be held.
func (r *Raw) drop(key uint64) {
	e, ok := r.m[key]
	if !ok {
		return
	}
	r.used -= 4*len(e.Value.(*rawEntry).ids) + entryBytes
	r.lru.Remove(e)
	delete(r.m, key)
}
