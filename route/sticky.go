package route

import "github.com/zeebo/xxh3"

// sticky keeps a session on one worker: the one of its last turn, and for its
// first one that its name draws, so that it is the same after a restart. A
// turn of no session draws for itself. With override above 0 a session leaves a
// home that has more than so many times the mean load, in tokens of its running
// turns and of prompts that wait, for the worker with least.
type sticky struct {
	override float64
}

var stickyKnobs = Knobs{"override": 0}

func newSticky(k Knobs) Strategy { return sticky{override: k["override"]} }

// Pick is of Strategy.
func (s sticky) Pick(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	home := d.home(&n)
	if home == nil {
		return d
	}
	home.term("home", 1)
	sum, open := 0.0, 0.0
	for i := range d.Parts {
		p := &d.Parts[i]
		p.Cost = float64(max(cs[i].Active, 0)) + float64(p.Pending)
		if p.Out == "" {
			sum, open = sum+p.Cost, open+1
		}
	}
	if s.override > 0 && home.Cost > s.override*sum/open {
		d.least(&n, Cheapest)
	} else {
		d.choose(home, AtHome)
	}
	return d
}

// home is the part where a turn's session is at home, or will be; nil when no
// worker can take it.
func (d *Decision) home(n *Need) *Part {
	for i := range d.Parts {
		if d.Parts[i].Out == "" && d.Parts[i].Worker == n.Home {
			return &d.Parts[i]
		}
	}
	salt := salted(n)
	if n.Session != "" {
		salt = xxh3.HashStringSeed(n.Session, n.Seed)
	}
	p, _ := d.drawn(salt)
	return p
}
