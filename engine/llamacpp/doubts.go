package llamacpp

import "slices"

// doubts counts, for two ways to reuse a state, how often in a row the server
// found less than half of what we expected. Models with a sliding window or a
// recurrent part cannot go back in a state, or lose it when it is saved, and
// their server says nothing of it.
type doubts struct {
	cut    int // a state of which the end was to be dropped
	loaded int // a saved one
}

// enough doubts are a fact.
const enough = 3

// brittle reports that a state is of use only where all of it is.
func (d doubts) brittle() bool { return d.cut >= enough }

// useless reports that saved states are of no use.
func (d doubts) useless() bool { return d.loaded >= enough }

// learn takes from an answer what it tells of states like the one it used.
func (m *mirror) learn(c *claim, o outcome) {
	if o.cached < 0 || c.reuse < 2*blockTokens {
		return
	}
	short := 2*o.cached < c.reuse
	count := func(n *int) {
		switch {
		case *n >= enough: // it stays
		case short:
			*n++
		default:
			*n = 0
		}
	}
	switch {
	case c.took.at > 0:
		count(&m.doubts.loaded)
		if o.cached < c.reuse { // it was gone, so all that is older is too
			m.lose(c.took.at)
		}
		if m.doubts.useless() {
			m.lose(m.ticks + 1)
		}
	case c.reuse < c.before.size:
		count(&m.doubts.cut)
	}
}

// lose drops the states that were saved before that moment.
func (m *mirror) lose(before uint64) {
	m.saved = slices.DeleteFunc(m.saved, func(e saved) bool {
		if e.at < before {
			m.report.drop(hostTier, e.held)
		}
		return e.at < before
	})
}

// adjust takes from the slot that a request went to, where we believed another,
// how alike a slot must be to be taken: of a server that others launched we do
// not know it. Where others run too, the order in which they came there is not
// known either, and nothing is learned.
func (m *mirror) adjust(c *claim, told int) {
	alone := !slices.ContainsFunc(m.slots, func(s slot) bool { return s.busy != nil && s.busy != c })
	switch {
	case m.rules.told || !alone || c.pin >= 0 || c.slot < 0 || c.near < 0:
	case c.slot == c.near:
		m.rules.similarity = max(m.rules.similarity, c.share)
	case told == c.near:
		m.rules.similarity = min(m.rules.similarity, 0.99*c.share)
	}
}
