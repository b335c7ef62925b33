package server

import "github.com/agentinfer/dyn/turn"

// serve is the path of a turn. Everything up to the flight's start can still
// be answered with a status; an error returned is that answer.
func (s *Server) serve(c *call) error {
	t, err := s.decode(c) // bytes → turn (server/dialect); what it goes on from comes first
	if err != nil {
		return err
	}
	f, err := s.prepare(c, t)
	if err != nil {
		return err
	}
	if t.Hints.Query {
		return f.where(c) // only asked, not flown
	}

	f.depart(c)        // watch the client: its FIN ends the flight
	f.launch()         // place in the queue and at a worker (route), generate (engine); as often as answers were asked for
	return f.answer(c) // parse (parsers), encode (server/dialect), record (ledger)
}

// prepare makes a flight of a turn: all that has to be known before a worker
// can be chosen.
func (s *Server) prepare(c *call, t *turn.Turn) (*flight, error) {
	m, err := s.find(c, t.Model) // which model; 503 when nobody serves it now
	if err != nil {
		return nil, err
	}
	if err := s.admit(c, t); err != nil { // whose key, within its limits (server/tenant)
		return nil, err
	}
	if t.Hints.Booking != "" {
		s.takesBooking(c, t, m) // what was booked for it becomes its own
	}
	need, err := s.demands(c, t, m) // what only some workers can do
	if err != nil {
		return nil, err
	}
	s.steady(t, m)                     // the same conversation is the same prompt (prompt)
	whole := m.see(t, &need)           // images stand as what they hold, where the engine sees them itself (chat.go)
	f := s.identify(t, m, whole)       // whose turn: session and agent (server/session)
	if err := f.tokens(); err != nil { // conversation → token ids → block hashes, only the new part (prompt, cache)
		return nil, err
	}
	f.needs(need)
	return f, nil
}
