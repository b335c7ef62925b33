package policy

import (
	"container/list"
	"time"
)

// s3fifo has a small queue for what is new, a main one for what was used there,
// and remembers what left the small one.
type s3fifo struct {
	size        int // tokens
	small, main list.List
	ghost       list.List // of IDs
	tokens      int       // in small
	ghosts      int       // tokens in ghost
	at          map[int]*list.Element
	left        map[int]*list.Element // in ghost
}

// queued is a run in small or main.
type queued struct {
	run  *Run
	main bool
	uses int // since it came, three at most
}

// ghosted is a run that left the small queue.
type ghosted struct{ id, tokens int }

// smallShare is the small queue's part of the cache, as published.
const smallShare = 0.1

func newS3FIFO(size int) Policy {
	return &s3fifo{size: size, at: map[int]*list.Element{}, left: map[int]*list.Element{}}
}

// Used counts a use, or lets a run in.
func (s *s3fifo) Used(r *Run) {
	if e := s.at[r.ID]; e != nil {
		q := e.Value.(*queued)
		q.uses = min(q.uses+1, 3)
		return
	}
	if e := s.left[r.ID]; e != nil {
		s.forget(e)
		s.at[r.ID] = s.main.PushFront(&queued{run: r, main: true})
		return
	}
	s.at[r.ID] = s.small.PushFront(&queued{run: r})
	s.tokens += r.Tokens
}

// Victim is the oldest of the small queue that was used at most once, while that
// has more than its share, else the oldest of the main one that was not.
func (s *s3fifo) Victim([]*Run, time.Duration) *Run {
	passed := 0 // of the main queue, all of which may be fixed
	for {
		if s.small.Len() > 0 && (s.tokens > int(smallShare*float64(s.size)) || passed >= s.main.Len()) {
			if r := s.fromSmall(); r != nil {
				return r
			}
			passed = 0
			continue
		}
		e := s.main.Back()
		q := e.Value.(*queued)
		if q.uses == 0 && !q.run.Fixed {
			return q.run
		}
		if q.uses == 0 {
			passed++
		} else {
			q.uses, passed = q.uses-1, 0
		}
		s.main.MoveToFront(e)
	}
}

// fromSmall looks at the oldest of the small queue: the victim, or nil where it
// was moved.
func (s *s3fifo) fromSmall() *Run {
	e := s.small.Back()
	q := e.Value.(*queued)
	if q.uses <= 1 && !q.run.Fixed {
		return q.run
	}
	s.small.Remove(e)
	s.tokens -= q.run.Tokens
	q.main, q.uses = true, 0
	s.at[q.run.ID] = s.main.PushFront(q)
	return nil
}

// Gone takes a run out, and remembers one of the small queue.
func (s *s3fifo) Gone(r *Run) {
	e := s.at[r.ID]
	delete(s.at, r.ID)
	if e.Value.(*queued).main {
		s.main.Remove(e)
		return
	}
	s.small.Remove(e)
	s.tokens -= r.Tokens
	s.left[r.ID] = s.ghost.PushFront(ghosted{r.ID, r.Tokens})
	for s.ghosts += r.Tokens; s.ghosts > s.size; {
		s.forget(s.ghost.Back())
	}
}

// forget drops a ghost.
func (s *s3fifo) forget(e *list.Element) {
	g := s.ghost.Remove(e).(ghosted)
	delete(s.left, g.id)
	s.ghosts -= g.tokens
}
