package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// A turn waits in its model's queue only while every worker that could take it
// is over the threshold. One that has waited for too long, or finds the queue
// full, is refused with its dialect's status for that, as long as its client
// has heard nothing: that is true for the first five seconds at least. Later it
// is handed to the cheapest worker instead, whatever that has to do. A client
// that comes again with the same turn has its old place.
const (
	ageMost     = 5 * time.Minute        // that a turn waits; clients give up after ten
	tenantShare = 2                      // a tenant has a half of the queue at most
	quietTime   = 5 * time.Second        // the client of a turn that waits hears nothing for so long
	lookEvery   = 250 * time.Millisecond // how often those who wait are looked after
	passMost    = 64                     // turns that have to wait are looked at, to find one that has not
	busyRetry   = 5 * time.Second        // advice to who was refused
)

// standing is how a flight stands with the queue.
type standing struct {
	since   time.Time // when it came, or last lost a worker that had begun its answer
	moved   int       // how often it had
	begun   bool      // its client has heard something
	refused bool
	forced  bool      // it goes to a worker that has no room, too
	arrived time.Time // since when its place counts
	holding
}

// lobby is what a model keeps beside its queue; its mutex guards it.
type lobby struct {
	midway   bool        // not all that wait were looked at, see pump
	heldEver int64       // turns that the gate held
	forced   int64       // of those, let in because their time was over
	spots    spots       // of turns that left the queue unserved
	timer    *time.Timer // looks after the queue while somebody waits
	armed    bool        // it does
}

// placement is what a waiting turn gets: a seat, or why there is none.
type placement struct {
	st  *seat
	err error
}

// place finds a seat for a flight: at once when a worker has room, else
// through the queue. It returns errNoWorker when there is nobody to wait for,
// and the context's error when the client left.
func (m *model) place(ctx context.Context, f *flight) (*seat, error) {
	if err := m.enqueue(f); err != nil {
		return nil, err
	}
	select {
	case p := <-f.seats:
		f.row.GateMS = f.stand.heldFor(time.Now())
		return p.st, p.err
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	f.row.GateMS = f.stand.heldFor(now)
	if it, ok := m.queue.Take(f.t.ID); ok {
		delete(m.waiting, f.t.ID)
		m.spots.keep(f, it, now)
		m.pump() // those behind it may have had to wait for it
		return nil, context.Cause(ctx)
	}
	if p := <-f.seats; p.st != nil { // it came in between
		p.st.lost = true // it never was there
		p.st.leave(errUntold)
		m.pump() // somebody else may wait for it
	}
	return nil, context.Cause(ctx)
}

// enqueue puts a flight in the queue and seats who can be seated.
func (m *model) enqueue(f *flight) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	it := m.item(f, now)
	if err := m.queue.Push(it); err != nil {
		return m.unqueued(f, it, now, err)
	}
	m.waiting[f.t.ID] = f
	m.pump()
	if m.waiting[f.t.ID] == f {
		m.straight(f)
		m.arm()
	}
	return nil
}

// unqueued seats a flight that the queue does not take if it has not to wait,
// or says why it is refused; mu must be held.
func (m *model) unqueued(f *flight, it route.Item, now time.Time, why error) error {
	if !m.full(f) {
		if p, wait := m.try(f); !wait {
			f.seats <- p
			return nil
		}
	}
	m.spots.keep(f, it, now)
	f.stand.refused = true
	return m.refusal(f, why)
}

// item is a flight as the queue takes it; mu must be held.
func (m *model) item(f *flight, now time.Time) route.Item {
	it, s := route.NewItem(f.t), &f.stand
	if s.since.IsZero() || s.moved < f.row.Moved {
		s.since, s.moved = now, f.row.Moved
	}
	it.Attained = m.books.Attained(now, f.caller.session)
	it.Since, it.Begun = s.since, s.begun || f.spoke()
	if old, ok := m.spots.take(f, now); ok {
		it.Arrived, it.Effective = old.arrived, old.effective
	}
	s.arrived, s.held = it.Arrived, false
	s.asked = s.asked || s.moved > 0
	return it
}

// straight seats a flight that has not been looked at because too many before
// it have to wait for other workers than it has; mu must be held.
func (m *model) straight(f *flight) {
	if !m.midway || m.full(f) {
		return
	}
	it, _ := m.queue.Take(f.t.ID)
	m.seat(f, it)
}

