package gauge

import (
	"sync"
	"time"
)

// Sums is what a window adds up. A turn is counted as decided when it is sent
// to a worker and as ended when the worker's usage is known.
type Sums struct {
	Decided   int // turns sent
	Prompt    int // their prompt tokens
	Predicted int // of those, believed to be held

	Ended       int // turns that ended with usage
	EndedPrompt int
	EndedCached int // as the engine reported

	Judged        int // of the ended ones, those by which predictions are judged: not by an engine's own tokens
	JudgedPrompt  int
	JudgedOverlap int // as predicted
	JudgedCached  int // as the engine reported

	Output int

	TTFT, ITL Hist
}

// merge adds o.
func (s *Sums) merge(o *Sums) {
	s.Decided += o.Decided
	s.Prompt += o.Prompt
	s.Predicted += o.Predicted
	s.Ended += o.Ended
	s.EndedPrompt += o.EndedPrompt
	s.EndedCached += o.EndedCached
	s.Judged += o.Judged
	s.JudgedPrompt += o.JudgedPrompt
	s.JudgedOverlap += o.JudgedOverlap
	s.JudgedCached += o.JudgedCached
	s.Output += o.Output
	s.TTFT.Merge(&o.TTFT)
	s.ITL.Merge(&o.ITL)
}

// Window is a ring of Sums over the last Steps × Step of time. It is safe for
// concurrent use.
type Window struct {
	step time.Duration

	mu    sync.Mutex // guards all below
	ring  []Sums
	head  int64     // number of the newest step that was written
	begin time.Time // of step 0: the clock on the wall may jump, the time since then does not
}

// NewWindow returns a window of steps buckets, each step long.
func NewWindow(steps int, step time.Duration) *Window {
	return &Window{step: step, ring: make([]Sums, steps)}
}

// Span is how much time the window covers.
func (w *Window) Span() time.Duration { return time.Duration(len(w.ring)) * w.step }

// Add calls f with the bucket of now.
func (w *Window) Add(now time.Time, f func(*Sums)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance(now)
	f(&w.ring[w.head%int64(len(w.ring))])
}

// Look merges the buckets that are still in the window at now.
func (w *Window) Look(now time.Time) *Sums {
	total := new(Sums)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance(now)
	for i := range w.ring {
		total.merge(&w.ring[i])
	}
	return total
}

// Each calls f for every bucket, oldest first.
func (w *Window) Each(now time.Time, f func(*Sums)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance(now)
	n := int64(len(w.ring))
	for i := w.head + 1; i <= w.head+n; i++ {
		f(&w.ring[i%n])
	}
}

// advance empties the buckets between the newest step and now; mu must be
// held. A clock that steps back writes to the newest bucket.
func (w *Window) advance(now time.Time) {
	n := int64(len(w.ring))
	if w.begin.IsZero() {
		w.begin = now
	}
	at := int64(now.Sub(w.begin) / w.step)
	if at <= w.head {
		return
	}
	for i := max(w.head+1, at-n+1); i <= at; i++ {
		w.ring[i%n] = Sums{}
	}
	w.head = at
}
