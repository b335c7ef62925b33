package prompt

import (
	"container/list"
	"sync"

	"github.com/agentinfer/dyn/turn"
)

// turnBytes is what a raw turn costs besides its ids and text: the allocations,
// and its share of maps and list.
const turnBytes = 384

// mostTurns bounds the answers that a Raw holds in memory: many short ones
// would be cheap to count and dear to hold. Those of a conversation that is
// known are held by its State.
const mostTurns = 16 << 10

// Shelf is where raw turns lie that a Raw does not hold in memory, also over
// a restart. Both methods are safe for concurrent use. Find may read from
// disk; Keep does not block. Nobody writes to what they exchange.
type Shelf interface {
	Find(model string, key uint64) (turn.RawTurn, bool)
	Keep(turn.RawTurn)
}

// Raw keeps answers as one model gave them, by the rolling hash of the history
// that ends with the answer. What it holds in memory is bounded, in bytes and
// in number, and what was used longest ago is dropped; the Shelf behind it, if there is one,
// is asked for the rest. A nil Raw holds nothing. Safe for concurrent use.
type Raw struct {
	model  string
	behind Shelf

	mu       sync.Mutex // guards all below
	max      int
	used     int
	m        map[uint64]*list.Element
	lru      list.List         // of *rawEntry, the latest first
	answered map[uint64]uint64 // the last answer's key by the history before it
}

type rawEntry struct {
	turn   turn.RawTurn
	before uint64 // history before the answer, where it is known
	known  bool
}

// rawBytes is what a raw turn takes, 0 for none.
func rawBytes(t *turn.RawTurn) int {
	if t == nil {
		return 0
	}
	return turnBytes + 4*(cap(t.Opening)+cap(t.IDs)) + len(t.Thinking)
}

// NewRaw returns the store of a model's raw turns, at most maxBytes of them
// in memory. behind may be nil.
func NewRaw(model string, maxBytes int, behind Shelf) *Raw {
	return &Raw{
		model: model, behind: behind, max: maxBytes,
		m: map[uint64]*list.Element{}, answered: map[uint64]uint64{},
	}
}

// Put keeps an answer under its Key. before is the rolling hash of the history
// before it. Where the same was said there before, in the same thoughts, those
// ids stay: prompts may hold them. The turn's slices belong to the Raw
// afterwards.
func (r *Raw) Put(before uint64, t turn.RawTurn) {
	if r == nil {
		return
	}
	if said := r.Find(t.Key); said != nil && said.Thinking == t.Thinking {
		return
	}
	t.Model = r.model
	if r.behind != nil {
		r.behind.Keep(t)
	}
	r.hold(&rawEntry{turn: t, before: before, known: true})
}

// Find returns the answer under key, nil when there is none. It must not be
// written.
func (r *Raw) Find(key uint64) *turn.RawTurn {
	if t := r.inMemory(key); t != nil {
		return t
	}
	return r.fetch(key)
}

// fetch looks for an answer behind memory, and keeps it there.
func (r *Raw) fetch(key uint64) *turn.RawTurn {
	if r == nil || r.behind == nil {
		return nil
	}
	t, ok := r.behind.Find(r.model, key)
	if !ok {
		return nil
	}
	t.Key = key
	e := &rawEntry{turn: t}
	r.hold(e)
	return &e.turn
}

// Forget drops the answers of a session from memory.
func (r *Raw) Forget(session string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for elem := r.lru.Front(); elem != nil; {
		t := &elem.Value.(*rawEntry).turn
		elem = elem.Next()
		if t.Session == session {
			r.drop(t.Key)
		}
	}
}

// Answered reports whether the history with this hash is known to have got an
// answer. It is remembered as long as the answer is in memory.
func (r *Raw) Answered(before uint64) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, ok := r.answered[before]
	return ok
}

// answer returns the last answer that the history with this hash has got, nil
// where it is not in memory.
func (r *Raw) answer(before uint64) *turn.RawTurn {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key, ok := r.answered[before]
	if !ok {
		return nil
	}
	return &r.m[key].Value.(*rawEntry).turn
}

// Bytes tells how much memory is held.
func (r *Raw) Bytes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.used
}

func (r *Raw) inMemory(key uint64) *turn.RawTurn {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.m[key]
	if !ok {
		return nil
	}
	r.lru.MoveToFront(e)
	return &e.Value.(*rawEntry).turn
}

// hold puts an entry into memory, if it is not too large for it.
func (r *Raw) hold(e *rawEntry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop(e.turn.Key)
	if rawBytes(&e.turn) > r.max {
		return
	}
	r.m[e.turn.Key] = r.lru.PushFront(e)
	if e.known {
		r.answered[e.before] = e.turn.Key
	}
	r.used += rawBytes(&e.turn)
	for r.used > r.max || len(r.m) > mostTurns {
		r.drop(r.lru.Back().Value.(*rawEntry).turn.Key)
	}
}

// drop forgets key; mu must be held.
func (r *Raw) drop(key uint64) {
	elem, ok := r.m[key]
	if !ok {
		return
	}
	e := elem.Value.(*rawEntry)
	r.used -= rawBytes(&e.turn)
	r.lru.Remove(elem)
	delete(r.m, key)
	if e.known && r.answered[e.before] == key {
		delete(r.answered, e.before)
	}
}
