package route

import (
	"math"
	"strings"
	"time"
)

// stay is a session at a worker: where its last turn went, or where an earlier
// one did and something of it may be left.
type stay struct {
	session string
	at      *account
	home    bool // of the last turn
	closed  bool // the session ended
	again   bool // the session had a turn before, here or elsewhere
	tail    bool // what a session left behind that goes on without it
	dropped bool // it is forgotten, though turns may still name it
	running int  // turns there
	tokens  int  // of its context
	prompt  int  // of its last turn
	held    int  // that the mirror of the worker's cache has of it alone
	last    time.Time
	service float64 // ms that the session got of late, fading

	touching  bool      // its prompt is being asked for again, see Retouch
	lost      bool      // nothing of it is left, as Retouch found
	touched   time.Time // when it was
	leased    int       // tokens, see Books.Lease
	until     time.Time // of that
	listening bool      // it is among its worker's leases

	prev, next *stay // among the idle ones of the worker
	listed     bool
}

// How long sessions count: one that is idle for what it will want, one that
// ended for what it still fills, and any for the gate.
const (
	idleFor  = 30 * time.Minute
	endedFor = 10 * time.Minute
	warmFor  = time.Minute
	countIn  = 500 * time.Millisecond // after which sums over idle sessions are made anew
)

// wants is the share of its context that an idle session will want.
func (s *stay) wants(now time.Time) float64 {
	idle := now.Sub(s.last)
	switch {
	case !s.home:
		return 0
	case s.closed && (s.held <= 0 || idle >= endedFor):
		return 0
	}
	return comesBack(idle)
}

// comesBack is how likely a session is to go on that has been idle for so long:
// of turns that wait for a tool most come in seconds, and what has not come in
// minutes seldom does.
func comesBack(idle time.Duration) float64 { return min(1, 60/(max(idle.Seconds(), 0)+30)) }

// hot reports whether the gate counts an idle session: one that never came back
// may be the only turn that there is of it.
func (s *stay) hot(now time.Time) bool {
	return s.home && s.kind() == cameBack && now.Sub(s.last) < warmFor
}

// kind is what the session is while it is idle.
func (s *stay) kind() lastKind {
	switch {
	case s.closed:
		return isOver
	case s.again:
		return cameBack
	}
	return cameOnce
}

// list is the idle sessions of a worker, the latest in front.
type list struct{ front, back *stay }

func (l *list) push(s *stay) {
	s.listed, s.prev, s.next = true, nil, l.front
	if l.front != nil {
		l.front.prev = s
	} else {
		l.back = s
	}
	l.front = s
}

func (l *list) remove(s *stay) {
	if !s.listed {
		return
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.front = s.next
	}
	if s.next != nil {
		s.next.prev = s.prev
	} else {
		l.back = s.prev
	}
	s.listed, s.prev, s.next = false, nil, nil
}

// rest takes a session out of the idle ones.
func (a *account) rest(s *stay) {
	if a.spent == s {
		a.spent = s.next
	}
	if a.passed == s {
		a.passed = s.next
	}
	a.idle.remove(s)
}

// arrive makes the turn's worker the home of its session.
func (b *Books) arrive(now time.Time, n *Need, t *sent) {
	if n.Session == "" {
		t.worker.fill(now, t, nil)
		return
	}
	s := b.homes[n.Session]
	if s == nil || s.at != t.worker {
		moved := &stay{session: n.Session, at: t.worker, home: true}
		if s != nil {
			moved.service, moved.last, moved.again = s.service, s.last, true
			b.unhome(now, s)
		}
		s, t.moved = moved, true
		b.homes[n.Session] = s
		b.stays++
		s.at.homes++
	} else {
		s.at.count(now, s, -1)
		s.at.rest(s)
		s.again = true
	}
	s.at.typical += float64(t.prompt - s.tokens)
	s.tokens, s.prompt, s.closed, s.touching, s.lost = t.prompt, t.prompt, false, false, false
	s.running++
	s.at.count(now, s, 1)
	t.stay = s
	t.worker.fill(now, t, s)
	b.bound(now)
}

