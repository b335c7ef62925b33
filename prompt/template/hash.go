package template

import (
	"encoding/binary"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// sum hashes what is put in one after another. Texts are told apart by their
// lengths; long ones go in as their hash, which is several times faster than
// to stream them. The zero sum is ready.
type sum struct{ buf []byte }

// short is how long a text may be that goes in as it is.
const short = 64

func (s *sum) text(t string) {
	s.number(len(t))
	if len(t) <= short {
		s.buf = append(s.buf, t...)
		return
	}
	s.half(xxh3.HashString128(t))
}

func (s *sum) bytes(b []byte) {
	s.number(len(b))
	if len(b) <= short {
		s.buf = append(s.buf, b...)
		return
	}
	s.half(xxh3.Hash128(b))
}

func (s *sum) half(h xxh3.Uint128) {
	s.buf = binary.LittleEndian.AppendUint64(s.buf, h.Lo)
	s.buf = binary.LittleEndian.AppendUint64(s.buf, h.Hi)
}

func (s *sum) number(n int) { s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(n)) }

func (s *sum) flag(yes bool) {
	if yes {
		s.number(1)
		return
	}
	s.number(0)
}

// done is the hash, and makes room for the next.
func (s *sum) done() xxh3.Uint128 {
	h := xxh3.Hash128(s.buf)
	s.buf = s.buf[:0]
	return h
}

// item hashes all of an item that can be printed.
func (s *sum) item(c *calls, it *item, pieces []piece) xxh3.Uint128 {
	s.text(string(it.role))
	s.number(it.lo)
	s.number(it.hi)
	s.flag(it.text)
	for _, x := range pieces {
		blocks := c.ms[x.message].Blocks[x.from:x.to]
		s.number(len(blocks))
		for i := range blocks {
			s.block(c, x.message, &blocks[i])
		}
	}
	return s.done()
}

// block puts in what of a block can be printed.
func (s *sum) block(c *calls, message int, b *turn.Block) {
	s.number(int(b.Kind))
	switch b.Kind {
	case turn.Image, turn.Document: // always the same text
		return
	case turn.Other:
		s.bytes(b.Raw)
	case turn.ToolUse:
		s.text(b.Name)
		s.bytes(b.Args)
	case turn.ToolResult:
		s.text(c.name(message, b.ID))
	}
	s.text(b.ID)
	s.text(b.Text)
}

// tools hashes all of the tools that can be printed.
func (s *sum) tools(tools []turn.Tool) xxh3.Uint128 {
	for i := range tools {
		t := &tools[i]
		if t.Deferred {
			continue
		}
		s.text(t.Name)
		s.text(t.Description)
		s.bytes(t.Schema)
		s.flag(t.Custom)
	}
	return s.done()
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
