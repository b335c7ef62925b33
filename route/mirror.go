package route

import (
	"math"
	"time"
)

// The books keep a mirror of each worker's cache by sessions: what a turn adds
// is its session's, and what is evicted is taken from the session that has
// been idle longest, as engines evict. The mirror tells how old evicted blocks
// are, which is how one sees a cache that is too small for what comes back.

// When a worker counts as thrashing, and no longer. An engine that evicts what
// was used seconds ago computes every prompt from its beginning, and stays in
// that state by itself: the longer turns take, the more of them there are.
const (
	thrashAge  = 15 * time.Second
	healthyAge = 30 * time.Second
	healthyFor = 5 * time.Minute // for so long, or what was held back comes at once and it begins again
	ageBlock   = 16              // tokens that count as one block
	ageMean    = 200             // blocks that the mean age goes over
)

// fill notes the tokens that a turn adds to its worker's cache.
func (a *account) fill(now time.Time, t *sent, s *stay) {
	a.held += t.missing()
	if s != nil {
		s.held += t.missing()
	} else {
		a.held -= t.missing() // nobody's: gone with the turn
	}
	if kv := a.limits.KVTokens; !a.limits.Events && kv > 0 && a.held > kv {
		a.evict(now, a.held-kv)
	}
}

// Evicted notes that a worker evicted so many tokens, as its events say.
func (b *Books) Evicted(now time.Time, worker string, tokens int) {
	if a := b.accounts[worker]; a != nil && tokens > 0 {
		a.evict(now, tokens)
	}
}

// Aged notes how long evicted tokens had not been used, where that is known.
func (b *Books) Aged(now time.Time, worker string, tokens int, age time.Duration) {
	if a := b.accounts[worker]; a != nil && tokens > 0 {
		a.aged(now, tokens, age)
		a.shed(tokens)
	}
}

// evict takes tokens from the sessions that have been idle longest.
func (a *account) evict(now time.Time, tokens int) {
	for s := a.holding(); s != nil && tokens > 0; s = a.holding() {
		n := min(tokens, s.held)
		a.aged(now, n, now.Sub(s.used()))
		a.lose(s, n)
		tokens -= n
	}
	if tokens > 0 {
		a.aged(now, tokens, 0) // of turns that run
	}
}

// holding is the session that has been idle longest and that the mirror has
// something of; nil is none. An idle session gets nothing, so who has nothing
// is passed by once.
func (a *account) holding() *stay {
	s := a.idle.back
	if a.spent != nil {
		s = a.spent.prev
	}
	for ; s != nil && s.held <= 0; s = s.prev {
		a.spent = s
	}
	return s
}

// shed is evict without a look at ages.
func (a *account) shed(tokens int) {
	for s := a.holding(); s != nil && tokens > 0; s = a.holding() {
		n := min(tokens, s.held)
		a.lose(s, n)
		tokens -= n
	}
}

func (a *account) lose(s *stay, tokens int) {
	if tokens == s.held && s.closed && s.running == 0 {
		a.count(a.counted, s, -1) // it is over, and nothing is left of it
	}
	s.held -= tokens
	a.held -= tokens
}

// aged moves the mean age.
func (a *account) aged(now time.Time, tokens int, age time.Duration) {
	blocks := float64(tokens) / ageBlock
	seconds := max(age.Seconds(), 0)
	if a.evicted.IsZero() {
		a.age = seconds
	}
	a.age += (seconds - a.age) * (1 - math.Pow(1-1.0/ageMean, blocks))
	a.evicted = now
}

// evictionAge is how long a block stays unused before it is evicted; 0 before
// any was. While nothing is evicted it grows with time.
func (a *account) evictionAge(now time.Time) time.Duration {
	if a.evicted.IsZero() {
		return 0
	}
	return max(time.Duration(a.age*float64(time.Second)), now.Sub(a.evicted), 1)
}

// thrashes reports whether the worker's cache is too small for the turns that
// it has, or was and is not yet well.
func (a *account) thrashes(now time.Time) bool {
	age, kv := a.evictionAge(now), a.limits.KVTokens
	over := kv > 0 && a.active > kv
	switch {
	case over || age > 0 && age < thrashAge:
		a.thrash, a.well = true, time.Time{}
	case age > 0 && age < healthyAge:
		a.well = time.Time{}
	case !a.thrash:
	case age == 0 || age >= healthyFor || !a.well.IsZero() && now.Sub(a.well) >= healthyFor:
		a.thrash = false
	case a.well.IsZero():
		a.well = now
	}
	return a.thrash
}
