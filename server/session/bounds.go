package session

// placeBytes is what a place takes in an agent's line and in the map.
const placeBytes = 64

// Holds records how much memory an agent's prompt takes, see Built.Bytes.
func (s *Store) Holds(a *Agent, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.elem == nil {
		a.empty() // dropped meanwhile, maybe while it was built
		return
	}
	s.hold(a, bytes+placeBytes*len(a.line))
	if a.awake == nil {
		a.awake = s.awake.PushFront(a)
		s.stirred += a.held
	}
	s.awake.MoveToFront(a.awake)
	s.shrink()
}

// hold sets what an agent holds; mu must be held.
func (s *Store) hold(a *Agent, bytes int) {
	s.bytes += bytes - a.held
	if a.awake != nil {
		s.stirred += bytes - a.held
	}
	a.held = bytes
}

// shrink brings agents to rest and drops old ones while too much is held; mu
// must be held. The last agent stays whatever it holds. One whose turn is being
// built is awake again when that is done.
func (s *Store) shrink() {
	for s.stirred > s.limits.Awake && s.awake.Len() > 1 {
		a := s.awake.Back().Value.(*Agent)
		s.sleep(a)
		if bytes, ok := a.rest(); ok {
			s.hold(a, bytes+placeBytes*len(a.line))
		}
	}
	for s.bytes > s.limits.Bytes && s.recent.Len() > 1 {
		s.drop(s.recent.Back().Value.(*Agent))
	}
}

// sleep takes an agent out of those that are awake; mu must be held.
func (s *Store) sleep(a *Agent) {
	if a.awake == nil {
		return
	}
	s.awake.Remove(a.awake)
	a.awake = nil
	s.stirred -= a.held
}

// drop removes an agent; mu must be held.
func (s *Store) drop(a *Agent) {
	s.forget(a, 0)
	s.exactly(a, Exact{})
	s.part(a)
	s.sleep(a)
	s.recent.Remove(a.elem)
	delete(s.byName, a.name())
	s.leave(a)
	s.hold(a, 0)
	s.dropped++
	a.elem, a.line = nil, nil
	a.empty()
}
