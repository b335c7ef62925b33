package session

// Forget drops the agents of a session, and says how many there were. Turns
// of it that are on their way end as usual.
func (s *Store) Forget(session string) (agents int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.recent.Front(); e != nil; {
		a := e.Value.(*Agent)
		e = e.Next()
		if a.Who.Session == session {
			s.drop(a)
			agents++
		}
	}
	return agents
}
