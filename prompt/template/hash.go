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
	s.text(string(it.role))
	s.number(it.lo)
	s.number(it.hi)
	if it.text {
		s.number(1)
	}
	for _, x := range pieces {
		blocks := ms[x.message].Blocks[x.from:x.to]
		s.number(len(blocks))
		for i := range blocks {
			b := &blocks[i]
			s.number(int(b.Kind))
			switch b.Kind {
			case turn.Image, turn.Document: // always the same text
				continue
			case turn.Other:
				s.bytes(b.Raw)
			case turn.ToolUse:
				s.text(b.Name)
				s.bytes(b.Args)
			case turn.ToolResult:
				s.text(calledName(ms, x.message, b.ID))
			}
			s.text(b.ID)
			s.text(b.Text)
		}
	}
	return s.h.Sum128()
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
