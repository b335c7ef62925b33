package replay

import (
	"fmt"
	"math"
	"time"

	"github.com/agentinfer/dyn/cache/pause"
	"github.com/agentinfer/dyn/cache/worth"
	"github.com/agentinfer/dyn/replay/fleet"
)

// Evictor is what engines evict where they could be told: what no router can
// have of an engine that runs as released, and so a ceiling.
type Evictor string

// The evictors. The zero value is LRU, as engines have it.
const (
	ByValue  Evictor = "value"  // the session that is worth least, ended ones and rewritten ends at once
	ByBelady Evictor = "belady" // the session that comes back last, by looking ahead
)

// check says what is wrong with an evictor.
func (e Evictor) check() error {
	if e == "" || e == ByValue || e == ByBelady {
		return nil
	}
	return fmt.Errorf("evictor %q is neither %s nor %s", e, ByValue, ByBelady)
}

// ideal evicts for one worker.
type ideal struct {
	s      *sim
	worker int
	by     Evictor
	lines  []*resident
	of     map[*live]*resident
	junk   []placed // of prompts that were rewritten since
	last   *resident
	at     time.Duration // when that was chosen
}

// resident is what a session's last turn left at a worker.
type resident struct {
	line   *live
	blocks []placed
	shared int // of them that other sessions use too: the engine's LRU has those
}

// placed is a block in its place.
type placed struct {
	slot fleet.Slot
	hash uint64
}

// evict gives a worker its evictor.
func (s *sim) evict(w *fleet.Worker) {
	if s.c.Evict == "" {
		return
	}
	x := &ideal{s: s, worker: w.ID, by: s.c.Evict, of: map[*live]*resident{}}
	s.ideals = append(s.ideals, x)
	w.Pool().Choose(x.pick)
}

// ended notes what a turn left at the worker.
func (x *ideal) ended(l *live, r *fleet.Request) {
	old := x.of[l]
	now := &resident{line: l, shared: l.src.Shared / x.s.c.Block}
	for i, slot := range r.Slots() {
		switch tail := i - len(r.Chain); {
		case tail < 0:
			now.blocks = append(now.blocks, placed{slot, r.Chain[i]})
		case tail < len(r.Tail):
			now.blocks = append(now.blocks, placed{slot, r.Tail[tail]})
		}
	}
	if old == nil {
		x.lines = append(x.lines, now)
		x.of[l] = now
		return
	}
	same := 0
	for same < min(len(old.blocks), len(now.blocks)) && old.blocks[same].hash == now.blocks[same].hash {
		same++
	}
	for i := len(old.blocks) - 1; i >= max(same, old.shared); i-- {
		x.junk = append(x.junk, old.blocks[i])
	}
	*old = *now
}

// pick names the block that goes; false leaves it to LRU.
func (x *ideal) pick() (fleet.Slot, bool) {
	pool := x.s.workers[x.worker].Pool()
	for n := len(x.junk); n > 0; n = len(x.junk) {
		b := x.junk[n-1]
		x.junk = x.junk[:n-1]
		if pool.Idles(b.slot, b.hash) {
			return b.slot, true
		}
	}
	for {
		if x.last == nil || x.at != x.s.now {
			x.last, x.at = x.worst(), x.s.now
		}
		if x.last == nil {
			return 0, false
		}
		for r := x.last; len(r.blocks) > r.shared; {
			b := r.blocks[len(r.blocks)-1]
			r.blocks = r.blocks[:len(r.blocks)-1]
			if pool.Idles(b.slot, b.hash) {
				return b.slot, true
			}
		}
		x.drop(x.last)
		x.last = nil
	}
}

// worst is the session to go; one that has a turn keeps what it has.
func (x *ideal) worst() (worst *resident) {
	low := math.Inf(1)
	for _, r := range x.lines {
		if r.line.busy {
			continue
		}
		if v := x.value(r); v < low {
			worst, low = r, v
		}
	}
	return worst
}

// value is what a session's blocks are worth: nothing where it has ended or
// gone to another worker.
func (x *ideal) value(r *resident) float64 {
	l := r.line
	if l.turn >= l.turns || l.home != x.worker {
		return -math.MaxFloat64
	}
	if x.by == ByBelady {
		return -l.due.Seconds()
	}
	run := worth.Run{Class: worth.ToolWait, Depth: len(r.blocks) * x.s.c.Block}
	run.Return = x.s.touches.pauses.Returns(pause.Key{Class: l.awaits().Class}, x.s.now-l.idle, 30*time.Second)
	return worth.Of(run, worth.DefaultCost)
}

// drop forgets a session of which nothing is left.
func (x *ideal) drop(r *resident) {
	for i, other := range x.lines {
		if other == r {
			x.lines[i] = x.lines[len(x.lines)-1]
			x.lines = x.lines[:len(x.lines)-1]
			break
		}
	}
	delete(x.of, r.line)
}
