package bpe

import (
	"encoding/binary"
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// pieces finds a token by its bytes: a flat open-addressing table, whose
// entries never change once it is built, but for what is learnt of them. It
// holds no pointers, so the collector does not
// walk it.
type pieces struct {
	slots []pieceSlot
	shift uint
	arena string // the spelled tokens, where slots of long ones point
	at    []span // by id
}

// pieceSlot is one entry. Tokens of up to eight bytes are their own key, so
// that the common look-up touches one cache line and compares no text.
type pieceSlot struct {
	key   uint64        // the bytes, or a hash of more than eight
	state atomic.Uint32 // the id, and what is known of the token
	n     uint16        // length in bytes; 0 is an empty slot
}

// What is known of a token: whether a piece that spells it becomes it, or is
// merged to others. To find out for all takes a third of the time of loading,
// so it is found when such a piece first comes.
const (
	isWhole = 1 << 31
	isSplit = 1 << 30
)

// id is the token.
func (e *pieceSlot) id() uint32 { return e.state.Load() & (maxID - 1) }

// span says where in the arena a token is spelled.
type span struct {
	off uint32
	n   uint16 // 0: no token has this id
	is  trait
}

// trait is what a token is besides its bytes, as flags.
type trait uint16

const (
	special trait = 1 << iota
	literal       // outside the alphabet: spelled as written, never merged
	extra         // an added token
)

// newPieces returns a table with room for n tokens.
func newPieces(n int, arena string, at []span) *pieces {
	size := bits.Len(uint(n + n/2))
	return &pieces{slots: make([]pieceSlot, 1<<size), shift: uint(64 - size), arena: arena, at: at}
}

// add enters the token id.
func (p *pieces) add(id uint32) {
	s := p.spell(id)
	key := keyOf(s)
	i := p.home(key, len(s))
	for ; p.slots[i].n != 0; i = (i + 1) & (len(p.slots) - 1) {
		if p.holds(&p.slots[i], key, s) {
			break
		}
	}
	e := &p.slots[i]
	e.key, e.n = key, uint16(len(s))
	e.state.Store(id)
}

// allWhole says that every token is a piece of its own, as ignore_merges has
// it.
func (p *pieces) allWhole() {
	for i := range p.slots {
		p.slots[i].state.Or(isWhole)
	}
}

// find returns the slot of the token spelled s, nil if there is none. s is
// not empty.
func (p *pieces) find(s string) *pieceSlot { return p.seek(s, keyOf(s)) }

// seek is find for a string whose key is known.
func (p *pieces) seek(s string, key uint64) *pieceSlot {
	for i := p.home(key, len(s)); ; i = (i + 1) & (len(p.slots) - 1) {
		e := &p.slots[i]
		if e.n == 0 {
			return nil
		}
		if e.key == key && p.holds(e, key, s) {
			return e
		}
	}
}

// near finds the token spelled s where it is likely to be: files have tokens
// in the order of the merges that make them, so it is last or the one after.
func (p *pieces) near(last uint32, s string) (id uint32, ok bool) {
	for id := last; id <= last+1 && int(id) < len(p.at); id++ {
		if p.at[id].is&literal == 0 && p.spell(id) == s {
			return id, true
		}
	}
	e := p.find(s)
	if e == nil {
		return 0, false
	}
	return e.id(), true
}

// holds says whether e is the entry of s, whose key is key.
func (p *pieces) holds(e *pieceSlot, key uint64, s string) bool {
	return e.key == key && int(e.n) == len(s) && (e.n <= 8 || p.spell(e.id()) == s)
}

// spell returns the bytes of a token, "" when no token has the id.
func (p *pieces) spell(id uint32) string {
	if int(id) >= len(p.at) {
		return ""
	}
	a := p.at[id]
	return p.arena[a.off : a.off+uint32(a.n)]
}

// home is the slot where the search for a key begins.
func (p *pieces) home(key uint64, n int) int {
	key ^= key >> 29
	return int((key + uint64(n)) * 0x9e3779b97f4a7c15 >> p.shift)
}

// keyOf packs up to eight bytes into a number, and hashes longer strings.
func keyOf(s string) uint64 {
	switch n := len(s); {
	case n > 8:
		return hash(s)
	case n == 8:
		return load64(s, 0)
	case n >= 4:
		return load32(s, 0) | load32(s, n-4)<<(8*(n-4))
	case n >= 2:
		return load16(s, 0) | load16(s, n-2)<<(8*(n-2))
	case n == 1:
		return uint64(s[0])
	}
	return 0
}

// keyIn is keyOf(s[i:j]), where the length of a short string costs no branch.
func keyIn(s string, i, j int) uint64 {
	if n := j - i; n <= 8 && i+8 <= len(s) {
		return load64(s, i) & (1<<(8*n) - 1)
	}
	return keyOf(s[i:j])
}

// hash mixes a string of more than eight bytes, eight at a time; the last
// eight may overlap the ones before.
func hash(s string) uint64 {
	h := uint64(len(s)) ^ 0xa0761d6478bd642f
	for i := 0; i+8 < len(s); i += 8 {
		h = mix(h ^ load64(s, i))
	}
	return mix(h ^ load64(s, len(s)-8))
}

// mix spreads every bit of x over the whole word.
func mix(x uint64) uint64 {
	hi, lo := bits.Mul64(x, 0xe7037ed1a0b428db)
	return hi ^ lo
}

// The loads below compile to one instruction each.

func load64(s string, i int) uint64 {
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s[i:i+8]), 8))
}

func load32(s string, i int) uint64 {
	return uint64(binary.LittleEndian.Uint32(unsafe.Slice(unsafe.StringData(s[i:i+4]), 4)))
}

func load16(s string, i int) uint64 {
	return uint64(binary.LittleEndian.Uint16(unsafe.Slice(unsafe.StringData(s[i:i+2]), 2)))
}
