package llamacpp

// plan decides for a request whether it asks for a slot and whether it may use
// what it finds there.
//
// With one salt the server's own choice stands, which is the oldest slot where
// none has nine tenths of the prompt, unless asking for a slot is clearly
// better. Where states are saved, that is one at which more tokens are found
// than are lost for good: a new conversation begins like some other that can go
// on from there, or is saved. Where none are, it is one of which nearly all is
// kept, that is the conversation's own.
//
// With several salts a request uses only a slot whose last turn had its salt,
// see separate.
func (m *mirror) plan(c *claim) {
	c.pin = -1
	several := m.salts.several
	if !c.probe {
		several = m.salts.meet(c.salt)
	}
	switch {
	case several:
		m.separate(c)
	case m.rules.saving:
		m.prefer(c)
	default:
		c.pin = m.mine(c, func(s *slot) bool { return 8*common(s.ids, c.prompt) >= 7*s.size })
	}
}

// prefer asks for the slot that gains most, if that is a block more than what
// the server's choice gains.
func (m *mirror) prefer(c *claim) {
	most := m.gain(c, -1) + blockTokens
	for k := range m.slots {
		if m.slots[k].busy != nil || m.slots[k].left {
			continue
		}
		if n := m.gain(c, k); n > most {
			c.pin, most = k, n
		}
	}
}

// gain is how many tokens of a prompt are found when it asks for a slot, -1
// for any, less those that nobody can find any more.
func (m *mirror) gain(c *claim, pin int) int {
	asks := *c
	asks.pin = pin
	k, keeps := m.choose(&asks)
	if k < 0 {
		return 0
	}
	h := m.slots[k].held
	alike := common(h.ids, c.prompt)
	if keeps {
		return alike - (h.size - alike)
	}
	if i := m.better(h, c.prompt); i >= 0 {
		return common(m.saved[i].ids, c.prompt)
	}
	return alike
}
