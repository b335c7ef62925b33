package server

import (
	"strconv"
	"time"

	"github.com/agentinfer/dyn/route"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/tenant"
	"github.com/agentinfer/dyn/turn"
)

// A harness that routes itself books what it will send, as with Dynamo's
// KvRouter: best_worker with a request_id counts the turn at the worker that it
// names, mark_prefill_complete says that its first token came, free that it
// ended. A turn that comes here with the booking's id takes its place.

// bookedFor is how long a booking holds without being freed, Dynamo's time.
const bookedFor = 5 * time.Minute

// mostBooked is how many turns of one key are booked at once in a model.
const mostBooked = 256

// bookKey names a booking: ids are their key's own.
type bookKey struct{ tenant, request string }

// booking is a seat of a turn that does not fly here.
type booking struct {
	st  *seat
	who *tenant.Tenant // whose place among its turns it has; nil has no limits
	end *time.Timer
}

// reserve makes the decision of a request that asks for it count: with its id a
// turn is booked, else the index alone is told what the worker will hold. The
// model's mutex must be held.
func (f *flight) reserve(c *call, ask *routeAsk, n *route.Need, cs []route.Candidate, d route.Decision) (booked bool) {
	m := f.m
	if ask.Request == "" {
		b := m.members[d.Worker]
		m.expects(b, f, m.way(f, b))
		return false
	}
	key := bookKey{c.tenant(), ask.Request}
	m.unbook(key)
	m.decided++
	b := &booking{st: m.book(f, n, cs, d)}
	if c.let {
		b.who, c.let = c.who, false
	}
	b.end = time.AfterFunc(bookedFor, func() { m.lapse(key, b) })
	m.booked[key] = b
	return true
}

// crowded reports whether a key has booked as much as it may, a booking that is
// there already apart; mu must be held.
func (m *model) crowded(key bookKey) bool {
	n := 0
	for k := range m.booked {
		if k.tenant == key.tenant && k != key {
			n++
		}
	}
	return n >= mostBooked
}

// unbook gives a booking's seat back and reports whether there was one; mu must
// be held, and whoever waits is to be seated afterwards.
func (m *model) unbook(key bookKey) bool {
	b := m.booked[key]
	if b == nil {
		return false
	}
	delete(m.booked, key)
	b.end.Stop()
	b.st.leave(errUntold)
	if b.who != nil {
		b.who.Leave(time.Now(), 0)
	}
	return true
}

// lapse ends a booking that nobody freed, unless another one has its name.
func (m *model) lapse(key bookKey, b *booking) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.booked[key] == b && m.unbook(key) {
		m.pump()
	}
}

// freed ends a booking and tells where it was; false where there is none.
func (m *model) freed(key bookKey) (worker string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b := m.booked[key]; b != nil {
		worker = b.st.name
	}
	if ok = m.unbook(key); ok {
		m.pump()
	}
	return worker, ok
}

// takesBooking has a turn take the place of what was booked for it: it goes to
// the worker that was told, unless it is pinned to another.
func (s *Server) takesBooking(c *call, t *turn.Turn, m *model) {
	worker, ok := m.freed(bookKey{c.tenant(), t.Hints.Booking})
	switch {
	case !ok:
		c.warn("no booking " + clip(t.Hints.Booking) + " is held: the turn goes where it would go without")
	case t.Hints.Worker == "":
		t.Hints.Worker = worker
	}
}

// bookAsk is a body of what is told of a booking.
type bookAsk struct {
	Model   string `json:"model"`
	Request string `json:"request_id"`
}

// prefillDone notes that the first token of a booked turn came.
func (s *Server) prefillDone(c *call) error {
	return s.ofBooking(c, func(m *model, key bookKey) bool {
		m.mu.Lock()
		b := m.booked[key]
		m.mu.Unlock()
		if b != nil {
			b.st.started()
		}
		return b != nil
	})
}

// freeBooking notes that a booked turn ended.
func (s *Server) freeBooking(c *call) error {
	return s.ofBooking(c, func(m *model, key bookKey) bool {
		_, ok := m.freed(key)
		return ok
	})
}

// ofBooking does something with the booking that a request names, of whichever
// model where it names none.
func (s *Server) ofBooking(c *call, do func(*model, bookKey) bool) error {
	var ask bookAsk
	if _, err := s.object(c, &ask); err != nil {
		return err
	}
	if ask.Request == "" {
		return &dialect.Problem{Param: "request_id", Message: "field required"}
	}
	among := s.all()
	if name := c.model(ask.Model); name != "" {
		m, err := s.known(name)
		if err != nil {
			return err
		}
		among = []*model{m}
	}
	for _, m := range among {
		if do(m, bookKey{c.tenant(), ask.Request}) {
			return reply(c.RequestCtx, map[string]string{"request_id": ask.Request})
		}
	}
	return &dialect.Problem{Kind: dialect.NotFound, Param: "request_id", Message: "nothing is booked as " + clip(ask.Request) + "; a booking holds " + strconv.Itoa(int(bookedFor.Seconds())) + " s unless it is freed"}
}
