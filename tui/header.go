package tui

import (
	"fmt"
	"math"
	"strings"
)

// part is a piece of the header. The highest rank leaves first for lack of
// room; rank 0 stays.
type part struct {
	l    line
	rank int
}

// header is the first line: who serves what, how well, and whether the
// picture is live.
func (p *picture) header() line {
	parts := []part{{say(" dyn top", accent), 0}}
	if p.s.V != 0 {
		parts = append(parts, p.headerParts()...)
	}
	end := p.liveMark()
	for {
		l := parts[0].l
		for _, x := range parts[1:] {
			if x.l.width() == 0 {
				continue
			}
			l = join(l, blank(2), x.l)
		}
		room := p.v.Width - end.width() - 1
		if l.width()+2 <= room || !shed(&parts) {
			return p.fit(join(p.fit(l, max(room-1, 0), left), blank(1), end, blank(1)), p.v.Width, left)
		}
	}
}

// shed drops the part with the highest rank and tells whether there was one.
func shed(parts *[]part) bool {
	worst := 0
	for i, x := range *parts {
		if x.rank > (*parts)[worst].rank {
			worst = i
		}
	}
	if (*parts)[worst].rank == 0 {
		return false
	}
	*parts = append((*parts)[:worst], (*parts)[worst+1:]...)
	return true
}

// headerParts are the facts of the header in their order.
func (p *picture) headerParts() []part {
	t := p.s.Totals
	ready := 0
	for _, w := range p.s.Workers {
		if w.State == "ready" {
			ready++
		}
	}
	workers := say(fmt.Sprintf("%dw", len(p.s.Workers)), plain)
	if ready < len(p.s.Workers) {
		workers = say(fmt.Sprintf("%d/%dw", ready, len(p.s.Workers)), warn)
	}
	hits := make([]float64, len(p.s.Latency.History))
	for i, x := range p.s.Latency.History {
		hits[i] = x.Hit
	}
	spark, _ := p.spark(hits, min(8, len(hits)))
	return []part{
		{say(p.modelNames(), plain), 3},
		{workers, 1},
		{join(say("hit ", muted), say(p.percent(optional(t.Hit), 1), plain)), 1},
		{say(spark, info), 6},
		{join(say(p.rate(t.RPS), plain), say(" turns/s", muted)), 4},
		{join(say(p.rate(t.TPS), plain), say(" tok/s", muted)), 2},
		{join(say("queue ", muted), say(p.count(float64(p.s.Queue.Depth)), waits(p.s.Queue.Waiting))), 3},
		{join(say("turns ", muted), say(p.count(float64(t.Turns)), plain)), 5},
		{join(say("up ", muted), say(p.ago(p.s.Daemon.Started), plain)), 5},
		{say(p.clean(p.s.Daemon.URL), muted), 7},
	}
}

// modelNames names the models that are served.
func (p *picture) modelNames() string {
	switch len(p.s.Models) {
	case 0:
		return "no model"
	case 1:
		return p.middle(p.clean(p.s.Models[0].ID), 28)
	}
	return fmt.Sprintf("%d models", len(p.s.Models))
}

// liveMark says how fresh the picture is.
func (p *picture) liveMark() line {
	switch {
	case p.v.Stale > 0:
		return say(fmt.Sprintf("%s stale %s %s retry %d", p.g.warn, p.seconds(p.v.Stale.Seconds()), p.g.dot, p.v.Retries), bad)
	case p.v.Paused:
		return say("paused", warn)
	case p.v.Live && p.s.V != 0:
		return line{{p.g.live, good}, {" " + p.every(), muted}}
	case p.v.Live && p.v.Retries > 0:
		return say(fmt.Sprintf("retry %d", p.v.Retries), muted)
	}
	return nil
}

// every is the period of the picture.
func (p *picture) every() string {
	s := p.v.Period.Seconds()
	if s <= 0 {
		s = 1
	}
	if s == math.Trunc(s) {
		return p.seconds(s)
	}
	return p.millis(s * 1000)
}

// troubleLine tells what is wrong, the worst first; nil when nothing is.
func (p *picture) troubleLine() line {
	words := p.troubles()
	if len(words) == 0 {
		return nil
	}
	l := say(" "+p.g.warn+" ", bad)
	for i, w := range words {
		if i > 0 {
			l = append(l, span{" " + p.g.dot + " ", muted})
		}
		l = append(l, w)
	}
	return p.fit(l, p.v.Width, left)
}

// troubles are the things that are wrong.
func (p *picture) troubles() []span {
	var all []span
	if p.v.Stale > 0 && p.v.Trouble != "" {
		all = append(all, span{p.clean(p.v.Trouble), bad})
	}
	if p.s.V == 0 {
		return all
	}
	switch d := p.s.Daemon.State; d {
	case "ready", "":
	case "no workers", "degraded":
		all = append(all, span{"daemon " + d, bad})
	default:
		all = append(all, span{"daemon " + p.clean(d), warn})
	}
	var down []string
	for _, w := range p.s.Workers {
		if w.State == "down" {
			down = append(down, p.clean(w.Name))
		}
	}
	if len(down) > 0 {
		if len(down) > 4 {
			down = append(down[:3], fmt.Sprintf("%d more", len(down)-3))
		}
		all = append(all, span{strings.Join(down, ", ") + " down", bad})
	}
	all = append(all, p.ledgerTrouble()...)
	for _, m := range p.s.Models {
		if m.Path == "chat" {
			all = append(all, span{p.clean(m.ID) + " on the chat path: " + p.clean(m.Why), warn})
		}
	}
	return all
}

// ledgerTrouble tells of rows that were lost and of what became of the file.
func (p *picture) ledgerTrouble() []span {
	l := p.s.Ledger
	if l.OK && l.Lost == 0 && l.Why == "" {
		return nil
	}
	m, w := warn, "ledger"
	if !l.OK {
		m, w = bad, "ledger not written"
	}
	if l.Lost > 0 {
		w += fmt.Sprintf(", %s lost", plural(int(l.Lost), "row", "rows"))
	}
	if l.Why != "" {
		w += ": " + p.clean(l.Why)
	}
	return []span{{w, m}}
}

// totals is the one line that is left in a small window: first what is wrong,
// then the sums.
func (p *picture) totals() line {
	l := say(" dyn", accent)
	if p.s.V == 0 {
		return join(l, say(" nothing runs: dyn up", plain))
	}
	if p.v.Stale > 0 {
		l = append(l, span{" " + p.g.warn + " stale " + p.seconds(p.v.Stale.Seconds()), bad})
	}
	ready, run, wait := 0, 0, 0
	for _, w := range p.s.Workers {
		if w.State == "ready" {
			ready++
		}
		run, wait = run+w.Running, wait+w.Waiting
	}
	if ready < len(p.s.Workers) {
		l = append(l, span{fmt.Sprintf(" %s %d/%dw", p.g.warn, ready, len(p.s.Workers)), bad})
	} else {
		l = append(l, span{fmt.Sprintf(" %dw", ready), plain})
	}
	if !p.s.Ledger.OK || p.s.Ledger.Lost > 0 {
		l = append(l, span{" " + p.g.warn + " ledger", bad})
	}
	l = append(l,
		span{fmt.Sprintf(" %d run %d wait", run, wait+p.s.Queue.Waiting), plain},
		span{" hit " + p.percent(optional(p.s.Totals.Hit), 1), plain},
		span{" " + p.rate(p.s.Totals.TPS) + " tok/s", plain},
		span{" ttft " + p.quantile(p.s.Latency.TTFT, p.s.Latency.TTFT.P50), plain})
	return l
}
