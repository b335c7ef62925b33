package llamacpp

import (
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// rules are what a server was launched with and does not tell.
type rules struct {
	told       bool    // by its command line; else they are guessed
	similarity float64 // -sps: the share of a prompt that a slot must have to be taken for it
	saving     bool    // --cache-ram: what leaves a slot is saved, and comes back
	room       int64   // bytes for that; 0 is no bound
	sweeping   bool    // under -kvu, idle slots are saved and cleared whenever one is taken
	perToken   int64   // bytes of a saved token
	context    int     // tokens of a slot
}

// mirror is what a server holds, by what was sent to it and what came back. It
// follows the server's own rules for taking, saving and loading slots, and
// where an answer tells otherwise, the answer is right. It is a plain value: it
// knows no clock and has no effects; it is for one goroutine at a time.
//
// What it does not see: other clients of the server, what the server held
// before, states that fall out earlier than their bytes say. Each makes it tell
// too much or too little until the next answer corrects it.
type mirror struct {
	rules  rules
	report report
	slots  []slot
	saved  []saved // oldest first
	queue  []*claim
	ticks  uint64 // counts what was done, for orders
	salts  salts
	doubts doubts
}

// slot is one of the server's places for a running turn.
type slot struct {
	held
	busy *claim // whose turn runs there; nil when idle
	used uint64 // when its last turn ended; 0 is never
	sure bool   // that what it holds is of the salt it says
	told bool   // that it holds just that: the server told its size
	left bool   // we hung up on its last turn, which may run yet

	trace *trace // of what it holds, also where that is not known yet; nil is none
}

// saved is a state in the server's memory.
type saved struct {
	held
	at uint64 // when it was saved
}

// claim is one request on its way.
type claim struct {
	of     *mirror // whose it is
	prompt turn.IDs
	salt   string
	probe  bool // it is nobody's turn
	pin    int  // the slot that it asks for; -1 is any
	fresh  bool
	slot   int // where we believe it runs; -1 while it waits
	reuse  int // prompt tokens that we believe are found there

	near  int     // the slot that had most of the prompt; -1 is none
	share float64 // how much of it

	before held   // what the slot held
	put    uint64 // when that was saved; 0 is not
	took   saved  // what came from memory instead; at 0 is nothing
}

func newMirror(slots int, r rules) *mirror {
	m := &mirror{rules: r, slots: make([]slot, slots)}
	for i := range m.slots {
		m.slots[i].sure = true
	}
	return m
}

// begin takes a request as the server will: it goes to a slot, or waits for
// one.
func (m *mirror) begin(c *claim) {
	c.slot = -1
	if !m.place(c) {
		m.queue = append(m.queue, c)
	}
}

// outcome is what is known of a request that has ended.
type outcome struct {
	slot   int      // -1 when the server did not tell
	cached int      // prompt tokens that it found; -1 when it did not tell
	ids    turn.IDs // what the slot holds now, as far as known
	size   int      // its tokens
}

// end notes how a request ended.
func (m *mirror) end(c *claim, o outcome) {
	if o.slot >= len(m.slots) {
		o.slot = -1
	}
	m.found(c, o.slot)
	if c.slot < 0 { // it never ran, as far as we know
		m.queue = slices.DeleteFunc(m.queue, func(q *claim) bool { return q == c })
		return
	}
	s := &m.slots[c.slot]
	m.learn(c, o)
	if o.slot < 0 && m.doubts.brittle() {
		o.ids, o.size = turn.IDs{}, 0
	}
	s.held = hold(o.ids, o.size, c.salt, s.held)
	m.report.add(slotTier, s.held)
	m.ticks++
	s.busy, s.used, s.told, s.left = nil, m.ticks, o.slot >= 0, o.slot < 0
	if o.slot >= 0 || c.pin >= 0 {
		s.sure = o.slot >= 0 || o.cached >= 0 // it has begun, so that what was there before is gone
	} else {
		m.unsure()
	}
	m.drain()
}

// undo takes a request back that the server did not answer. Where it may have
// begun all the same, nobody knows whose the slot's content is.
func (m *mirror) undo(c *claim, begun bool) {
	if c.slot < 0 {
		m.queue = slices.DeleteFunc(m.queue, func(q *claim) bool { return q == c })
		if begun {
			m.unsure()
		}
		return
	}
	s := &m.slots[c.slot]
	m.leave(c)
	switch {
	case begun && c.pin < 0:
		m.unsure()
	case begun:
		s.sure = false
	}
	m.drain()
}

// leave makes the claim's slot what it was before.
func (m *mirror) leave(c *claim) {
	s := &m.slots[c.slot]
	if c.put > 0 {
		m.forget(c.put)
	}
	if c.took.at > 0 {
		i, _ := slices.BinarySearchFunc(m.saved, c.took.at, func(e saved, at uint64) int { return int(int64(e.at - at)) })
		m.saved = slices.Insert(m.saved, i, c.took)
		m.report.add(hostTier, c.took.held)
	}
	s.held, s.busy, s.told, s.trace = c.before, nil, false, nil
	m.report.add(slotTier, s.held)
	c.slot, c.put, c.took = -1, 0, saved{}
}

// found moves a claim to the slot where the server had it.
func (m *mirror) found(c *claim, slot int) {
	if slot < 0 || slot == c.slot {
		return
	}
	m.adjust(c, slot)
	other := m.slots[slot].busy
	switch {
	case other != nil && c.slot >= 0 && other.pin != slot: // the two are the other way round
		a, b := &m.slots[c.slot], &m.slots[slot]
		a.held, b.held = b.held, a.held
		a.busy, b.busy = other, c
		a.told, b.told = false, false
		a.trace, b.trace = nil, nil
		other.slot, c.slot = c.slot, slot
		return
	case other != nil: // that one must have ended, or waits for this one
		if c.slot >= 0 {
			m.leave(c)
		}
		m.leave(other)
		m.queue = append(m.queue, other)
	case c.slot >= 0:
		m.leave(c)
	}
	m.queue = slices.DeleteFunc(m.queue, func(q *claim) bool { return q == c })
	pin := c.pin
	c.pin = slot
	m.place(c)
	c.pin = pin
}

// drain gives slots to those who wait.
func (m *mirror) drain() {
	m.queue = slices.DeleteFunc(m.queue, m.place)
}

// unsure notes that a turn may have run in any of the slots.
func (m *mirror) unsure() {
	for i := range m.slots {
		m.slots[i].sure, m.slots[i].trace = false, nil
	}
}

// holds is all that the mirror can tell events of.
func (m *mirror) holds() (all []entry) {
	for _, s := range m.slots {
		if s.busy == nil && len(s.hash) > 0 {
			all = append(all, entry{slotTier, s.held})
		}
	}
	for _, e := range m.saved {
		all = append(all, entry{hostTier, e.held})
	}
	return all
}

// rests notes that the server runs no more turns than we know of.
func (m *mirror) rests(running int) {
	busy := 0
	for i := range m.slots {
		if m.slots[i].busy != nil {
			busy++
		}
	}
	for i := range m.slots {
		m.slots[i].left = m.slots[i].left && running > busy
	}
}

// newest is the slot whose turn ended last.
func (m *mirror) newest() int {
	best := 0
	for i := range m.slots {
		if m.slots[i].used > m.slots[best].used {
			best = i
		}
	}
	return best
}
