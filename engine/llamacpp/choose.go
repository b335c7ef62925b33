package llamacpp

import (
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// place gives a request the slot that the server gives it, with what follows
// for what the server holds; false when it must wait. The rules are those of
// llama.cpp's get_available_slot and server_prompt_cache, as of b11434.
func (m *mirror) place(c *claim) bool {
	k, keeps := m.choose(c)
	if k < 0 {
		return false
	}
	c.near, c.share = m.nearest(c)
	s := &m.slots[k]
	c.slot, c.before = k, s.held
	m.report.drop(slotTier, s.held)
	if m.rules.saving && !keeps {
		c.put = m.save(s.held)
		m.load(s, c)
		m.trim()
	}
	c.reuse = 0
	if !c.fresh {
		c.reuse = max(min(common(s.ids, c.prompt), c.prompt.Len()-1), 0)
	}
	if m.doubts.brittle() && c.reuse < s.size {
		c.reuse = 0
	}
	s.held = s.held.cut(c.reuse) // the rest goes, and what comes is of use when it has ended
	s.busy, s.trace = c, nil
	m.sweep(k)
	return true
}

// choose finds the slot for a request, -1 when none is idle, and whether most
// of what it holds is kept, so that nothing is saved or loaded.
func (m *mirror) choose(c *claim) (k int, keeps bool) {
	if c.pin >= len(m.slots) || c.pin >= 0 && m.slots[c.pin].busy != nil {
		return -1, false
	}
	k, share := m.nearest(c)
	if k >= 0 && m.rules.similarity > 0 && share > m.rules.similarity {
		return k, 2*common(m.slots[k].ids, c.prompt) >= m.slots[k].size
	}
	if c.pin >= 0 {
		return c.pin, m.rules.similarity == 0 || m.slots[c.pin].size == 0 // a pin goes by the saved states then
	}
	return m.oldest(), false
}

// nearest is the idle slot that has the most of the prompt, and what share of
// it; -1 when none has any.
func (m *mirror) nearest(c *claim) (k int, share float64) {
	k, most := -1, 0
	for i := range m.slots {
		s := &m.slots[i]
		if s.busy != nil || c.pin >= 0 && c.pin != i {
			continue
		}
		if n := common(s.ids, c.prompt); n > most {
			k, most = i, n
		}
	}
	return k, float64(most) / float64(max(c.prompt.Len(), 1))
}

// oldest is the idle slot that was used least recently, the last of those that
// never were; -1 when none is idle.
func (m *mirror) oldest() int {
	best := -1
	for i := range m.slots {
		if m.slots[i].busy == nil && (best < 0 || m.slots[i].used <= m.slots[best].used) {
			best = i
		}
	}
	return best
}

// save puts a state behind the saved ones and returns when, unless one of them
// begins with all of it. Those that it begins with go. Where they have proved
// useless none is kept in mind.
func (m *mirror) save(h held) uint64 {
	if h.size == 0 || m.doubts.useless() || slices.ContainsFunc(m.saved, func(e saved) bool { return common(e.ids, h.ids) == h.size }) {
		return 0
	}
	m.saved = slices.DeleteFunc(m.saved, func(e saved) bool {
		part := common(e.ids, h.ids) == e.size
		if part {
			m.report.drop(hostTier, e.held)
		}
		return part
	})
	m.ticks++
	m.saved = append(m.saved, saved{h, m.ticks})
	m.report.add(hostTier, h)
	return m.ticks
}

// load replaces what a slot holds with the saved state that is better, if there
// is one. The state is moved, not copied.
func (m *mirror) load(s *slot, c *claim) {
	i := m.better(s.held, c.prompt)
	if i < 0 {
		return
	}
	c.took = m.saved[i]
	s.held = c.took.held
	m.saved = slices.Delete(m.saved, i, i+1)
	m.report.drop(hostTier, c.took.held)
}

// better is the saved state that has more of a prompt than h and loses less of
// itself, and keeps a quarter; -1 when there is none.
func (m *mirror) better(h held, prompt turn.IDs) int {
	share := func(h held) (kept, of float64) {
		n := float64(common(h.ids, prompt))
		if h.size > 0 {
			kept = n / float64(h.size)
		}
		return kept, n / float64(prompt.Len())
	}
	kept, of := share(h)
	best := -1
	for i, e := range m.saved {
		k, o := share(e.held)
		if k >= 0.25 && k > kept && o > of {
			best, kept, of = i, k, o
		}
	}
	return best
}

// trim drops the oldest saved states until the rest fits; one may stay whatever
// its size.
func (m *mirror) trim() {
	if m.rules.room <= 0 {
		return
	}
	bytes := int64(0)
	for _, e := range m.saved {
		bytes += int64(e.size) * m.rules.perToken
	}
	for len(m.saved) > 1 && bytes > m.rules.room {
		bytes -= int64(m.saved[0].size) * m.rules.perToken
		m.report.drop(hostTier, m.saved[0].held)
		m.saved = slices.Delete(m.saved, 0, 1)
	}
}

// forget drops the state that was saved then.
func (m *mirror) forget(at uint64) {
	m.saved = slices.DeleteFunc(m.saved, func(e saved) bool {
		if e.at == at {
			m.report.drop(hostTier, e.held)
		}
		return e.at == at
	})
}

// sweep saves and clears the idle slots but one, where the server does.
func (m *mirror) sweep(but int) {
	if !m.rules.sweeping || !m.rules.saving {
		return
	}
	for i := range m.slots {
		s := &m.slots[i]
		if i == but || s.busy != nil || s.size == 0 {
			continue
		}
		m.report.drop(slotTier, s.held)
		m.save(s.held)
		s.held = held{salt: s.salt}
	}
	m.trim()
}
