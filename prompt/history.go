package prompt

import (
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// history is what a State knows of the messages of its last prompt.
type history struct {
	root    uint64
	keys    []Key           // of each message
	rolling []uint64        // see Rolling; handed out, so written only behind its end
	said    []*turn.RawTurn // the raw turn of each answer that has one

	saidBytes int // what the raw turns take
}

// follow brings h up to t and returns how many messages at the start are as
// they were, and how many of the answers after them are known not to be what
// the model gave. Of messages that did not change nothing is hashed anew or
// looked up; an answer that was the model's stays so when its raw turn is
// gone. known are t's hashes, or nil.
func (h *history) follow(d *desk, t *turn.Turn, known *Hashes, raw *Raw) (same, edited int) {
	if known == nil {
		d.keys = d.reader.appendKeys(d.keys[:0], t)
		known = &Hashes{Keys: d.keys}
	}
	same = h.compare(t, known.Keys)
	switch {
	case known.Rolling != nil:
		h.rolling = known.Rolling
	case same < len(h.rolling):
		h.rolling = append(make([]uint64, 0, len(t.Messages)*9/8+8), h.rolling[:same]...)
	}
	for i := len(h.rolling); i < len(t.Messages); i++ {
		h.rolling = append(h.rolling, d.reader.next(h.before(i), &t.Messages[i]))
	}
	h.leave(same)
	h.said = append(h.said, make([]*turn.RawTurn, len(t.Messages)-same)...)
	return same, h.find(d, t, raw, same)
}

// leave keeps the raw turns of the first n messages only.
func (h *history) leave(n int) {
	for _, said := range h.said[n:] {
		h.saidBytes -= rawBytes(said)
	}
	clear(h.said[n:])
	h.said = h.said[:n]
}

// patience is how long one prompt waits for raw turns that are not in memory,
// all of them together. One takes some 40 µs; a disk may be slow, though.
const patience = 250 * time.Millisecond

// find looks up the raw turns of the answers from message same on, and returns
// how many are known not to be what the model gave. The first answers come
// first: up to where one is missing the prompt is that of the turn before.
func (h *history) find(d *desk, t *turn.Turn, raw *Raw, same int) (edited int) {
	var until time.Time
	for i := same; i < len(t.Messages); i++ {
		if t.Messages[i].Role != turn.Assistant {
			continue
		}
		said := raw.inMemory(h.rolling[i])
		if said == nil {
			now := time.Now()
			if until.IsZero() {
				until = now.Add(patience)
			}
			if now.Before(until) {
				said = raw.fetch(h.rolling[i])
			}
		}
		switch {
		case said != nil:
			if m := &t.Messages[i]; !thinksAlike(m, said.Thinking) || !d.m.movesAlike(m, said) {
				said = nil
				edited++
			}
		case raw.Answered(h.before(i)):
			edited++
		}
		h.said[i] = said
		h.saidBytes += rawBytes(said)
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

// compare takes the messages of t, by their keys, into h and returns how many
// at the start are as they were.
func (h *history) compare(t *turn.Turn, keys []Key) (same int) {
	root := Root(t)
	if root != h.root {
		h.keys = h.keys[:0]
	}
	h.root = root
	for same < min(len(h.keys), len(keys)) && h.keys[same] == keys[same] {
		same++
	}
	h.keys = append(h.keys[:same], keys[same:]...)
	return same
}

// cut forgets all but the first n messages.
func (h *history) cut(n int) {
	h.leave(n)
	h.keys, h.rolling = h.keys[:n], slices.Clip(h.rolling[:n])
}
