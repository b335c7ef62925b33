package policy

import (
	"container/list"
	"time"
)

// sieve is one queue, newest in front, and a hand that goes from its back to its
// front: what was used since it was passed stays, what was not goes.
type sieve struct {
	queue list.List
	at    map[int]*list.Element
	hand  *list.Element // nil is the back
}

// sieved is a run in the queue.
type sieved struct {
	run  *Run
	used bool // since it came, or the hand passed it
}

func newSieve(int) Policy { return &sieve{at: map[int]*list.Element{}} }

// Used puts a new run in front, and marks one that is there.
func (s *sieve) Used(r *Run) {
	if e := s.at[r.ID]; e != nil {
		e.Value.(*sieved).used = true
		return
	}
	s.at[r.ID] = s.queue.PushFront(&sieved{run: r})
}

// Victim is the first run that the hand finds unused. The hand stays there
// until the run is gone.
func (s *sieve) Victim([]*Run, time.Duration) *Run {
	for {
		if s.hand == nil {
			s.hand = s.queue.Back()
		}
		v := s.hand.Value.(*sieved)
		if !v.used && !v.run.Fixed {
			return v.run
		}
		v.used = v.used && v.run.Fixed
		s.hand = s.hand.Prev()
	}
}

// Gone takes a run out.
func (s *sieve) Gone(r *Run) {
	e := s.at[r.ID]
	if s.hand == e {
		s.hand = e.Prev()
	}
	s.queue.Remove(e)
	delete(s.at, r.ID)
}
