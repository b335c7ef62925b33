package ledger

import (
	"container/list"
	"sync"
)

// newest holds the values that were added last, up to a number of bytes. A
// key that is added again is the newest again. Safe for concurrent use.
type newest[K comparable, V any] struct {
	mu    sync.Mutex // guards all below
	max   int64
	used  int64
	at    map[K]*list.Element
	order list.List // of *held, the newest first
}

// held is one value with its key and what it takes.
type held[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

func newNewest[K comparable, V any](max int64) *newest[K, V] {
	return &newest[K, V]{max: max, at: map[K]*list.Element{}}
}

// add holds a value, in place of the one with the same key, and lets go of
// the oldest ones where there is no room.
func (n *newest[K, V]) add(key K, v V, size int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.drop(key)
	n.at[key] = n.order.PushFront(&held[K, V]{key, v, size})
	n.used += size
	for n.used > n.max {
		n.drop(n.order.Back().Value.(*held[K, V]).key)
	}
}

// remove lets go of a key's value, if it fits.
func (n *newest[K, V]) remove(key K, fits func(V) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if e, ok := n.at[key]; ok && fits(e.Value.(*held[K, V]).value) {
		n.drop(key)
	}
}

// find returns the value of a key.
func (n *newest[K, V]) find(key K) (v V, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	e, ok := n.at[key]
	if !ok {
		return v, false
	}
	return e.Value.(*held[K, V]).value, true
}

// bytes is what all that is held takes.
func (n *newest[K, V]) bytes() int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.used
}

// clear lets go of the values that fit; it looks at all.
func (n *newest[K, V]) clear(fits func(V) bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for e := n.order.Front(); e != nil; {
		h := e.Value.(*held[K, V])
		e = e.Next()
		if fits(h.value) {
			n.drop(h.key)
		}
	}
}

// drop lets go of a key; mu must be held.
func (n *newest[K, V]) drop(key K) {
	e, ok := n.at[key]
	if !ok {
		return
	}
	n.used -= e.Value.(*held[K, V]).size
	n.order.Remove(e)
	delete(n.at, key)
}
