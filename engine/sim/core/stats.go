package core

import (
	"sync"
	"time"

	"github.com/agentinfer/dyn/engine/sim/sched"
)

// Stats are an engine's numbers since it started, in tokens where nothing
// else is said.
type Stats struct {
	Running, Waiting int     // answers
	Usage            float64 // share of the blocks that running answers hold
	Cached           int     // distinct blocks that can be hit
	Queries, Hits    int64   // looked up at admission, found
	Prompt, Output   int64   // of answers that had their first token; made
	Preempted        int64   // answers that lost their blocks
	Rejected         int64   // asks over MaxOpen
	Ended            map[Reason]int64

	FirstToken Histogram // arrival to first token
	Between    Histogram // token to token
	Whole      Histogram // arrival to end
	Queued     Histogram // arrival to first step
}

// Histogram counts seconds in buckets as Prometheus does.
type Histogram struct {
	Bounds []float64 // upper bounds, ascending; a last one is infinite
	Counts []int64   // of each bucket alone, one more than Bounds
	Sum    float64
	Count  int64
}

func newHistogram(bounds []float64) Histogram {
	return Histogram{Bounds: bounds, Counts: make([]int64, len(bounds)+1)}
}

func (h *Histogram) add(d time.Duration) {
	s := d.Seconds()
	i := 0
	for i < len(h.Bounds) && s > h.Bounds[i] {
		i++
	}
	h.Counts[i]++
	h.Sum += s
	h.Count++
}

func (h Histogram) clone() Histogram {
	h.Counts = append([]int64(nil), h.Counts...)
	return h
}

// The buckets of vLLM.
var (
	firstBounds   = []float64{.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560}
	betweenBounds = []float64{.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80}
	wholeBounds   = []float64{.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680}
)

// stats gathers Stats.
type stats struct {
	mu sync.Mutex // guards s
	s  Stats
}

func (t *stats) init() {
	t.s.Ended = map[Reason]int64{}
	t.s.FirstToken = newHistogram(firstBounds)
	t.s.Between = newHistogram(betweenBounds)
	t.s.Whole = newHistogram(wholeBounds)
	t.s.Queued = newHistogram(wholeBounds)
}

// Stats returns a copy of the numbers. Asks that no step has seen yet count
// as waiting.
func (e *Engine) Stats() Stats {
	e.stats.mu.Lock()
	defer e.stats.mu.Unlock()
	s := e.stats.s
	ended := make(map[Reason]int64, len(s.Ended))
	for k, v := range s.Ended {
		ended[k] = v
	}
	s.Ended = ended
	s.FirstToken, s.Between = s.FirstToken.clone(), s.Between.clone()
	s.Whole, s.Queued = s.Whole.clone(), s.Queued.clone()
	s.Waiting = max(int(e.open.Load())-s.Running, 0)
	return s
}

// gauge reads what holds at this moment.
func (t *stats) gauge(e *Engine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Running = e.sched.Running()
	t.s.Usage = 1 - float64(e.pool.Free())/float64(e.pool.Usable())
	t.s.Cached = e.pool.Cached()
	t.s.Preempted = int64(e.sched.Preemptions)
}

// planned counts the answers that a step admits.
func (t *stats) planned(e *Engine, p *sched.Plan) {
	now := time.Now()
	for _, c := range p.Chunks {
		a := e.live[c.Request]
		if a.counted {
			continue
		}
		a.counted = true
		t.mu.Lock()
		t.s.Queries += int64(len(a.ask.Prompt))
		t.s.Hits += int64(c.Request.Cached)
		t.s.Queued.add(now.Sub(a.began))
		t.mu.Unlock()
	}
	t.gauge(e)
}

// token counts one token made.
func (t *stats) token(a *Answer, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Output++
	if a.first.IsZero() {
		a.first = now
		t.s.Prompt += int64(len(a.ask.Prompt))
		t.s.FirstToken.add(now.Sub(a.began))
	} else {
		t.s.Between.add(now.Sub(a.latest))
	}
	a.latest = now
}

func (t *stats) ended(a *Answer, why Reason, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Ended[why]++
	t.s.Whole.add(now.Sub(a.began))
}

func (t *stats) rejected() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.s.Rejected++
}