// leave notes in the session's stay that a turn ended.
func (b *Books) leave(now time.Time, t *sent, o Outcome) {
	s := t.stay
	if s == nil || s.dropped {
		return
	}
	s.at.count(now, s, -1)
	s.running--
	if more := t.prompt + t.tokens - s.tokens; more > 0 {
		s.tokens += more
		if s.home {
			s.at.typical += float64(more)
		}
	}
	s.served(now, max(millis(now.Sub(t.at)), 0))
	more := t.tokens
	if o.Err && t.first.IsZero() { // it never was there
		more = -min(t.missing(), s.held)
	}
	s.held += more
	s.at.held += more
	if s.running == 0 {
		s.at.idle.push(s)
	}
	s.at.count(now, s, 1)
	if o.Err && t.first.IsZero() && t.moved && s.running == 0 {
		b.drop(s)
	}
}

// Closed notes that a session ended. Its blocks stay until others need the
// room, so they keep their price for a while, fading.
func (b *Books) Closed(now time.Time, session string) {
	if s := b.homes[session]; s != nil {
		s.at.count(now, s, -1)
		s.closed, s.leased = true, 0
		s.at.count(now, s, 1)
	}
}

// Forget drops what is remembered of a session and of its subagents, whose
// names go on from its with a slash. Turns on their way end as usual.
func (b *Books) Forget(session string) {
	for _, a := range b.accounts {
		for s := a.idle.front; s != nil; {
			next := s.next
			if rest, ok := strings.CutPrefix(s.session, session); ok && (rest == "" || rest[0] == '/') {
				b.drop(s)
			}
			s = next
		}
	}
}

// Home is the worker of a session's last turn; "" without one.
func (b *Books) Home(session string) string {
	if s := b.homes[session]; s != nil {
		return s.at.name
	}
	return ""
}

// Sessions is how many stays of sessions are remembered.
func (b *Books) Sessions() int { return b.stays - b.tails }

// Attained is how much of workers' time a session had of late: what it got a
// minute ago counts half.
func (b *Books) Attained(now time.Time, session string) time.Duration {
	s := b.homes[session]
	if s == nil {
		return 0
	}
	return time.Duration(s.service * fade(now.Sub(s.last)) * float64(time.Millisecond))
}

// served adds to what a session attained.
func (s *stay) served(now time.Time, ms float64) {
	s.service = s.service*fade(now.Sub(s.last)) + ms
	s.last = now
}

// fade halves each minute.
func fade(d time.Duration) float64 { return math.Exp2(-max(d.Minutes(), 0)) }

// count adds or takes away what a stay adds to the sums of its worker.
func (a *account) count(now time.Time, s *stay, sign float64) {
	switch {
	case !s.home:
	case s.running > 0:
		a.running += sign * float64(s.tokens)
	case s.closed && s.held <= 0:
	default:
		leased := s.pledged()
		rest := s.tokens - leased
		a.leased += int(sign) * leased
		a.lasts.add(s.last, s.kind(), sign*float64(rest))
		a.fading += sign * s.wants(now) * float64(rest)
		if s.hot(now) {
			a.warm += int(sign) * rest
		}
	}
}

// recount makes the sums over idle sessions anew, now and then.
func (a *account) recount(now time.Time) {
	if d := now.Sub(a.counted); d < 0 || d >= countIn {
		a.counted = now
		a.lapse(now)
		a.fading, a.warm = a.lasts.sum(now)
	}
}

// unhome notes that a session's next turn goes elsewhere; what is left here
// will be evicted in its time.
func (b *Books) unhome(now time.Time, s *stay) {
	s.at.count(now, s, -1)
	s.home, s.leased = false, 0
	if s.tail {
		delete(b.homes, s.session)
	} else {
		s.at.homes--
		s.at.typical -= float64(s.tokens)
	}
	if s.running == 0 && s.held <= 0 {
		b.drop(s)
	}
}

// drop forgets a stay.
func (b *Books) drop(s *stay) {
	if s.dropped {
		return
	}
	s.dropped = true
	if s.tail {
		b.tails--
	}
	if s.home {
		s.at.count(s.at.counted, s, -1)
		if !s.tail {
			s.at.homes--
			s.at.typical -= float64(s.tokens)
		}
		s.home = false
		delete(b.homes, s.session)
	}
	s.at.rest(s)
	s.at.held -= s.held
	s.held = 0
	b.stays--
}

// bound forgets those that have been idle longest while there are too many.
func (b *Books) bound(now time.Time) {
	for b.stays > b.sessions {
		var oldest *stay
		for _, a := range b.accounts {
			if s := a.idle.back; s != nil && (oldest == nil || s.last.Before(oldest.last)) {
				oldest = s
			}
		}
		if oldest == nil {
			return // all of them have turns
		}
		b.drop(oldest)
	}
}
