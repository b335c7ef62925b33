package tui

import (
	"fmt"
	"sort"
	"strings"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// bands returns the queue's rows, the first to be served first.
func (p *picture) bands() []snapshot.Band {
	all := append([]snapshot.Band(nil), p.s.Queue.Bands...)
	sort.SliceStable(all, func(i, j int) bool {
		a, b := all[i], all[j]
		if a.Strict != b.Strict {
			return a.Strict > b.Strict
		}
		return a.Class < b.Class
	})
	return all
}

// queuePanel draws the turns without a first token, by band and class.
func (p *picture) queuePanel(width, height int) []line {
	type row = snapshot.Band
	bands := p.bands()
	most := 1
	for _, x := range bands {
		most = max(most, x.Waiting+x.Prefill)
	}
	t := newTable(p.brush, width-2, []column[row]{
		col("", 9, 200, left, 0, func(r row, n int) line { return p.bandBar(r, n, most) }),
		col("WAIT", 4, 4, right, 0, func(r row, n int) line { return say(p.count(float64(r.Waiting)), waits(r.Waiting)) }),
		col("PRE", 3, 4, right, 0, func(r row, n int) line {
			if r.Class == heldClass {
				return blank(1)
			}
			return say(p.count(float64(r.Prefill)), plain)
		}),
		col("OLD", 5, 6, right, 1, func(r row, n int) line { return say(p.oldest(r), plain) }),
	})
	x := box{panel: Queue, title: "queue", heads: t.heads(), width: width, height: height}
	at := p.at(Queue)
	held := p.heldRows()
	if len(bands)+len(held) > height-2 {
		held = nil // the foot says it
	}
	from, to := window(len(bands), height-2-len(held), at)
	for i := from; i < to; i++ {
		l := t.row(bands[i])
		if p.v.Focus == Queue && i == at {
			l = p.pick(l)
		}
		x.rows = append(x.rows, l)
	}
	for _, r := range held {
		x.rows = append(x.rows, t.row(r))
	}
	if len(bands) == 0 {
		x.rows = []line{say(" nothing waits", muted)}
	}
	x.foot = p.queueFoot(len(bands)-(to-from), p.s.Queue.Held*(1-len(held)))
	return p.draw(x)
}

// heldClass names the row of the turns that the gate holds: they wait for memory,
// not for a worker.
const heldClass = "held"

// heldRows is that row, where there are any. They are counted in their bands,
// too.
func (p *picture) heldRows() []snapshot.Band {
	if q := p.s.Queue; q.Held > 0 {
		return []snapshot.Band{{Class: heldClass, Waiting: q.Held, OldestMS: q.HeldMS}}
	}
	return nil
}

// waits is the meaning of a number of turns that wait.
func waits(n int) meaning {
	if n > 0 {
		return warn
	}
	return plain
}

// oldest is the longest wait of a band, unknown when none waits.
func (p *picture) oldest(x snapshot.Band) string {
	if x.Waiting == 0 && x.OldestMS <= 0 {
		return p.g.unknown
	}
	return p.millis(x.OldestMS)
}

// bandBar names a band and draws what waits and what is being prefilled.
func (p *picture) bandBar(x snapshot.Band, n, most int) line {
	if x.Class == heldClass {
		if n >= len(heldClass)+len(" for memory") {
			return p.fit(say(heldClass+" for memory", warn), n, left)
		}
		return p.fit(say(heldClass, warn), n, left)
	}
	name := p.clean(x.Class)
	if x.Strict != 0 {
		name = fmt.Sprintf("%+d %s", x.Strict, name)
	}
	word := 2
	for _, o := range p.s.Queue.Bands {
		if o.Strict != 0 {
			word = 6
		}
	}
	if n >= 26 {
		name, word = name+" "+className(x.Class), word+11
	}
	l := p.fit(say(name, plain), word, left)
	if room := n - word - 1; room >= 2 {
		whole := float64(most)
		wait, pre := float64(x.Waiting)/whole, float64(x.Prefill)/whole
		bar := p.twoBars(wait, pre, room, warn)
		bar[2].s = strings.Repeat(" ", width(bar[2].s))
		l = join(l, blank(1), bar)
	}
	return l
}

// className is a class in words.
func className(class string) string {
	switch class {
	case "P0":
		return "agent turn"
	case "P1":
		return "subagent"
	case "P2":
		return "batch"
	}
	return ""
}

// queueFoot sums the queue; hidden is the number of bands that had no room, held
// that of turns held, where they had none.
func (p *picture) queueFoot(hidden, held int) []string {
	q := p.s.Queue
	words := []string{fmt.Sprintf("%d wait %d prefill", q.Waiting, q.Prefill)}
	if q.Waiting+q.Prefill == 0 {
		words = nil
	}
	if held > 0 {
		words = append(words, p.count(float64(held))+" held")
	}
	if hidden > 0 {
		words = append(words, fmt.Sprintf("%d not shown", hidden))
	}
	if q.Waiting > 0 {
		words = append(words, "oldest "+p.millis(q.OldestMS))
	}
	if q.Rejected > 0 {
		words = append(words, p.count(float64(q.Rejected))+" rejected")
	}
	if q.Canceled > 0 {
		words = append(words, p.count(float64(q.Canceled))+" canceled")
	}
	return words
}