// seat seats a flight that was taken out of the queue, or passes it by; mu must
// be held.
func (m *model) seat(f *flight, it route.Item) (waits bool) {
	p, wait := m.try(f)
	if wait {
		was := it.Held
		if it.Held = f.stand.held; it.Held && !was {
			m.queue.Return(it) // among those held
		} else {
			m.queue.Pass(it)
		}
		return true
	}
	delete(m.waiting, it.ID)
	f.seats <- p // has room for one, and one is sent
	return false
}

// pump seats waiting turns in the queue's order until all workers are full. A
// turn that some free worker cannot take (its context is too small, or it was
// lost or busy before) keeps its place and lets those behind it by. Of more
// than passMost such turns the next pump looks at the others. mu must be held.
func (m *model) pump() {
	if !m.midway {
		m.queue.Recall()
	}
	it, ok := m.queue.Peek()
	if !ok && m.midway {
		m.queue.Recall()
		it, ok = m.queue.Peek()
	}
	m.midway = false
	if !ok || !m.vacant() && m.full(m.waiting[it.ID]) {
		return // under load most often: whose turn it is waits on, and so do all behind it
	}
	for passed := 0; passed == 0 || m.vacant(); {
		if passed == passMost {
			m.midway = true
			return
		}
		it, ok := m.queue.Pop()
		if !ok {
			return
		}
		if m.seat(m.waiting[it.ID], it) {
			passed++
		}
	}
}

// vacant reports whether some ready worker has room; mu must be held.
func (m *model) vacant() bool {
	now := time.Now()
	for name, b := range m.members {
		if b.info.State == turn.Ready && !b.breaker.Open(now) && !route.Full(m.load(name, b)) {
			return true
		}
	}
	return false
}

// arm has the queue looked after while somebody waits; mu must be held.
func (m *model) arm() {
	switch {
	case m.armed || m.queue.Len() == 0:
		return
	case m.timer == nil:
		m.timer = time.AfterFunc(lookEvery, m.look)
	default:
		m.timer.Reset(lookEvery)
	}
	m.armed = true
}

// look does what is due because time has passed.
func (m *model) look() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.armed = false
	now := time.Now()
	m.queue.Expired(now, func(it route.Item) { m.expired(it, now) })
	m.sweep(now)
	m.pump()
	m.arm()
}

// expired ends the wait of a turn that was taken out of the queue for its age;
// mu must be held.
func (m *model) expired(it route.Item, now time.Time) {
	f := m.waiting[it.ID]
	if !f.stand.begun && !it.Begun {
		delete(m.waiting, it.ID)
		m.spots.keep(f, it, now)
		f.stand.refused = true
		f.seats <- placement{err: m.refusal(f, errAge)}
		return
	}
	f.stand.forced = true
	m.lets(f, now, route.Verdict{Forced: true, Why: "it waited for as long as may be"})
	m.seat(f, it)
}

// widen gives candidates room for one more turn, whatever they have to do.
func widen(cs []route.Candidate) {
	for i := range cs {
		cs[i].Slots, cs[i].Bound = max(cs[i].Slots, cs[i].InFlight+1), -1
	}
}

// errAge is why a turn is refused that waited too long.
var errAge = errors.New("waited too long")

// refusal is what a client is told whose turn may not wait, or not any longer;
// mu must be held.
func (m *model) refusal(f *flight, why error) error {
	p := &dialect.Problem{Kind: dialect.Busy, RetryAfter: busyRetry}
	switch {
	case errors.Is(why, errAge):
		p.Message = fmt.Sprintf("no worker of %s had room for this turn in %s; it keeps its place for a while, try again", m.ID, short(m.queue.MaxAge))
	case errors.Is(why, route.ErrTenantFull):
		p.Message = fmt.Sprintf("all workers of %s are busy, and of the key %s as many turns wait as may; try again", m.ID, f.t.Tenant)
	default:
		p.Message = fmt.Sprintf("all workers of %s are busy, and %d turns wait for them; try again", m.ID, m.queue.Len())
	}
	return fmt.Errorf("%w: %w: %w", turn.ErrBusy, why, p)
}

// opens reports whether the flight's client may now hear something, and marks
// that it will. rest is for how long it may not yet; below 0 it is about to be
// told of a refusal.
func (f *flight) opens(now time.Time) (rest time.Duration) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	for _, one := range f.all() {
		if one.stand.refused {
			return -1
		}
		if f.m.waiting[one.t.ID] == one {
			rest = max(rest, quietTime-now.Sub(f.t.Arrived))
		}
	}
	if rest == 0 {
		for _, one := range f.all() {
			one.stand.begun = true
		}
	}
	return rest
}
