package bpe

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// windowSize is how many bytes a window has: a block, and what may be read
// behind its last byte.
const windowSize = 64 + 16

// window is some text that can be read without a look at where it ends.
type window [windowSize]byte

// windowAt returns the window of s[i:], which is that text itself if it is
// long enough, else a copy in pad with zeros behind it.
func windowAt(s string, i int, pad *window) *window {
	if i+windowSize <= len(s) {
		return (*window)(unsafe.Pointer(unsafe.StringData(s[i:])))
	}
	clear(pad[copy(pad[:], s[i:]):])
	return pad
}

// at reads the eight bytes from k on, which is less than 64.
func (w *window) at(k int) uint64 { return binary.LittleEndian.Uint64(w[k&63:][:8]) }

// next reads the eight bytes after those.
func (w *window) next(k int) uint64 { return binary.LittleEndian.Uint64(w[k&63+8:][:8]) }

// block tells of 64 bytes of text which are what: bit k is byte k. Only the
// first n bits of each are good, up to a byte that is not ASCII, or a control
// character and no blank.
type block struct {
	letters, digits, blanks uint64
	lines                   uint64 // line feeds and carriage returns, which are blanks too
	fifth                   uint64 // small letters and no capitals, spaces and no other blanks
	quotes                  uint64
	n                       int
}

// look reads a block. An addition that overflows a byte spoils only what comes
// after the first byte that is not ASCII.
func look(w *window) (b block) {
	odds, quotes := uint64(0), uint64(0)
	for k := 0; k < 64; k += 8 {
		x := w.at(k)
		control := from(x, '\t', '\r')
		b.letters |= gather(from(x|0x20*each, 'a', 'z')) << k
		b.digits |= gather(from(x, '0', '9')) << k
		b.blanks |= gather(control|equal(x, ' ')) << k
		b.lines |= gather(equal(x, '\n')|equal(x, '\r')) << k
		b.fifth |= gather(x<<2) << k
		quotes |= equal(x, '\'')
		odds |= odd(x)
	}
	b.n = 64
	if odds&highs != 0 {
		b.n = bits.TrailingZeros64(w.gather(odd))
	}
	if quotes&highs != 0 {
		b.quotes = w.gather(func(x uint64) uint64 { return equal(x, '\'') })
	}
	return b
}

// gather makes a number of what mark marks in the 64 bytes.
func (w *window) gather(mark func(x uint64) uint64) (all uint64) {
	for k := 0; k < 64; k += 8 {
		all |= gather(mark(w.at(k))) << k
	}
	return all
}

// odd marks, by their highest bits, the bytes at which a block ends early.
func odd(x uint64) uint64 { return x + each | ^(x+0x60*each)&^from(x, '\t', '\r') }

// from marks the bytes from lo to hi by their highest bits; all are ASCII.
func from(x uint64, lo, hi byte) uint64 {
	return (x + uint64(0x80-lo)*each) &^ (x + uint64(0x7f-hi)*each)
}

// equal marks the bytes that are c by their highest bits; all are ASCII.
func equal(x uint64, c byte) uint64 { return ^(x ^ uint64(c)*each + 0x7f*each) }

// gather makes a number of the highest bits of the eight bytes.
func gather(x uint64) uint64 { return x & highs * 0x0002040810204081 >> 56 }
