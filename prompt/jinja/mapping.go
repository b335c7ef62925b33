package jinja

import (
	"math"
	"strings"
)

// Map is a mapping that keeps the order in which its keys came. The zero Map
// is empty and ready. It must not change once a Value holds it.
type Map struct {
	keys  []Value
	vals  []Value
	index map[key]int // of keys; only in maps of more than few
	json  *keptJSON   // nil where the text is not kept
}

// few is the number of keys up to which a look through them all is faster
// than a hash.
const few = 16

// key is a map key as Go compares it: 1, 1.0 and True are one key, as in
// Python.
type key struct {
	kind kind
	n    int64
	s    string
}

// keyOf is the key of a hashable value; what cannot be hashed is an error.
func keyOf(v Value) (key, error) {
	switch v.kind {
	case kString:
		return key{kind: kString, s: v.str()}, nil
	case kBool, kInt:
		return key{kind: kInt, n: v.n}, nil
	case kFloat:
		if f := v.float(); f == math.Trunc(f) && math.Abs(f) < 1<<62 {
			return key{kind: kInt, n: int64(f)}, nil
		}
		return key{kind: kFloat, n: v.n}, nil
	case kBig:
		return key{kind: kBig, s: v.big().String()}, nil
	case kNone, kMissing, kUndefined:
		return key{kind: v.kind}, nil
	case kTuple:
		return tupleKey(v)
	}
	return key{}, typeError("unhashable type: %s", quote(typeName(v)))
}

func tupleKey(v Value) (key, error) {
	var b strings.Builder
	for _, x := range v.items() {
		if x.kind == kTuple {
			return key{}, typeError("unhashable type: nested tuple")
		}
		k, err := keyOf(x)
		if err != nil {
			return key{}, err
		}
		b.WriteByte(byte(k.kind))
		b.WriteString(quoteKey(k))
	}
	return key{kind: kTuple, s: b.String()}, nil
}

// Len is the number of entries.
func (m *Map) Len() int { return len(m.keys) }

// Set puts a value under a text; a key that is there keeps its place.
func (m *Map) Set(name string, v Value) {
	if old := m.peek(name); old != nil {
		*old = v
		return
	}
	m.push(String(name), key{kind: kString, s: name}, v)
}

// set puts a value under any hashable key.
func (m *Map) set(k, v Value) error {
	h, err := keyOf(k)
	if err != nil {
		return err
	}
	m.put(k, h, v)
	return nil
}

func (m *Map) put(k Value, h key, v Value) {
	if i := m.find(h); i >= 0 {
		m.vals[i] = v
		return
	}
	m.push(k, h, v)
}

// push adds an entry that is not there.
func (m *Map) push(k Value, h key, v Value) {
	m.keys = append(m.keys, k)
	m.vals = append(m.vals, v)
	switch {
	case m.index != nil:
		m.index[h] = len(m.keys) - 1
	case len(m.keys) > few:
		m.index = make(map[key]int, 2*len(m.keys))
		for i, k := range m.keys {
			h, _ := keyOf(k)
			m.index[h] = i
		}
	}
}

// Find returns the value under a text.
func (m *Map) Find(name string) (Value, bool) {
	if v := m.peek(name); v != nil {
		return *v, true
	}
	return Value{}, false
}

// peek is where the value under a text stands, nil if there is none.
func (m *Map) peek(name string) *Value {
	if m.index == nil {
		for i := range m.keys {
			if m.keys[i].is(name) {
				return &m.vals[i]
			}
		}
		return nil
	}
	if i, ok := m.index[key{kind: kString, s: name}]; ok {
		return &m.vals[i]
	}
	return nil
}

// lookup returns the value under any key; an unhashable one is an error.
func (m *Map) lookup(k Value) (Value, bool, error) {
	if k.kind == kString {
		v, ok := m.Find(k.str())
		return v, ok, nil
	}
	h, err := keyOf(k)
	if err != nil {
		return Value{}, false, err
	}
	if i := m.find(h); i >= 0 {
		return m.vals[i], true, nil
	}
	return Value{}, false, nil
}

func (m *Map) find(h key) int {
	if m.index != nil {
		if i, ok := m.index[h]; ok {
			return i
		}
		return -1
	}
	for i := range m.keys {
		if k, err := keyOf(m.keys[i]); err == nil && k == h {
			return i
		}
	}
	return -1
}

// NewMap is an empty mapping with room for n entries.
func NewMap(n int) *Map {
	switch n {
	case 0:
		return &Map{}
	case 1, 2:
		x := new(struct {
			Map
			room [4]Value
		})
		x.keys, x.vals = x.room[:0:2], x.room[2:2]
		return &x.Map
	case 3:
		x := new(struct {
			Map
			room [6]Value
		})
		x.keys, x.vals = x.room[:0:3], x.room[3:3]
		return &x.Map
	case 4:
		x := new(struct {
			Map
			room [8]Value
		})
		x.keys, x.vals = x.room[:0:4], x.room[4:4]
		return &x.Map
	}
	room := make([]Value, 2*n)
	return &Map{keys: room[:0:n], vals: room[n:n]}
}

func (m *Map) clone() *Map {
	c := NewMap(len(m.keys))
	for i, k := range m.keys {
		h, _ := keyOf(k)
		c.put(k, h, m.vals[i])
	}
	return c
}
