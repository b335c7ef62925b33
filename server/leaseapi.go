package server

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"strings"
	"time"

	"github.com/agentinfer/dyn/cache/lease"
	"github.com/agentinfer/dyn/ledger/snapshot"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// pinTime is how long a pin is for that does not say.
const pinTime = time.Hour

// holder is who asks about leases: the tenant of a key, who sees his own, or
// who may see all.
type holder struct {
	tenant string
	all    bool
}

// mine reports whether a lease is the holder's to see.
func (h holder) mine(l *lease.Lease) bool { return h.all || l.Tenant == h.tenant }

// session is a session as it is known here: those of a key have its name in
// front.
func (h holder) session(name string) string {
	if h.all || strings.HasPrefix(name, h.tenant+"/") {
		return name
	}
	return h.tenant + "/" + name
}

// holder is who a call comes from.
func (c *call) holder() holder { return holder{c.tenant(), c.who == nil} }

// leaseList is the answer to who asks for leases.
type leaseList struct {
	Leases  []snapshot.Lease       `json:"leases"`
	Budgets []snapshot.LeaseBudget `json:"budgets,omitempty"` // for who sees all
}

// leasesOf lists a holder's leases, of one session where it is named.
func (s *Server) leasesOf(h holder, session string) leaseList {
	now := time.Now()
	list := leaseList{Leases: []snapshot.Lease{}}
	live := s.liveLeases(now)
	for i := range live {
		if l := &live[i]; h.mine(l) && (session == "" || l.Session == h.session(session)) {
			list.Leases = append(list.Leases, oneLease(now, l))
		}
	}
	if h.all && session == "" {
		for _, w := range s.leases.Workers() {
			list.Budgets = append(list.Budgets, snapshot.LeaseBudget(w))
		}
	}
	return list
}

// pinAsk is a body that asks for a pin.
type pinAsk struct {
	Session string `json:"session"`
	Agent   string `json:"agent"` // "" is the lead
	TTL     string `json:"ttl"`   // as of cache_control; "" is an hour
}

var (
	errNoLease = errors.New("no such lease")
	errNoAgent = errors.New("no such session")
)

// pin has all turns of a session's agent ask for their whole prompt.
func (s *Server) pin(h holder, ask pinAsk) (snapshot.Lease, error) {
	ttl := pinTime
	if ask.TTL != "" {
		d, ok := dialect.Time(ask.TTL)
		if !ok {
			return snapshot.Lease{}, fmt.Errorf("ttl: must be a time such as 5m, 1h or 90s, not %s", clip(ask.TTL))
		}
		ttl = d
	}
	if ask.Session == "" {
		return snapshot.Lease{}, errors.New("session: is missing")
	}
	name, agent := h.session(ask.Session), cmp.Or(ask.Agent, "main")
	a := s.agent(name, agent)
	if a == nil {
		return snapshot.Lease{}, fmt.Errorf("%w: %s has no agent %s here", errNoAgent, clip(ask.Session), clip(agent))
	}
	now, f := time.Now(), a.Figures()
	t := lease.Turn{Tenant: h.tenant, Line: lease.Of(a.Model, name, agent), Worker: f.Worker, Prompt: f.Context}
	l, err := s.leases.Pin(now, t, ttl)
	if err != nil {
		return snapshot.Lease{}, err
	}
	a.Note(func(g *session.Figures) { g.LeaseEnds = later(g.LeaseEnds, l.Ends) })
	s.leased(now)
	return oneLease(now, &l), nil
}

// agent finds an agent by its names; nil is none.
func (s *Server) agent(name, agent string) (found *session.Agent) {
	s.sessions.Recent(time.Time{}, math.MaxInt, func(a *session.Agent) {
		if a.Who.Session == name && cmp.Or(a.Who.Agent, "main") == agent {
			found = a
		}
	})
	return found
}

// unpin ends a lease, or all of a session, and returns what it ended.
func (s *Server) unpin(h holder, name string) ([]snapshot.Lease, error) {
	now := time.Now()
	taken := s.leases.Take(now, func(l lease.Lease) bool {
		return h.mine(&l) && (l.ID == name || l.Session == h.session(name))
	}, "unpinned")
	if len(taken) == 0 {
		return nil, fmt.Errorf("%w: %s", errNoLease, clip(name))
	}
	s.leased(now)
	list := make([]snapshot.Lease, len(taken))
	for i := range taken {
		list[i] = oneLease(now, &taken[i])
	}
	return list, nil
}

// listLeases answers GET /v1/leases.
func (s *Server) listLeases(c *call) error {
	return reply(c.RequestCtx, s.leasesOf(c.holder(), string(c.QueryArgs().Peek("session"))))
}

// addLease answers POST /v1/leases.
func (s *Server) addLease(c *call) error {
	var ask pinAsk
	body, err := s.body(c.RequestCtx, nil)
	if err == nil {
		err = readObject(body, &ask)
	}
	if err != nil {
		return err
	}
	l, err := s.pin(c.holder(), ask)
	if err != nil {
		return leaseProblem(err)
	}
	return reply(c.RequestCtx, l)
}

// dropLease answers DELETE /v1/leases/{id}.
func (s *Server) dropLease(c *call) error {
	gone, err := s.unpin(c.holder(), c.arg)
	if err != nil {
		return leaseProblem(err)
	}
	return reply(c.RequestCtx, leaseList{Leases: gone})
}

// leaseProblem says with which status an error about leases is told.
func leaseProblem(err error) error {
	p := &dialect.Problem{Kind: dialect.Invalid, Message: err.Error()}
	switch {
	case errors.Is(err, errNoLease), errors.Is(err, errNoAgent):
		p.Kind = dialect.NotFound
	case errors.Is(err, lease.ErrMany):
		p.Kind = dialect.Busy
	}
	return p
}

// commandLeases answers /leases of the control socket, whose users see all.
func (s *Server) commandLeases(c *fasthttp.RequestCtx, method, rest string) error {
	all := holder{all: true}
	switch {
	case method == "GET" && rest == "":
		return reply(c, s.leasesOf(all, string(c.QueryArgs().Peek("session"))))
	case method == "POST" && rest == "":
		var ask pinAsk
		body, err := s.body(c, nil)
		if err == nil {
			err = json.Unmarshal(body, &ask)
		}
		if err != nil {
			return &turn.Fault{Op: "pin", Err: err}
		}
		l, err := s.pin(all, ask)
		if err != nil {
			return leaseFault("pin", err)
		}
		return reply(c, l)
	case method == "DELETE" && rest != "":
		name, err := url.PathUnescape(rest)
		if err != nil {
			return &turn.Fault{Op: "unpin", Err: err}
		}
		gone, err := s.unpin(all, name)
		if err != nil {
			return leaseFault("unpin", err)
		}
		return reply(c, leaseList{Leases: gone})
	}
	return fmt.Errorf("%w: %s /leases", errNoCommand, method)
}

// leaseFault is an error for a command: what is not there is told as such.
func leaseFault(op string, err error) error {
	if errors.Is(err, errNoLease) || errors.Is(err, errNoAgent) {
		return err
	}
	return &turn.Fault{Op: op, Err: err}
}
