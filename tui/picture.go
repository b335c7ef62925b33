package tui

import (
	"strconv"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// picture is a snapshot about to be drawn.
type picture struct {
	*brush
	s snapshot.Snapshot
	v View
}

func newPicture(s snapshot.Snapshot, v View) *picture {
	v = v.filled(&s)
	p := &picture{s: s, v: v}
	p.brush = newBrush(&p.v)
	return p
}

// keys returns the keys of a panel's rows, in the order in which they show;
// nil for a panel in which nothing can be selected.
func (p *picture) keys(panel Panel) []string {
	var keys []string
	switch panel {
	case Workers:
		for _, w := range p.s.Workers {
			keys = append(keys, w.Name)
		}
	case Queue:
		for _, x := range p.bands() {
			keys = append(keys, strconv.Itoa(x.Strict)+x.Class)
		}
	case Leases:
		for _, l := range p.s.Leases.Live {
			keys = append(keys, l.ID)
		}
	case Sessions:
		for _, r := range tree(p.s.Sessions, p.room()) {
			keys = append(keys, r.key())
		}
	}
	return keys
}

// at returns the index of the selected row of a panel. A selection that is
// gone counts as the first row.
func (p *picture) at(panel Panel) int {
	if p.v.Focus != panel || p.v.Selected == "" {
		return 0
	}
	for i, k := range p.keys(panel) {
		if k == p.v.Selected {
			return i
		}
	}
	return 0
}
