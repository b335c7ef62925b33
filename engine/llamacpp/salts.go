package llamacpp

// salts knows whose turns a server has had. llama-server shares prefixes with
// whoever comes; a salt asks for prefixes that are shared with none of another
// salt, so where there are several, reuse is allowed only where nothing of
// another salt can be met.
type salts struct {
	foreign bool // the server held something before we came
	any     bool
	one     string // the salt of all turns so far
	several bool
}

// meet notes a turn's salt and reports whether there are several.
func (s *salts) meet(salt string) bool {
	if s.any && s.one != salt || s.foreign && salt != "" {
		s.several = true
	}
	s.any, s.one = true, salt
	return s.several
}

// separate plans a request among several salts.
func (m *mirror) separate(c *claim) {
	if !m.rules.saving {
		own := func(s *slot) bool { return s.sure && s.salt == c.salt && s.used > 0 }
		if k := m.mine(c, own); k >= 0 {
			c.pin = k
			return
		}
	}
	c.fresh = true
	c.pin = m.oldest() // that we know whose it is then; -1 when all are busy
}

// mine is the idle slot with most of the prompt among those that will do; -1
// when there is none.
func (m *mirror) mine(c *claim, will func(*slot) bool) int {
	best, most := -1, -1
	for i := range m.slots {
		s := &m.slots[i]
		if s.busy != nil || s.size == 0 || !will(s) {
			continue
		}
		if n := common(s.ids, c.prompt); n > most {
			best, most = i, n
		}
	}
	return best
}
