package llamacpp

import (
	"crypto/sha256"
	"encoding/hex"
)

// salts knows whose turns a server has had. llama-server shares prefixes with
// whoever comes; a salt asks for prefixes that are shared with none of another
// salt, so where there are several, reuse is allowed only where nothing of
// another salt can be met.
type salts struct {
	foreign bool   // the server held something before we came, of nobody knows whom
	any     bool   // there was a turn
	one     string // the salt of all turns so far, see digest
	several bool
}

// meet notes a turn's salt and reports whether there are several.
func (s *salts) meet(salt string) bool {
	d := digest(salt)
	if s.any && s.one != d || s.foreign && d != "" {
		s.several = true
	}
	s.any, s.one = true, d
	return s.several
}

// and is what is known of a server by two who watched it.
func (s salts) and(o salts) salts {
	switch {
	case !o.any:
		o.one = s.one
	case s.any && s.one != o.one:
		s.several = true
	}
	return salts{foreign: s.foreign || o.foreign, any: s.any || o.any, one: o.one, several: s.several || o.several}
}

// digest is a salt as it is kept; none is none.
func digest(salt string) string {
	if salt == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(salt))
	return hex.EncodeToString(sum[:16])
}

// separate plans a request among several salts. It may use a slot of its own
// salt: where nothing is saved, any. Else one that has all of the prompt, or of
// which the prompt has all: the server loads only what has more of the prompt
// and loses less of itself. A prompt that is not known has nothing in common.
func (m *mirror) separate(c *claim) {
	m.recognize(c)
	c.pin = m.mine(c, func(s *slot) bool {
		if !s.sure || s.salt != c.salt || s.used == 0 {
			return false
		}
		n := common(s.ids, c.prompt)
		return !m.rules.saving || n > 0 && n == c.prompt.Len() || s.told && n == s.size
	})
	if c.pin < 0 {
		c.fresh = true
		c.pin = m.quiet() // that we know whose it is then; -1 when all are busy
	}
}

// quiet is the oldest idle slot, if there is one, of those on which we did not
// hang up: a turn that asks for a slot waits for it.
func (m *mirror) quiet() int {
	best := -1
	for i := range m.slots {
		if s := &m.slots[i]; s.busy == nil && !s.left && (best < 0 || s.used <= m.slots[best].used) {
			best = i
		}
	}
	if best < 0 {
		return m.oldest()
	}
	return best
}

// mine is the idle slot with most of the prompt among those that will do and on
// which we did not hang up; -1 when there is none.
func (m *mirror) mine(c *claim, will func(*slot) bool) int {
	best, most := -1, -1
	for i := range m.slots {
		s := &m.slots[i]
		if s.busy != nil || s.left || s.size == 0 || !will(s) {
			continue
		}
		if n := common(s.ids, c.prompt); n > most {
			best, most = i, n
		}
	}
	return best
}
