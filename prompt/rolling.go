package prompt

import (
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/prompt/key"
	"github.com/agentinfer/dyn/turn"
)

// Tags keep the kinds of content apart in a message's hash.
const (
	tagText uint64 = iota + 1
	tagCall
	tagResult
	tagError
	tagRaw
	tagNext
	tagRoot
	tagKey
	tagTools
)

// Rolling brings dst, which holds the hashes of the first messages of t, to one
// for each: of the message and all before it. Equal hashes mean an equal history, whatever a client does to
// it on replay: string or blocks, outer white space, moved cache_control,
// new call ids, arguments written anew, dropped thinking, the attribution
// line. What an assistant said is compared word by word, since clients also
// join its pieces; other text is compared exactly. Turns of different tenants
// or salts have no hash in common.
func Rolling(dst []uint64, t *turn.Turn) []uint64 {
	parent := Root(t)
	if n := len(dst); n > 0 {
		parent = dst[n-1]
	}
	r := borrow()
	defer r.back()
	for i := len(dst); i < len(t.Messages); i++ {
		parent = r.next(parent, &t.Messages[i])
		dst = append(dst, parent)
	}
	return dst
}

// Root is the hash of the empty history of t's tenant and salt; 0 when it has
// neither.
func Root(t *turn.Turn) uint64 {
	if t.Tenant == "" && t.Salt == "" {
		return 0
	}
	return mix(xxh3.HashString(t.Tenant), xxh3.HashString(t.Salt), tagRoot)
}

// Next is the hash of a history that goes on with m, after the history whose
// hash is parent; see Root for the first.
func Next(parent uint64, m turn.Message) uint64 {
	r := borrow()
	defer r.back()
	return r.next(parent, &m)
}

// reader hashes messages and keeps its buffers between them.
type reader struct {
	words []byte
	keys  key.Maker
	canon canon
}

// readers are those between two uses.
var readers = sync.Pool{New: func() any { return new(reader) }}

// readerKept is how much of each buffer is kept for the next use.
const readerKept = 64 << 10

// borrow takes a reader that nobody else uses; back gives it back.
func borrow() *reader { return readers.Get().(*reader) }

func (r *reader) back() {
	r.tidy()
	readers.Put(r)
}

// tidy lets go of what the reader holds of messages, and of long buffers.
func (r *reader) tidy() {
	r.canon.s = nil
	for _, b := range []*[]byte{&r.words, &r.canon.buf, &r.canon.lines} {
		if cap(*b) > readerKept {
			*b = nil
		}
	}
}

func (r *reader) next(parent uint64, m *turn.Message) uint64 {
	h := mix(parent, xxh3.HashString(string(m.Role)), tagNext)
	h = mix(h, r.textHash(m), tagText)
	for i := range m.Blocks {
		switch b := &m.Blocks[i]; b.Kind {
		case turn.ToolUse:
			h = mix(h, mix(xxh3.HashString(b.Name), r.canon.args(b.Args), tagCall), tagCall)
		case turn.ToolResult:
			tag := tagResult
			if b.IsError {
				tag = tagError
			}
			h = mix(h, xxh3.HashString(strings.TrimSpace(b.Text)), tag)
		case turn.Image, turn.Document, turn.Other:
			h = mix(h, r.canon.json(b.Raw), tagRaw)
		}
	}
	return h
}

// textHash hashes the text of m: its text blocks joined with line feeds,
// trimmed; an assistant's without regard to the amount of white space.
func (r *reader) textHash(m *turn.Message) uint64 {
	if m.Role == turn.Assistant {
		return r.wordsHash(m)
	}
	first, last, n := -1, -1, 0
	for i := range m.Blocks {
		if holdsText(m, i) {
			if first < 0 {
				first = i
			}
			last = i
			n++
		}
	}
	switch n {
	case 0:
		return 0
	case 1:
		return xxh3.HashString(strings.TrimSpace(plain(m, first)))
	}
	h := xxh3.New()
	for i := first; i <= last; i++ {
		if !holdsText(m, i) {
			continue
		}
		s := plain(m, i)
		switch i {
		case first:
			s = strings.TrimLeft(s, space)
		case last:
			s = strings.TrimRight(s, space)
		}
		if i > first {
			h.WriteString("\n")
		}
		h.WriteString(s)
	}
	return h.Sum64()
}

// space is what strings.TrimSpace takes off, of ASCII.
const space = " \t\n\v\f\r\u0085\u00a0"

// holdsText reports whether block i is text that counts.
func holdsText(m *turn.Message, i int) bool {
	return m.Blocks[i].Kind == turn.Text && !blank(plain(m, i))
}

// plain is the text of block i, without the attribution line.
func plain(m *turn.Message, i int) string {
	if m.Role == turn.System {
		return unattributed(m.Blocks[i].Text)
	}
	return m.Blocks[i].Text
}

// wordsHash hashes the words of all text of m, in order.
func (r *reader) wordsHash(m *turn.Message) uint64 {
	r.words = r.words[:0]
	for i := range m.Blocks {
		if holdsText(m, i) {
			s := m.Blocks[i].Text
			r.words = appendWords(slices.Grow(r.words, len(s)+1), s)
		}
	}
	if len(r.words) == 0 {
		return 0
	}
	return xxh3.Hash(r.words)
}

// appendWords appends the words of s, a space before each but the first.
func appendWords(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		from := i
		for i < len(s) && !isSpace(s[i]) {
			i++
		}
		if from == i {
			break
		}
		if len(dst) > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, s[from:i]...)
	}
	return dst
}

// isSpace reports whether c is white space between words.
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// mix joins two hashes, in order, under a tag.
func mix(a, b, tag uint64) uint64 {
	var buf [16]byte
	binary.LittleEndian.PutUint64(buf[:8], a)
	binary.LittleEndian.PutUint64(buf[8:], b)
	return xxh3.HashSeed(buf[:], tag)
}
