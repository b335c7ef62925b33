package session

import (
	"slices"
	"time"

	"github.com/agentinfer/dyn/server/life"
)

// Family returns the agents of a session, whatever model they talk to, in the
// order in which they came.
func (s *Store) Family(session string) []*Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.family[session])
}

// Quiet returns the agents that nothing was heard of since the given time and
// that are not done.
func (s *Store) Quiet(since time.Time) (quiet []*Agent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.recent.Back(); e != nil; e = e.Prev() {
		a := e.Value.(*Agent)
		a.mu.Lock()
		f, l := &a.figures, &a.life
		late := f.Last.Before(since)
		rests := f.Waiting+f.Prefill+f.Streaming == 0 && l.Told.Before(since) && l.Doing != life.Done
		a.mu.Unlock()
		if late && rests {
			quiet = append(quiet, a)
		}
	}
	return quiet
}

// leave takes an agent out of its session's; mu must be held.
func (s *Store) leave(a *Agent) {
	all := s.family[a.Who.Session]
	if i := slices.Index(all, a); i >= 0 {
		all = slices.Delete(all, i, i+1)
	}
	if len(all) == 0 {
		delete(s.family, a.Who.Session)
		return
	}
	s.family[a.Who.Session] = all
}
