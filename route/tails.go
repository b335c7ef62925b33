package route

import "time"

// tailOf is the name of what a session left behind. Forget finds it as it
// finds subagents.
const tailOf = "/\x00"

// Shrunk notes that of a session's context only the first tokens will be asked
// for again: it was summed up or taken back, or reasoning is dropped. What lies
// behind them is nobody's, as if a session had ended: it is not in use, and
// keeps its price for a while, fading, since it still fills the cache.
func (b *Books) Shrunk(now time.Time, session string, kept int) {
	s := b.homes[session]
	if s == nil || s.running > 0 || kept >= s.tokens {
		return
	}
	kept = max(kept, 0)
	dead := min(s.tokens-kept, s.held)
	s.at.count(now, s, -1)
	s.at.typical -= float64(s.tokens - kept)
	s.tokens = kept
	s.held -= max(dead, 0)
	s.at.count(now, s, 1)
	if dead <= 0 {
		return // evicted already
	}
	t := b.tail(now, s)
	t.held += dead
	t.tokens, t.last = t.held, s.last
	t.at.idle.push(t)
	t.at.count(now, t, 1)
	b.bound(now)
}

// tail returns what a session left behind at its worker, out of the sums and
// the list of idle ones.
func (b *Books) tail(now time.Time, s *stay) *stay {
	name := s.session + tailOf
	t := b.homes[name]
	if t != nil && t.at != s.at {
		b.unhome(now, t)
		t = nil
	}
	if t == nil {
		t = &stay{session: name, at: s.at, home: true, closed: true, tail: true}
		b.homes[name] = t
		b.stays++
		b.tails++
		return t
	}
	t.at.count(now, t, -1)
	t.at.rest(t)
	return t
}
