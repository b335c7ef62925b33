package server

import (
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/valyala/fasthttp"
)

// serve is the path of a turn. Everything up to the flight's start can still
// be answered with a status; an error returned is that answer.
func (s *Server) serve(c *fasthttp.RequestCtx, codec dialect.Codec) error {
	t, err := s.decode(c, codec) // bytes → turn (server/dialect)
	if err != nil {
		return err
	}
	m, err := s.find(t.Model) // which model; 503 when nobody serves it now
	if err != nil {
		return err
	}
	prompt.Steady(t)                   // the same conversation is the same prompt (prompt)
	f := s.identify(t, m)              // whose turn: session and agent (server/session)
	if err := f.render(); err != nil { // conversation → token ids, only the new part (prompt)
		return err
	}
	f.chain() // ids → block hashes (cache)

	f.depart(c)               // watch the client: its FIN ends the flight
	go f.fly()                // place in the queue and at a worker (route), generate (engine)
	return f.answer(c, codec) // parse (parsers), encode (server/dialect), record (ledger)
}
