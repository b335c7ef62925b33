package prompt

import (
	"fmt"
	"time"
	"unsafe"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/turn"
)

// Prompt is a turn as the engine gets it.
type Prompt struct {
	IDs    []uint32 // never written after Build returns
	Marks  []Mark   // one per ask for a lease, in order: tools, messages, the hint
	Reused int      // ids taken from the State without tokenising
	Thinks bool     // IDs end inside an open think block
}

// Mark is the prefix that an ask for a lease covers: all up to the end of the
// message that holds it. Asks of tools, and of a leading system message,
// cover the system and tools part. The hint's ask covers the whole prompt.
type Mark struct {
	Tokens int
	TTL    time.Duration
}

// headSalt tells the key of what opened an answer from the key of an answer.
const headSalt = 0x6865_6164_6865_6164

// Build makes the prompt of t, after Steady. s is the agent's State and is
// brought up to date; nil builds from nothing. rolling is what Rolling says
// of t, and raw the answers that the model gave; without either, answers are
// rendered. The prompt is the same whatever s holds: a State only saves work.
// After an error s is as before.
func (m *Model) Build(s *State, t *turn.Turn, rolling []uint64, raw *Raw) (Prompt, error) {
	if rolling != nil && len(rolling) != len(t.Messages) {
		return Prompt{}, fmt.Errorf("build prompt: %d rolling hashes for %d messages", len(rolling), len(t.Messages))
	}
	segs, err := m.render.Render(t)
	if err != nil {
		return Prompt{}, fmt.Errorf("build prompt: %w", err)
	}
	if s == nil {
		s = new(State)
	}
	b := builder{
		m: m, t: t, rolling: rolling, raw: raw, old: search{s: s},
		ids:   make([]uint32, 0, m.room(s, segs)),
		parts: make([]part, 0, len(segs)+1),
	}
	for _, seg := range segs {
		b.add(seg)
	}
	p := Prompt{IDs: b.ids[:len(b.ids):len(b.ids)], Reused: b.reused, Thinks: thinks(segs)}
	p.Marks = marks(t, segs, b.ends, len(p.IDs))
	s.ids, s.parts = p.IDs, b.parts
	return p, nil
}

// Count tells how many tokens the prompt of t has when nothing is spliced in.
func (m *Model) Count(t *turn.Turn) (int, error) {
	p, err := m.Build(nil, t, nil, nil)
	return len(p.IDs), err
}

// room guesses the capacity that the ids of segs need.
func (m *Model) room(s *State, segs []Segment) int {
	bytes := 0
	for _, seg := range segs {
		bytes += len(seg.Text)
	}
	return max(bytes*2/5, len(s.ids)+1024)
}

// builder is one Build under way.
type builder struct {
	m       *Model
	t       *turn.Turn
	rolling []uint64
	raw     *Raw
	old     search

	ids    []uint32
	parts  []part
	ends   []int // per segment, where its ids end
	reused int
}

// add appends one segment, spliced where the model's own ids are known.
func (b *builder) add(seg Segment) {
	switch said, ok := b.said(seg); {
	case ok:
		b.splice(seg, said)
	case seg.Message == len(b.t.Messages) && seg.Head > 0:
		b.generation(seg)
	default:
		b.text(seg.Text)
	}
	b.ends = append(b.ends, len(b.ids))
}

// said returns the ids that the model gave for an assistant segment.
func (b *builder) said(seg Segment) ([]uint32, bool) {
	i := seg.Message
	if b.rolling == nil || seg.Head == 0 || i < 0 || i >= len(b.rolling) {
		return nil, false
	}
	return b.raw.Find(b.rolling[i])
}

// splice appends an answer as the model gave it: the opening as it was then,
// the ids, the closing.
func (b *builder) splice(seg Segment, said []uint32) {
	b.text(seg.Text[:seg.Head])
	head, _ := b.raw.Find(headKey(b.rolling, seg.Message))
	from := len(b.ids)
	b.ids = append(append(b.ids, head...), said...)
	key := hashIDs(b.ids[from:])
	if _, ok := b.old.find(key); ok {
		b.reused += len(b.ids) - from
	}
	b.parts = append(b.parts, part{key, len(b.ids)})
	b.text(seg.Text[len(seg.Text)-seg.Foot:])
}

// generation appends the generation prompt and keeps what it holds beyond
// the opening, for the prompts that will splice the answer in.
func (b *builder) generation(seg Segment) {
	b.text(seg.Text[:seg.Head])
	from := len(b.ids)
	b.text(seg.Text[seg.Head:])
	if b.rolling == nil {
		return
	}
	key := headKey(b.rolling, seg.Message)
	if from == len(b.ids) {
		b.raw.remove(key)
		return
	}
	b.raw.Put(key, b.ids[from:])
}

// text appends the ids of s, from the State where it holds them.
func (b *builder) text(s string) {
	if s == "" {
		return
	}
	key := xxh3.HashString128(s)
	ids, ok := b.old.find(key)
	if ok {
		b.ids = append(b.ids, ids...)
		b.reused += len(ids)
	} else {
		b.ids = b.m.tok.Encode(b.ids, s)
	}
	b.parts = append(b.parts, part{key, len(b.ids)})
}

// headKey is where the opening of the answer at message i is kept: under the
// history before it.
func headKey(rolling []uint64, i int) uint64 {
	if i == 0 {
		return headSalt
	}
	return rolling[i-1] ^ headSalt
}

// hashIDs hashes ids as bytes, in this machine's order.
func hashIDs(ids []uint32) xxh3.Uint128 {
	if len(ids) == 0 {
		return xxh3.Uint128{}
	}
	return xxh3.Hash128(unsafe.Slice((*byte)(unsafe.Pointer(&ids[0])), 4*len(ids)))
}
