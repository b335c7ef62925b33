package vllm

import (
	"encoding/binary"
	"slices"
	"strconv"
)

// decimals are the numbers below 1000 in three digits, zeros in front, the
// first digit in the lowest byte; a comma is the fourth byte. shorts are the
// same without those zeros, with the number of digits in the fourth byte.
var decimals, shorts = func() (all, short [1 << 10]uint32) {
	for n := range 1000 {
		digits := '0' + uint32(n/100) | ('0'+uint32(n/10%10))<<8 | ('0'+uint32(n%10))<<16
		all[n] = digits | ','<<24
		switch {
		case n < 10:
			short[n] = digits>>16 | 1<<24
		case n < 100:
			short[n] = digits>>8 | 2<<24
		default:
			short[n] = digits | 3<<24
		}
	}
	return all, short
}()

// idRoom is the most that one id takes, with what an eight-byte store writes
// beyond it.
const idRoom = 12

// appendIDs appends a JSON array of ids. Prompts are long, and this is most of
// what a request costs: three digits are one look-up in 4 KB, so all but few ids
// are two of them and one store, whatever their length.
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
			if high-1 >= 999 {
				n = putOdd(b, n, id)
				continue
			}
			short := shorts[high&1023]
			digits := uint64(short>>24) & 3
			binary.LittleEndian.PutUint64(b[n:], uint64(short&0xffffff)|uint64(decimals[(id-high*1000)&1023])<<(8*digits))
			n += int(digits) + 4
		}
		b = b[:n]
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

// putOdd writes an id that is below a thousand, or no less than a million, and
// a comma at b[n], and returns where they end. There must be idRoom bytes.
func putOdd(b []byte, n int, id uint32) int {
	if id < 1000 {
		short := shorts[id]
		binary.LittleEndian.PutUint32(b[n:], short)
		n += int(short >> 24)
	} else {
		n = len(strconv.AppendUint(b[:n], uint64(id), 10))
	}
	b[n] = ','
	return n + 1
}
