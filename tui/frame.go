package tui

import "github.com/agentinfer/dyn/ledger/snapshot"

// Frame draws one picture of a snapshot. It depends on its arguments only.
// Every line has exactly v.Width cells; there are v.Height of them (or as
// many as it takes, where that is 0), without a line break at the end. Below
// 60×16 it is one line of totals. The zero snapshot draws how to start.
func Frame(s snapshot.Snapshot, v View) string {
	p := newPicture(s, v)
	dim := plain
	if p.v.Stale > 0 {
		dim = muted
	}
	return paint(p.frame(), p.v.Color, dim)
}

// frame draws the lines of the picture.
func (p *picture) frame() []line {
	w, h := p.v.Width, p.v.Height
	if w < smallWidth || h > 0 && h < smallHeight {
		return []line{p.fit(p.totals(), w, left)}
	}
	if h == 0 {
		h = p.natural()
	}
	var lines []line
	lines = append(lines, p.header())
	if l := p.troubleLine(); l != nil {
		lines = append(lines, l)
	}
	foot := p.keyLine()
	body := h - len(lines) - len(foot)
	switch {
	case p.v.Help:
		lines = append(lines, p.help(w, body)...)
	case p.s.V == 0:
		lines = append(lines, p.start(w, body)...)
	case p.v.Explained != "":
		lines = append(lines, p.explanation(w, body)...)
	case p.v.Zoom != NoPanel:
		lines = append(lines, p.panel(p.v.Zoom, w, body)...)
	default:
		lines = append(lines, p.body(w, body)...)
	}
	return append(lines, foot...)
}

// free is how many lines there are between the header and the keys.
func (p *picture) free() int {
	h := p.v.Height - 1 - len(p.keyLine())
	if p.troubleLine() != nil {
		h--
	}
	return h
}

// body draws the panels that fit.
func (p *picture) body(w, h int) []line {
	x := p.arrange(w, h)
	var lines []line
	add := func(k Panel) {
		if x.shows(k) {
			lines = append(lines, p.panel(k, x.widths[k], x.heights[k])...)
		}
	}
	add(Workers)
	var middle [][]line
	for _, k := range []Panel{Queue, Leases, Tiers} {
		if x.shows(k) {
			middle = append(middle, p.panel(k, x.widths[k], x.heights[k]))
		}
	}
	lines = append(lines, beside(middle...)...)
	add(Sessions)
	add(Latency)
	for len(lines) < h {
		lines = append(lines, blank(w))
	}
	return lines
}

// panel draws one panel.
func (p *picture) panel(k Panel, w, h int) []line {
	switch k {
	case Workers:
		return p.workersPanel(w, h)
	case Queue:
		return p.queuePanel(w, h)
	case Leases:
		return p.leasesPanel(w, h)
	case Tiers:
		return p.tiersPanel(w, h)
	case Sessions:
		return p.sessionsPanel(w, h)
	}
	return p.latencyPanel(w, h)
}

// natural is the height at which no worker and no session is cut. The panels
// between them do not grow beyond what arrange gives them before it gives
// lines away that nobody needs.
func (p *picture) natural() int {
	h := 1 + 3 + len(p.s.Workers) + 2 + min(p.middleWant([]Panel{Queue, Leases, Tiers}), middleMost) +
		3 + len(tree(p.s.Sessions, maxRows)) + latencyLines + 2
	if p.troubleLine() != nil {
		h++
	}
	return max(h, 24)
}

// bodyHeight is the number of lines between header and keys.
func (p *picture) bodyHeight() int {
	h := p.v.Height - 1
	if p.v.Live {
		h-- // the keys
	}
	if p.troubleLine() != nil {
		h--
	}
	return h
}

// room is the number of rows that the sessions panel shows.
func (p *picture) room() int {
	if p.v.Height == 0 {
		return maxRows
	}
	if p.v.Zoom == Sessions {
		return p.bodyHeight() - 3
	}
	x := p.arrange(p.v.Width, p.bodyHeight())
	return x.heights[Sessions] - 3
}
