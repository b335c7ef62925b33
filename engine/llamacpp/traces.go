package llamacpp

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// trace is what a slot holds, told so that only who has the same can know it.
// Among several salts a turn may use a slot only if all that it holds is known,
// which a daemon that adopts the server has of no slot. With the trace it knows
// when a conversation comes that goes on from there.
type trace struct {
	Slot int    `json:"slot"`
	Salt string `json:"salt"` // see digest
	Size int    `json:"size"` // tokens
	Sum  string `json:"sum"`  // of their ids, see sumOf
}

// sumOf is a sum of the first n ids.
func sumOf(ids turn.IDs, n int) string {
	h := sha256.New()
	var room []uint32
	var bytes []byte
	for from := 0; from < n; from += stretch {
		bytes = bytes[:0]
		for _, id := range ids.View(room, from, min(from+stretch, n)) {
			bytes = binary.LittleEndian.AppendUint32(bytes, id)
		}
		h.Write(bytes)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// traces are those of the idle slots, the one that was used last at the end.
// There are none while a turn may run in any of them, nor where the server
// clears slots by itself.
func (m *mirror) traces() []trace {
	if !m.salts.several || m.rules.sweeping || slices.ContainsFunc(m.queue, anywhere) {
		return nil
	}
	var idle []*slot
	for i := range m.slots {
		s := &m.slots[i]
		if s.busy != nil && anywhere(s.busy) {
			return nil
		}
		if s.leaveTrace(i) {
			idle = append(idle, s)
		}
	}
	slices.SortStableFunc(idle, func(a, b *slot) int { return cmp.Compare(a.used, b.used) })
	var all []trace
	for _, s := range idle {
		all = append(all, *s.trace)
	}
	return all
}

// anywhere reports whether a request goes where the server likes.
func anywhere(c *claim) bool { return c.pin < 0 }

// leaveTrace makes the trace of the slot of that number, if all that it holds
// is known, and reports whether it has one.
func (s *slot) leaveTrace(i int) bool {
	if s.busy != nil {
		return false
	}
	if s.trace == nil && s.sure && s.told && s.size > 0 && s.ids.Len() == s.size {
		s.trace = &trace{i, digest(s.salt), s.size, sumOf(s.ids, s.size)}
	}
	return s.trace != nil
}

// follow takes over the traces that an earlier daemon left of a server which
// this one's mirror knows nothing of yet.
func (m *mirror) follow(all []trace) {
	for _, t := range all {
		if t.Slot < 0 || t.Slot >= len(m.slots) || t.Size <= 0 {
			continue
		}
		m.ticks++
		m.slots[t.Slot].used, m.slots[t.Slot].trace = m.ticks, &t
	}
}

// recognize fills in what slots hold whose trace a request goes on from.
func (m *mirror) recognize(c *claim) {
	for i := range m.slots {
		s := &m.slots[i]
		t := s.trace
		if t == nil || s.busy != nil || s.size > 0 || t.Size > c.prompt.Len() || t.Salt != digest(c.salt) || t.Sum != sumOf(c.prompt, t.Size) {
			continue
		}
		s.held = hold(c.prompt.Cut(t.Size), t.Size, c.salt, held{})
		s.sure, s.told = true, true
		m.report.add(slotTier, s.held)
	}
}
