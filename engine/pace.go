package engine

import (
	"time"

	"github.com/agentinfer/dyn/turn"
)

// A launched worker at which nothing moved for restAfter looks is looked at
// at every restEvery'th look's time only, until it gets a turn: all its turns
// come from here, and the end of its process is seen without a look. Screens
// call a load stale that is older than five looks.
const (
	restAfter = 5
	restEvery = 4
)

// pace decides how often a worker is looked at. Its zero value is ready.
type pace struct {
	load  turn.Load // as last seen
	still int       // looks in a row that saw nothing move
}

// saw takes what a look has seen: the load that the server told, and the
// streams that are open.
func (p *pace) saw(load turn.Load, streams int) {
	same := load.Running == p.load.Running && load.Waiting == p.load.Waiting && load.KVUsed == p.load.KVUsed
	if same && streams+load.Running+load.Waiting == 0 {
		p.still++
	} else {
		p.still = 0
	}
	p.load = load
}

// stir is for what is no look: a turn, a failure.
func (p *pace) stir() { p.still = 0 }

// rests reports whether the worker need not be looked at each time.
func (p *pace) rests() bool { return p.still >= restAfter }

// untilNext is the time from now to the next of the moments that lie so far
// apart: the same ones for all workers, so that the daemon wakes once for
// all.
func untilNext(now time.Time, every time.Duration) time.Duration {
	return every - time.Duration(now.UnixNano())%every
}
