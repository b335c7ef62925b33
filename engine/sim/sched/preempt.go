package sched

import "slices"

// preempt takes the blocks of the least important running request and lets it
// wait again. It returns the place where it ran and the budget that its part
// of the plan, now struck out, had taken.
func (s *Scheduler) preempt() (at, back int) {
	at = len(s.running) - 1
	if s.cfg.Priority {
		for i, r := range s.running {
			if s.running[at].before(r) {
				at = i
			}
		}
	}
	v := s.running[at]
	s.running = slices.Delete(s.running, at, at+1)
	s.plan.Chunks = slices.DeleteFunc(s.plan.Chunks, func(c Chunk) bool {
		if c.Request == v {
			back += c.Tokens
		}
		return c.Request == v
	})
	s.release(v)
	v.Preempted++
	s.Preemptions++
	v.state = waiting
	if s.cfg.Priority {
		s.enqueue(v)
	} else {
		s.waiting = slices.Insert(s.waiting, 0, v)
	}
	return at, back
}

// enqueue puts r into the waiting line.
func (s *Scheduler) enqueue(r *Request) {
	r.state = waiting
	at := len(s.waiting)
	if s.cfg.Priority {
		at, _ = slices.BinarySearchFunc(s.waiting, r, func(w, r *Request) int {
			if w.before(r) {
				return -1
			}
			return 1
		})
	}
	s.waiting = slices.Insert(s.waiting, at, r)
}

// release gives the blocks of r back; r is in no list afterwards.
func (s *Scheduler) release(r *Request) {
	s.pool.Release(r.blocks)
	r.blocks = r.blocks[:0]
	r.done, r.told, r.state = 0, 0, idle
}

// without returns the list without r, in order.
func without(list []*Request, r *Request) []*Request {
	if i := slices.Index(list, r); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}
