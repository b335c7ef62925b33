package prompt

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// history is what a State knows of the messages of its last prompt.
type history struct {
	root    uint64
	keys    []xxh3.Uint128  // of each message, all that can count of it
	rolling []uint64        // see Rolling; handed out, so written only behind its end
	said    []*turn.RawTurn // the raw turn of each answer that has one
}

// follow brings h up to t and returns how many messages at the start are as
// they were, and how many of the answers after them are known not to be what
// the model gave. Of messages that did not change nothing is hashed anew or
// looked up; an answer that was the model's stays so when its raw turn is
// gone. rolling is what Rolling says of t, or nil.
func (h *history) follow(d *desk, t *turn.Turn, rolling []uint64, raw *Raw) (same, edited int) {
	same = h.compare(t)
	switch {
	case rolling != nil:
		h.rolling = rolling
	case same < len(h.rolling):
		h.rolling = append(make([]uint64, 0, len(t.Messages)*9/8+8), h.rolling[:same]...)
	}
	for i := len(h.rolling); i < len(t.Messages); i++ {
		h.rolling = append(h.rolling, d.reader.next(h.before(i), &t.Messages[i]))
	}
	h.said = append(h.said[:same], make([]*turn.RawTurn, len(t.Messages)-same)...)
	return same, h.find(t, raw, same)
}

// strange is after how many answers in a row that nobody knows a history is
// taken for one that was made elsewhere: each costs a read of the disk.
const strange = 4

// find looks up the raw turns of the answers from message same on, the latest
// first, and returns how many are known not to be what the model gave. The
// disk is asked no more once a history looks strange.
func (h *history) find(t *turn.Turn, raw *Raw, same int) (edited int) {
	misses := 0
	for i := len(t.Messages) - 1; i >= same; i-- {
		if t.Messages[i].Role != turn.Assistant {
			continue
		}
		said := raw.inMemory(h.rolling[i])
		if said == nil && misses < strange {
			said = raw.fetch(h.rolling[i])
			misses++
		}
		switch {
		case said != nil:
			misses = 0
			if !thinksAlike(&t.Messages[i], said.Thinking) {
				said = nil
				edited++
			}
		case raw.Answered(h.before(i)):
			edited++
		}
		h.said[i] = said
	}
	return edited
}

// thinksAlike reports whether an answer holds no reasoning but what the model
// thought. Clients drop some of it, or all, and join its pieces, so white space
// does not count.
func thinksAlike(m *turn.Message, thought string) bool {
	bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
	var all string
	for i := range m.Blocks {
		b := &m.Blocks[i]
		if b.Kind != turn.ThinkingBlock || blank(b.Text) || b.Text == thought {
			continue
		}
		if all == "" {
			all = bare(thought)
		}
		if !strings.Contains(all, bare(b.Text)) {
			return false
		}
	}
	return true
}

// before is the rolling hash of the history before message i.
func (h *history) before(i int) uint64 {
	if i == 0 {
		return h.root
	}
	return h.rolling[i-1]
}

// compare takes the messages of t into h and returns how many at the start
// are as they were.
func (h *history) compare(t *turn.Turn) (same int) {
	root := Root(t)
	if root != h.root {
		h.keys = h.keys[:0]
	}
	h.root = root
	old := len(h.keys)
	for i := range t.Messages {
		k := key(&t.Messages[i])
		if i == same && i < old && h.keys[i] == k {
			same++
			continue
		}
		h.keys = append(h.keys[:i], k)
	}
	h.keys = h.keys[:len(t.Messages)]
	return same
}

// cut forgets all but the first n messages.
func (h *history) cut(n int) {
	h.keys, h.said, h.rolling = h.keys[:n], h.said[:n], slices.Clip(h.rolling[:n])
}

// key hashes all of a message that rendering or Rolling may read.
func key(m *turn.Message) (k xxh3.Uint128) {
	k = join(k, xxh3.HashString128(string(m.Role)))
	for i := range m.Blocks {
		b := &m.Blocks[i]
		kind := xxh3.Uint128{Lo: uint64(b.Kind)}
		if b.IsError {
			kind.Hi = 1
		}
		k = join(k, kind)
		for _, s := range [...]string{b.Text, b.ID, b.Name} {
			k = join(k, xxh3.HashString128(s)) // at once: in pieces it costs ten times as much
		}
		if len(b.Args)+len(b.Raw) > 0 {
			k = join(join(k, xxh3.Hash128(b.Args)), xxh3.Hash128(b.Raw))
		}
	}
	return k
}

// join mixes the hash of one more part into a hash.
func join(a, b xxh3.Uint128) xxh3.Uint128 {
	var buf [32]byte
	binary.LittleEndian.PutUint64(buf[:], a.Lo)
	binary.LittleEndian.PutUint64(buf[8:], a.Hi)
	binary.LittleEndian.PutUint64(buf[16:], b.Lo)
	binary.LittleEndian.PutUint64(buf[24:], b.Hi)
	return xxh3.Hash128(buf[:])
}
