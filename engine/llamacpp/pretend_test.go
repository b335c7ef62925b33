package llamacpp

import "slices"

// pretend is what a llama-server does with its slots and saved states, written
// from the description in the reference, without a thought of the mirror.
type pretend struct {
	similarity float64
	ram        bool
	room       int // tokens that may be saved; 0 is no bound
	sweeping   bool
	slots      []place
	saved      []state
	waiting    []*task
	clock      int
	crossed    bool // a turn used what another salt's had left
}

type state struct {
	ids  []uint32
	salt string
}

type place struct {
	state
	task *task
	last int
}

type task struct {
	prompt []uint32
	salt   string
	pin    int
	reuse  bool
	slot   int // -1 while it waits
	cached int
	found  state // what was in its slot when it came
}

func alikeness(a, b []uint32) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func (p *pretend) start(t *task) {
	t.slot = -1
	if !p.run(t) {
		p.waiting = append(p.waiting, t)
	}
}

func (p *pretend) run(t *task) bool {
	k, update := p.pick(t)
	if k < 0 {
		return false
	}
	s := &p.slots[k]
	if update && p.ram {
		p.store(s.state)
		p.fetch(s, t.prompt)
		p.shrink()
	}
	t.cached, t.found = 0, s.state
	if t.reuse {
		t.cached = min(alikeness(s.ids, t.prompt), len(t.prompt)-1)
	}
	if t.cached > 0 && s.salt != t.salt {
		p.crossed = true
	}
	s.state, s.task, t.slot = state{slices.Clone(t.prompt[:t.cached]), t.salt}, t, k
	if p.sweeping && p.ram {
		for i := range p.slots {
			if o := &p.slots[i]; i != k && o.task == nil && len(o.ids) > 0 {
				p.store(o.state)
				o.state = state{}
			}
		}
		p.shrink()
	}
	return true
}

func (p *pretend) pick(t *task) (k int, update bool) {
	k = -1
	if t.pin >= 0 {
		if k = t.pin; p.slots[k].task != nil {
			return -1, false
		}
	}
	best := 0.0
	if p.similarity > 0 {
		for i, s := range p.slots {
			if s.task != nil || t.pin >= 0 && i != t.pin || len(s.ids) == 0 {
				continue
			}
			if x := float64(alikeness(s.ids, t.prompt)) / float64(len(t.prompt)); x > best && x > p.similarity {
				best, k = x, i
			}
		}
		if best > 0 {
			return k, alikeness(p.slots[k].ids, t.prompt) < len(p.slots[k].ids)-alikeness(p.slots[k].ids, t.prompt)
		}
	}
	if k >= 0 {
		return k, p.similarity > 0 && len(p.slots[k].ids) > 0
	}
	for i, s := range p.slots {
		if s.task == nil && (k < 0 || s.last <= p.slots[k].last) {
			k = i
		}
	}
	return k, true
}

func (p *pretend) store(s state) {
	if len(s.ids) == 0 {
		return
	}
	for _, e := range p.saved {
		if alikeness(e.ids, s.ids) == len(s.ids) {
			return
		}
	}
	p.saved = slices.DeleteFunc(p.saved, func(e state) bool { return alikeness(e.ids, s.ids) == len(e.ids) })
	p.saved = append(p.saved, s)
}

func (p *pretend) fetch(s *place, prompt []uint32) {
	n := alikeness(s.ids, prompt)
	keep, like, at := 0.0, float64(n)/float64(len(prompt)), -1
	if len(s.ids) > 0 {
		keep = float64(n) / float64(len(s.ids))
	}
	for i, e := range p.saved {
		n := float64(alikeness(e.ids, prompt))
		k, l := n/float64(len(e.ids)), n/float64(len(prompt))
		if k >= 0.25 && k > keep && l > like {
			keep, like, at = k, l, i
		}
	}
	if at >= 0 {
		s.state = p.saved[at]
		p.saved = slices.Delete(p.saved, at, at+1)
	}
}

func (p *pretend) shrink() {
	n := 0
	for _, e := range p.saved {
		n += len(e.ids)
	}
	for p.room > 0 && len(p.saved) > 1 && n > p.room {
		n -= len(p.saved[0].ids)
		p.saved = p.saved[1:]
	}
}

// finish ends a task: it holds so many tokens of its prompt and those that it
// made.
func (p *pretend) finish(t *task, computed int, made []uint32) {
	if t.slot < 0 {
		p.waiting = slices.DeleteFunc(p.waiting, func(w *task) bool { return w == t })
		return
	}
	s := &p.slots[t.slot]
	p.clock++
	s.state = state{slices.Concat(t.prompt[:computed], made), t.salt}
	s.task, s.last = nil, p.clock
	p.waiting = slices.DeleteFunc(p.waiting, p.run)
}

// abandon ends a task that was not answered: it may have been given a slot, and
// nothing more.
func (p *pretend) abandon(t *task) {
	if t.slot >= 0 && p.slots[t.slot].task == t {
		p.slots[t.slot].state = t.found
	}
	if t.slot < 0 {
		p.waiting = slices.DeleteFunc(p.waiting, func(w *task) bool { return w == t })
		return
	}
	p.slots[t.slot].task = nil
	p.waiting = slices.DeleteFunc(p.waiting, p.run)
}
