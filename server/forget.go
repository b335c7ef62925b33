package server

import (
	"context"
	"errors"
	"net/url"
	"time"

	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
)

// forgetPatience is how long the ledger may take to remove a session.
const forgetPatience = 10 * time.Second

// forget answers DELETE /sessions/{id} of the control socket: what memory and
// ledger hold of a session goes. A session of a key has the key's name in
// front, as all screens show it. What is remembered of bodies is told apart by
// no names, so all of it goes: the next turn of each conversation is read whole.
func (s *Server) forget(c *fasthttp.RequestCtx, escaped string) error {
	id, err := url.PathUnescape(escaped)
	if err != nil {
		return &turn.Fault{Op: "forget session", Err: err}
	}
	held := s.sessions.Forget(id)
	for _, m := range s.all() {
		m.raw.Forget(id)
		m.forgetSession(id)
	}
	s.lineEnded(id, "", "forgotten")
	s.recall.Clear()
	s.broke.forget(id)
	ctx, cancel := context.WithTimeout(s.life, forgetPatience)
	defer cancel()
	found, err := s.ledger.Forget(ctx, id)
	switch {
	case err != nil:
		return &turn.Fault{Op: "forget session " + clip(id), Err: err, Why: "memory holds nothing of it any more"}
	case held == 0 && !found.Any():
		return errNoSession
	}
	return reply(c, found)
}

var errNoSession = errors.New("no such session")
