package server

// serve is the path of a turn. Everything up to the flight's start can still
// be answered with a status; an error returned is that answer.
func (s *Server) serve(c *call) error {
	t, err := s.decode(c) // bytes → turn (server/dialect); what it goes on from comes first
	if err != nil {
		return err
	}
	m, err := s.find(c, t.Model) // which model; 503 when nobody serves it now
	if err != nil {
		return err
	}
	if err := s.admit(c, t); err != nil { // whose key, within its limits (server/tenant)
		return err
	}
	need, err := s.demands(c, t, m) // what only some workers can do
	if err != nil {
		return err
	}
	s.steady(t, m)                     // the same conversation is the same prompt (prompt)
	whole := m.see(t, &need)           // images stand as what they hold, where the engine sees them itself (chat.go)
	f := s.identify(t, m, whole)       // whose turn: session and agent (server/session)
	if err := f.tokens(); err != nil { // conversation → token ids → block hashes, only the new part (prompt, cache)
		return err
	}
	f.needs(need)
	if t.Hints.Query {
		return f.where(c) // only asked, not flown
	}

	f.depart(c)        // watch the client: its FIN ends the flight
	f.launch()         // place in the queue and at a worker (route), generate (engine); as often as answers were asked for
	return f.answer(c) // parse (parsers), encode (server/dialect), record (ledger)
}
