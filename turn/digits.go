package turn

import (
	"encoding/binary"
	"slices"
	"strconv"
	"sync"
)

// numbers holds what is written of each id below tableIDs: its digits and a
// comma in the lower seven bytes, the first one lowest, and how many they are
// in the highest. It is 2 MB, made when the first long prompt comes; ids of
// one language and trade are few, so what is used of it stays in the cache.
var numbers = sync.OnceValue(func() []uint64 {
	table := make([]uint64, tableIDs)
	var b [8]byte
	for id := range table {
		text := append(strconv.AppendUint(b[:0], uint64(id), 10), ',')
		table[id] = binary.LittleEndian.Uint64(b[:])&(1<<(8*len(text))-1) | uint64(len(text))<<56
	}
	return table
})

const (
	tableIDs  = 1 << 18 // the largest vocabularies have some more than 200,000
	tableFrom = 256     // ids; what has fewer is not worth the table
)

// idRoom is the most that one id takes, with what an eight-byte store writes
// beyond it.
const idRoom = 12

// appendDigits appends ids, a comma behind each. Prompts are long, and this is
// most of what a request costs: an id is one look-up and one store, without a
// branch that depends on how long it is. table is numbers or nil.
func appendDigits(b []byte, ids []uint32, table []uint64) []byte {
	for len(ids) > 0 {
		some := ids[:min(len(ids), 512)]
		ids = ids[len(some):]
		b = slices.Grow(b, len(some)*idRoom)
		n := len(b)
		b = b[:n+len(some)*idRoom]
		for _, id := range some {
			if int(id) >= len(table) {
				n = len(strconv.AppendUint(b[:n], uint64(id), 10))
				b[n] = ','
				n++
				continue
			}
			v := table[id]
			binary.LittleEndian.PutUint64(b[n:], v)
			n += int(v >> 56)
		}
		b = b[:n]
	}
	return b
}
