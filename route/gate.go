package route

import (
	"fmt"
	"time"
)

// GateMode is whether, and for how long, turns are held back that would push
// out what others come back for.
type GateMode string

// The modes. The zero mode is Auto.
const (
	Auto       GateMode = "auto"       // only where a worker thrashes, for 180 s at most
	Open       GateMode = "off"        // never
	Balanced   GateMode = "balanced"   // always, for 40 s at most
	Throughput GateMode = "throughput" // always, for 180 s at most
)

// Of the gate: how full a worker may be with sessions in use, what share of a
// prompt makes a turn warm, and how long turns are held.
const (
	gateFill  = 0.92
	gateWarm  = 0.5
	gateShort = 40 * time.Second
	gateLong  = 180 * time.Second
)

// Verdict is what the gate says of a turn.
type Verdict struct {
	Admit  bool
	Forced bool      // it was held for as long as may be
	Until  time.Time // when a held turn is let in at the latest
	Why    string    // for a person
}

// Gate decides whether a turn may be placed now or had better be held. It is
// pure; its zero value is the mode Auto.
//
// A turn of which some worker has half the tokens is warm and passes always.
// A cold one passes where a worker has room for it beside the sessions in use
// there: those with a turn, and those that came back for one in the last minute.
// It passes where nothing has run for as long as what is evicted in thrash lay
// unused, and while nothing runs at any worker: thrash is a circle of work, and
// to hold a turn helps nobody then. Else it waits, and is asked about again when
// something changed, until its time is over.
type Gate struct {
	Mode GateMode
}

// ParseGate finds a mode by name; "" is Auto.
func ParseGate(name string) (GateMode, error) {
	switch m := GateMode(name); m {
	case "":
		return Auto, nil
	case Auto, Open, Balanced, Throughput:
		return m, nil
	}
	return "", fmt.Errorf("gate %q: known are auto, off, balanced, throughput", name)
}

// Judge says whether a turn that arrived at some time may go now.
func (g Gate) Judge(now, arrived time.Time, n *Need, cs []Candidate) Verdict {
	if g.Mode == Open {
		return Verdict{Admit: true, Why: "the gate is off"}
	}
	usable, works := false, false
	for i := range cs {
		c := &cs[i]
		if out := outOf(n, c); out != "" && out != outFull {
			continue
		}
		usable, works = true, works || c.InFlight > 0
		switch {
		case g.idle(c):
			return Verdict{Admit: true, Why: "no pressure on memory"}
		case warm(n, c):
			return Verdict{Admit: true, Why: "warm: half of it or more is in a cache"}
		case c.Hot+n.Prompt <= int(gateFill*float64(c.KVTokens)):
			return Verdict{Admit: true, Why: "cold, with room for it"}
		case c.Idle >= thrashAge:
			return Verdict{Admit: true, Why: "cold, and a worker has had nothing to do for a while"}
		}
	}
	switch {
	case !usable:
		return Verdict{Admit: true, Why: "no worker to hold it for"}
	case !works:
		return Verdict{Admit: true, Why: "cold, and nothing runs at any worker"}
	}
	return g.Due(now, arrived)
}

// Due is what Judge says of a cold turn for which no worker has room: it is
// held, until its time is over.
func (g Gate) Due(now, arrived time.Time) Verdict {
	until := arrived.Add(g.hold())
	if g.Mode == Open || !now.Before(until) {
		return Verdict{Admit: true, Forced: true, Until: until, Why: "held for as long as may be"}
	}
	return Verdict{Until: until, Why: "cold, and sessions in use fill every worker"}
}

// idle reports whether the gate does not apply to a worker.
func (g Gate) idle(c *Candidate) bool {
	return c.KVTokens <= 0 || (g.Mode == Auto || g.Mode == "") && !c.Thrash
}

// warm reports whether a worker has half the turn's tokens, in any tier.
func warm(n *Need, c *Candidate) bool {
	return float64(c.Holds()) >= gateWarm*float64(n.Prompt)
}

// hold is for how long a turn is held at most. Where a cache thrashes it must
// outlast the queues of the engines, or those that it lets go keep them as they
// are: with 40 s, or twice the mean time to a first token, a fleet with 0.4 of
// the memory that its sessions want did not come out of it.
func (g Gate) hold() time.Duration {
	if g.Mode == Balanced {
		return gateShort
	}
	return gateLong
}
