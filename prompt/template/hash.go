package template

import (
	"encoding/binary"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// sum hashes texts one after another. Texts are told apart by their lengths.
type sum struct{ h xxh3.Hasher }

func (s *sum) text(t string) {
	s.number(len(t))
	s.h.WriteString(t)
}

func (s *sum) bytes(b []byte) {
	s.number(len(b))
	s.h.Write(b)
}

func (s *sum) number(n int) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	s.h.Write(b[:])
}

// item hashes all of an item that can be printed.
func (s *sum) item(ms []turn.Message, it *item, pieces []piece) xxh3.Uint128 {
	s.h.Reset()
	s.numbers(len(it.role), int(it.role[0]), it.lo, it.hi, truth(it.text))
	for _, x := range pieces {
		blocks := ms[x.message].Blocks[x.from:x.to]
		s.number(len(blocks))
		for i := range blocks {
			s.block(ms, x.message, &blocks[i])
		}
	}
	return s.h.Sum128()
}

// block hashes what of a block can be printed, after the lengths of it.
func (s *sum) block(ms []turn.Message, message int, b *turn.Block) {
	id, name, text, raw := b.ID, b.Name, b.Text, []byte(nil)
	switch b.Kind {
	case turn.Image, turn.Document: // always the same text
		id, name, text = "", "", ""
	case turn.Other:
		raw = b.Raw
	case turn.ToolUse:
		raw = b.Args
	case turn.ToolResult:
		name = calledName(ms, message, id)
	}
	s.numbers(int(b.Kind), len(id), len(name), len(text), len(raw))
	s.h.WriteString(id)
	s.h.WriteString(name)
	s.h.WriteString(text)
	s.h.Write(raw)
}

// numbers hashes five numbers.
func (s *sum) numbers(a, b, c, d, e int) {
	var buf [40]byte
	for i, n := range [5]int{a, b, c, d, e} {
		binary.LittleEndian.PutUint64(buf[8*i:], uint64(n))
	}
	s.h.Write(buf[:])
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tools hashes all of the tools that can be printed.
func (s *sum) tools(tools []turn.Tool) xxh3.Uint128 {
	s.h.Reset()
	for i := range tools {
		t := &tools[i]
		if t.Deferred {
			continue
		}
		s.text(t.Name)
		s.text(t.Description)
		s.bytes(t.Schema)
		if t.Custom {
			s.number(1)
		}
	}
	return s.h.Sum128()
}

// letters are those of short ids.
const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// shortID is an id of nine letters and digits: the given one if it is such,
// else one made of it.
func shortID(id string) string {
	const n = 9
	ok := len(id) == n
	for i := 0; ok && i < n; i++ {
		c := id[i] | 0x20
		ok = id[i] >= '0' && id[i] <= '9' || c >= 'a' && c <= 'z'
	}
	if ok {
		return strings.Clone(id)
	}
	var b [n]byte
	h := xxh3.HashString(id)
	for i := range b {
		b[i] = letters[h%uint64(len(letters))]
		h /= uint64(len(letters))
	}
	return string(b[:])
}
