package garbage

import "time"

// Allowance is how much garbage may pile up while the daemon is busy. Twice as
// much costs in fresh memory what it saves in collections.
const Allowance = 128 << 20

const (
	usual = 100                   // per cent of what is held: Go's own allowance
	dear  = 20 * time.Millisecond // of collecting between two looks: the daemon is busy
	quiet = 10                    // looks without a collection after which it is not
)

// figures are the runtime's of one moment, all but held since the start.
type figures struct {
	held   uint64        // bytes, at the end of the last collection
	cycles uint64        // collections
	spent  time.Duration // of all cores, on collections
}

// policy decides by what it sees once a second. The zero policy is ready.
type policy struct {
	begun   bool    // looked before
	last    figures // as seen last
	percent int     // as decided last; 0 is nothing yet
	calm    int     // looks in a row without a collection
}

// decision is what is to be done now.
type decision struct {
	percent int  // of what is held: the garbage that may pile up
	free    bool // collect now, and give memory back
}

// look decides by the figures of this moment.
func (p *policy) look(f figures) decision {
	spent, some := f.spent-p.last.spent, f.cycles != p.last.cycles
	if !p.begun {
		spent, some = 0, false // those of the start tell nothing
	}
	p.begun, p.last = true, f
	if p.calm++; some {
		p.calm = 0
	}
	raised := p.percent > usual
	switch {
	case raised && p.calm >= quiet:
		p.percent = usual
		return decision{usual, true}
	case raised || spent >= dear:
		p.percent = share(f.held)
	default:
		p.percent = usual
	}
	return decision{percent: p.percent}
}

// share is Allowance in per cent of what is held, at least the usual.
func share(held uint64) int {
	return max(usual, int(Allowance*100/max(held, 1<<20)))
}
