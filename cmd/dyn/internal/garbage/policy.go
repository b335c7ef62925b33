package garbage

import "time"

// Allowance is how much garbage may pile up while the daemon is busy. Twice as
// much costs in fresh memory what it saves in collections.
const Allowance = 128 << 20

const (
	usual = 100                   // per cent of what is held: Go's own allowance
	dear  = 20 * time.Millisecond // of collecting between two looks: the daemon is busy
	quiet = 10                    // looks without a collection after which it is not
	some  = 4                     // collections that leave enough to give back
)

// figures are the runtime's of one moment, all but held since the start.
type figures struct {
	held   uint64        // bytes, at the end of the last collection
	cycles uint64        // collections
	spent  time.Duration // of all cores, on collections
}

// policy decides by what it sees once a second. The zero policy is ready.
type policy struct {
	begun bool    // looked before
	last  figures // as seen last
	busy  bool    // collections were dear, and there was no quiet time since
	calm  int     // looks in a row without a collection
	gave  bool    // memory back, since the start
	after uint64  // collections when it did so last
}

// decision is what is to be done now.
type decision struct {
	percent int  // of what is held: the garbage that may pile up
	free    bool // collect now, and give memory back
}

// look decides by the figures of this moment.
func (p *policy) look(f figures) decision {
	spent, worked := f.spent-p.last.spent, f.cycles != p.last.cycles
	if !p.begun {
		spent, worked = 0, false // those of the start tell nothing
	}
	p.begun, p.last = true, f
	if p.calm++; worked {
		p.calm = 0
	}
	p.busy = p.busy || spent >= dear
	if p.calm < quiet {
		if p.busy {
			return decision{percent: share(f.held)}
		}
		return decision{percent: usual}
	}
	free := p.busy || !p.gave || f.cycles-p.after >= some
	p.busy = false
	return decision{usual, free}
}

// freed notes that memory was given back; f are the figures afterwards.
func (p *policy) freed(f figures) {
	p.last, p.gave, p.after = f, true, f.cycles
}

// share is Allowance in per cent of what is held, at least the usual.
func share(held uint64) int {
	return max(usual, int(Allowance*100/max(held, 1<<20)))
}
