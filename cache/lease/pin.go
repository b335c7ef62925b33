package lease

import (
	"errors"
	"time"
)

// pin is a person's ask for a whole line, whatever its turns say.
type pin struct {
	ttl    time.Duration
	ends   time.Time
	tenant string
	since  time.Time
}

// ErrMany says that there are as many pins as there may be.
var ErrMany = errors.New("there are too many pins")

// Pin has all turns of a line ask for their whole prompt, for so long after the
// last of them. t is what is known of its last turn: where Worker or Prompt is
// missing, the lease begins with the next one.
func (b *Book) Pin(now time.Time, t Turn, ttl time.Duration) (Lease, error) {
	b.mu.Lock()
	if len(b.lines) >= Most && b.lines[t.Line] == nil {
		b.mu.Unlock()
		return Lease{}, ErrMany
	}
	ln := b.line(t.Line)
	ln.pin = &pin{ttl: ttl, ends: now.Add(ttl), tenant: t.Tenant, since: now}
	if e := ln.deepest(); e != nil && e.Ends.After(now) {
		defer b.mu.Unlock()
		return b.pinned(now, e, ttl), nil
	}
	waits := ln.waits()
	b.mu.Unlock()
	if t.Worker == "" || t.Prompt <= 0 {
		return waits, nil
	}
	t.Marks = nil // the pin is the ask
	u := b.Use(now, t)
	for i := len(u.Leases) - 1; i >= 0; i-- {
		if u.Leases[i].By == ByPin {
			return u.Leases[i], nil
		}
	}
	return waits, nil
}

// deepest is the line's lease that goes furthest, of those that its prompts
// hold.
func (ln *line) deepest() (most *entry) {
	for _, e := range ln.held {
		if !e.stale && (most == nil || most.Tokens < e.Tokens) {
			most = e
		}
	}
	return most
}

// pinned makes a lease that there is a pin's.
func (b *Book) pinned(now time.Time, e *entry, ttl time.Duration) Lease {
	e.By, e.TTL = ByPin, max(e.TTL, ttl)
	if ends := now.Add(ttl); ends.After(e.Ends) {
		e.Ends = ends
	}
	e.lasts()
	b.touched(e)
	b.tell(e)
	return e.view()
}

// waits is the lease of a pin whose line has had no turn since.
func (ln *line) waits() Lease {
	p := ln.pin
	return Lease{
		ID: ID(ln.Line, 0, 0), Tenant: p.tenant, Line: ln.Line, Lines: 1, Found: -1, TTL: p.ttl, Asked: p.since, Used: p.since, Ends: p.ends,
		By: ByPin, State: Asked, Why: "its next turn begins it",
	}
}

// pending reports whether a line's pin has no lease yet.
func (ln *line) pending() bool {
	if ln.pin == nil {
		return false
	}
	for _, e := range ln.held {
		if e.By == ByPin {
			return false
		}
	}
	return true
}

// Take ends the leases that match, whoever holds them, and the pins behind
// them, and returns them.
func (b *Book) Take(now time.Time, match func(Lease) bool, why string) (taken []Lease) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, ln := range b.lines {
		if ln.pending() && match(ln.waits()) {
			one := ln.waits()
			one.State, one.Why = Ended, why
			taken, ln.pin = append(taken, one), nil
			b.settle(ln)
		}
	}
	for _, e := range b.live {
		if !e.Ends.After(now) || !match(e.view()) {
			continue
		}
		one := e.view()
		for _, ln := range e.lines {
			if e.By == ByPin {
				ln.pin = nil
			}
		}
		b.ends(e, why)
		one.State, one.Why, one.Held = Ended, why, 0
		taken = append(taken, one)
	}
	return taken
}

// Stale notes that a line's next prompt will not go on from what it holds: that
// is worth nothing until a turn uses it all the same. Its pin stays.
func (b *Book) Stale(l Line) {
	if b.Empty() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ln := b.lines[l]
	if ln == nil {
		return
	}
	for _, e := range ln.held {
		e.stale = e.stale || len(e.lines) == 1
	}
	b.touch(l)
}

// Holds reports whether a line has leases or a pin.
func (b *Book) Holds(now time.Time, l Line) bool {
	if b.Empty() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	ln := b.lines[l]
	if ln == nil {
		return false
	}
	if ln.pin != nil && ln.pin.ends.After(now) {
		return true
	}
	for _, e := range ln.held {
		if e.Ends.After(now) && !e.stale {
			return true
		}
	}
	return false
}

// End ends all that an agent of a session holds, its pin too; "" is all agents
// of it. Leases that other lines hold stay theirs. It returns how many it let
// go of.
func (b *Book) End(session, agent, why string) (n int) {
	if b.Empty() {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for l, ln := range b.lines {
		if l.Session != session || agent != "" && l.Agent != agent {
			continue
		}
		ln.pin = nil
		for len(ln.held) > 0 {
			b.release(ln, ln.held[0], why)
			n++
		}
		b.settle(ln)
	}
	return n
}
