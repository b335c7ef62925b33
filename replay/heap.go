package replay

import "time"

// event is something that happens: a turn of a session arrives, or the steps
// of a worker end. A worker's event counts only while version is the worker's.
type event struct {
	at      time.Duration
	seq     uint64 // of equal times the first that was put in
	session *live
	worker  int
	version int
	gate    bool // turns held back are due
	touch   bool // a look at what a worker is about to evict
}

// agenda is what will happen, the next first.
type agenda struct {
	heap []event
	seq  uint64
}

func (e *event) before(o *event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// put adds an event.
func (a *agenda) put(e event) {
	a.seq++
	e.seq = a.seq
	a.heap = append(a.heap, e)
	h, i := a.heap, len(a.heap)-1
	for i > 0 && e.before(&h[(i-1)/2]) {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i] = e
}

// take removes the next event; there must be one.
func (a *agenda) take() event {
	h := a.heap
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	a.heap = h
	for i := 0; ; {
		kid := 2*i + 1
		if kid >= len(h) {
			if len(h) > 0 {
				h[i] = last
			}
			return first
		}
		if kid+1 < len(h) && h[kid+1].before(&h[kid]) {
			kid++
		}
		if last.before(&h[kid]) {
			h[i] = last
			return first
		}
		h[i] = h[kid]
		i = kid
	}
}
