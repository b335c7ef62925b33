package vllm

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// thousands are the numbers below 1000 without zeros in front, the first digit
// in the lowest byte, and how many digits there are in the fourth; 0 has none.
//
// rests are what comes after the thousands, with a comma behind and how many
// bytes there are in the upper half: from 0 on without zeros in front, for
// ids that have no thousands, and from 1024 on with them.
var thousands, rests = func() (high [1 << 10]uint32, low [1 << 11]uint64) {
	for n := range 1000 {
		text := strconv.Itoa(n)
		whole := "000"[len(text):] + text
		low[n], low[1024+n] = packed(text+","), packed(whole+",")
		if n > 0 {
			high[n] = uint32(packed(text)) | uint32(len(text))<<24
		}
	}
	return high, low
}()

// packed is a text of four bytes at most, and its length in the upper half.
func packed(text string) uint64 {
	var b [8]byte
	copy(b[:4], text)
	b[4] = byte(len(text))
	return binary.LittleEndian.Uint64(b[:])
}

// idRoom is the most that one id takes, with what an eight-byte store writes
// beyond it.
const idRoom = 12

// appendIDs appends a JSON array of ids. Prompts are long, and this is most of
// what a request costs: an id is two look-ups in 20 KB and one store, without
// a branch that depends on how long it is.
func appendIDs(b []byte, ids []uint32) []byte {
	b = append(b, '[')
	for len(ids) > 0 {
		some := ids[:min(len(ids), 512)]
		ids = ids[len(some):]
		b = slices.Grow(b, len(some)*idRoom)
		n := len(b)
		b = b[:n+len(some)*idRoom]
		for _, id := range some {
			high := id / 1000
			if high >= 1000 {
				n = len(strconv.AppendUint(b[:n], uint64(id), 10))
				b[n] = ','
				n++
				continue
			}
			rest := rests[((high+1023)&1024|(id-high*1000))&2047]
			first := thousands[high&1023]
			digits := uint64(first >> 24)
			binary.LittleEndian.PutUint64(b[n:], uint64(first&0xffffff)|rest&0xffffffff<<(8*digits&63))
			n += int(digits + rest>>32)
		}
		b = b[:n]
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}
