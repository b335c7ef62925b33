package tui

import (
	"fmt"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// latencyLines is the height of the latency panel without its box.
const latencyLines = 3

// latencyPanel draws latency and hit over the last minutes: three lines, in
// a box where there is room for one.
func (p *picture) latencyPanel(width, height int) []line {
	if height < latencyLines+2 {
		lines := make([]line, 0, latencyLines)
		for _, l := range p.latencyRows(width - 1) {
			lines = append(lines, p.fit(join(blank(1), l), width, left))
		}
		return lines[:min(height, len(lines))]
	}
	rows := p.latencyRows(width - 3)
	for i := range rows {
		rows[i] = join(blank(1), rows[i])
	}
	return p.draw(box{
		panel: Latency, title: "latency", width: width, height: height, rows: rows,
		right: say(p.latencyWindow(), muted),
	})
}

// latencyWindow says what the panel covers.
func (p *picture) latencyWindow() string {
	l := p.s.Latency
	w := p.seconds(float64(l.WindowS))
	if l.WindowS >= 60 && l.WindowS%60 == 0 {
		w = fmt.Sprintf("%dm", l.WindowS/60)
	}
	return fmt.Sprintf("last %s %s %s", w, p.g.dot, plural(l.TTFT.N, "turn", "turns"))
}

// latencyRows draws the three lines in n cells each.
func (p *picture) latencyRows(n int) []line {
	l, t := p.s.Latency, p.s.Totals
	ttft, hits := make([]float64, len(l.History)), make([]float64, len(l.History))
	for i, x := range l.History {
		ttft[i], hits[i] = x.TTFTP50, x.Hit
	}
	now := -1.0
	if len(hits) > 0 {
		now = hits[len(hits)-1]
	}
	hit := fmt.Sprintf("now %-6s all %-6s", p.percent(now, 1), p.percent(optional(t.Hit), 1))
	saved := fmt.Sprintf("%s of %s cached", p.count(float64(t.Cached)), p.count(float64(t.Prompt)))
	spark, top := p.spark(ttft, p.sparkRoom(n, 22))
	peak := fmt.Sprintf("top %s", p.millis(top))
	hitSpark, _ := p.spark(hits, p.sparkRoom(n, 22))
	return []line{
		p.latencyRow("TTFT", p.pair(l.TTFT), spark, peak, n),
		p.latencyRow("ITL ", p.pair(l.ITL), "", p.latencyWindow(), n),
		p.latencyRow("HIT ", hit, hitSpark, saved, n),
	}
}

// sparkRoom is what is left for a spark line between the words.
func (p *picture) sparkRoom(n, word int) int { return n - 5 - 21 - 1 - 1 - word }

// pair writes the two quantiles of a latency.
func (p *picture) pair(q snapshot.Quantiles) string {
	return fmt.Sprintf("p50 %-6s p95 %-6s", p.quantile(q, q.P50), p.quantile(q, q.P95))
}

// latencyRow puts a name, numbers, a spark line and a last word together.
func (p *picture) latencyRow(name, numbers, spark, word string, n int) line {
	l := join(say(name+" ", muted), p.fit(say(numbers, plain), 21, left), blank(1))
	if room := p.sparkRoom(n, 22); room > 0 {
		l = join(l, p.fit(say(spark, info), room, left), blank(1))
	}
	return p.fit(join(l, p.fit(say(word, muted), n-l.width(), left)), n, left)
}
