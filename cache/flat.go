package cache

import "math/bits"

// flat is a hash table without pointers for the writer's own books: open
// addressing in rows that lie together, grown by half. The zero V is none.
type flat[V comparable] struct {
	keys []uint64 // mixed, see mix
	vals []V
	n    int
}

// home is where a key belongs: rows follow the order of keys, so they need
// not be a power of two.
func (f *flat[V]) home(key uint64) int {
	hi, _ := bits.Mul64(key, uint64(len(f.keys)))
	return int(hi)
}

// get returns the value of a key, the zero V when it has none.
func (f *flat[V]) get(key uint64) (v V) {
	if f.n == 0 {
		return v
	}
	var none V
	for i := f.home(key); ; i++ {
		if i == len(f.keys) {
			i = 0
		}
		if f.vals[i] == none || f.keys[i] == key {
			return f.vals[i]
		}
	}
}

// put sets the value of a key, which must not be the zero V, and returns by
// how many bytes the table grew.
func (f *flat[V]) put(key uint64, v V, size int) (grown int) {
	if 8*(f.n+1) > 7*len(f.keys) {
		grown = f.grow(size)
	}
	var none V
	for i := f.home(key); ; i++ {
		if i == len(f.keys) {
			i = 0
		}
		if f.vals[i] == none {
			f.n++
		} else if f.keys[i] != key {
			continue
		}
		f.keys[i], f.vals[i] = key, v
		return grown
	}
}

func (f *flat[V]) grow(size int) int {
	keys, vals := f.keys, f.vals
	room := max(16, len(keys)+len(keys)/2)
	f.keys, f.vals, f.n = make([]uint64, room), make([]V, room), 0
	var none V
	for i, v := range vals {
		if v != none {
			f.put(keys[i], v, size)
		}
	}
	return (room - len(keys)) * size
}

// del takes a key out. Those behind it that were pushed on close the gap.
func (f *flat[V]) del(key uint64) {
	if f.n == 0 {
		return
	}
	var none V
	i := f.home(key)
	for ; f.keys[i] != key || f.vals[i] == none; i++ {
		if f.vals[i] == none {
			return
		}
		if i == len(f.keys)-1 {
			i = -1
		}
	}
	f.n--
	for j := i; ; {
		f.vals[i] = none
		for {
			if j++; j == len(f.keys) {
				j = 0
			}
			if f.vals[j] == none {
				return
			}
			// May what lies at j move to i? Not if its home is behind i.
			if h := f.home(f.keys[j]); i <= j && (h <= i || h > j) || i > j && h <= i && h > j {
				break
			}
		}
		f.keys[i], f.vals[i] = f.keys[j], f.vals[j]
		i = j
	}
}
