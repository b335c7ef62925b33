package jinja

import (
	"math/bits"
	"unsafe"
)

// finder knows the messages of a rendering by their mappings.
type finder struct {
	items []Value
	slots []int32 // 0 for an empty one, else the number of a message and one, negative where it stands in the list more than once
	known int     // so many of items are in slots
	twice bool    // one stands in the list more than once
}

// notOne is what number returns for what is no message, several for one that
// stands in the list more than once.
const notOne, several = -1, -2

// begin takes up messages of which the first are those that it had.
func (f *finder) begin(messages []Value, same int) {
	if same < f.known || f.twice {
		f.known = 0
	}
	f.items = messages
	if 2*len(messages) > len(f.slots) {
		f.slots, f.known = make([]int32, 4<<bits.Len(uint(len(messages)))/2), 0
	} else if f.known == 0 {
		clear(f.slots)
	}
	if f.known == 0 {
		f.twice = false
	}
	for i := f.known; i < len(messages); i++ {
		if m := mapOf(messages[i]); m != nil {
			f.add(m, int32(i)+1)
		}
	}
	f.known = len(messages)
}

// forget makes it start anew.
func (f *finder) forget() { f.items, f.known = nil, 0 }

// slot is where a mapping stands, or would.
func (f *finder) slot(m *Map) int {
	const odd = 0x9e3779b97f4a7c15
	mask := len(f.slots) - 1
	i := int(uint64(uintptr(unsafe.Pointer(m)))*odd>>32) & mask
	for {
		n := f.slots[i]
		if n == 0 {
			return i
		}
		if n = max(n, -n) - 1; mapOf(f.items[n]) == m {
			return i
		}
		i = (i + 1) & mask
	}
}

func (f *finder) add(m *Map, n int32) {
	i := f.slot(m)
	if f.slots[i] != 0 {
		n, f.twice = -max(f.slots[i], -f.slots[i]), true
	}
	f.slots[i] = n
}

// number is the number of a message.
func (f *finder) number(m *Map) int {
	if len(f.items) == 0 {
		return notOne
	}
	switch n := f.slots[f.slot(m)]; {
	case n == 0:
		return notOne
	case n < 0:
		return several
	default:
		return int(n) - 1
	}
}

func (f *finder) bytes() int { return 4 * cap(f.slots) }
