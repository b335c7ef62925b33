package tui

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/ledger/snapshot"
)

// gap is the difference of overlap and hit at which the index is wrong.
const gap = 0.10

// oldLoad is how old a worker's report may be, in seconds, before its row
// says so.
const oldLoad = 5

// workerColumns are the columns of the workers panel. Columns that are left
// out first have the lowest number: those of the design after what only wide
// windows show.
func (p *picture) workerColumns() []column[snapshot.Worker] {
	type w = snapshot.Worker
	word := func(f func(r w) string, m meaning) func(w, int) line {
		return func(r w, n int) line { return say(p.middle(p.clean(f(r)), n), m) }
	}
	fact := func(f func(r w) line) func(w, int) line {
		return func(r w, _ int) line { return f(r) }
	}
	name, most := 6, 9
	if p.v.Width >= 100 {
		most = 12
	}
	index := len("events")
	for _, r := range p.s.Workers {
		name = max(name, min(width(p.clean(r.Name)), most))
		index = max(index, min(width(p.clean(r.Index)), len("approximate")))
	}
	all := []column[w]{col("WORKER", name, 20, left, 0, word(func(r w) string { return r.Name }, plain))}
	if len(p.s.Models) > 1 {
		all = append(all, col("MODEL", 8, 24, left, 6, word(func(r w) string { return r.Model }, muted)))
	}
	if p.anyGPU() {
		all = append(all, col("GPU", 5, 9, left, 11, fact(func(r w) line { return say(p.gpus(r.GPUs), plain) })))
	}
	p95 := col("p95", 5, 5, right, 0, fact(func(r w) line { return say(p.quantile(r.TTFT, r.TTFT.P95), plain) }))
	p95.alone = "TTFT p95"
	return append(all,
		col("STATE", 9, 9, left, 0, fact(p.state)),
		col("RUN", 3, 4, right, 0, fact(func(r w) line { return p.load(r, r.Running) })),
		col("WAIT", 4, 5, right, 0, fact(func(r w) line { return p.load(r, r.Waiting) })),
		col("KV", 12, 21, left, 0, p.kv),
		col("OVERLAP", 7, 7, right, 0, fact(func(r w) line { return say(p.share(r.Overlap), pairMeaning(r)) })),
		col("HIT", 7, 7, right, 13, fact(p.hit)),
		col("TTFT p50", 8, 8, right, 12, fact(func(r w) line { return say(p.quantile(r.TTFT, r.TTFT.P50), plain) })),
		p95,
		col("TOK/S", 5, 6, right, 14, fact(func(r w) line { return say(p.rate(r.TPS), plain) })),
		col("SENT", 4, 5, right, 5, fact(func(r w) line { return say(p.count(float64(r.InFlight)), plain) })),
		col("INDEX", index, index, left, 4, p.index),
		col("PID", 7, 8, right, 3, fact(p.pid)),
		col("UP", 5, 6, right, 2, fact(func(r w) line { return say(p.ago(r.Since), muted) })),
		col("RESTARTS", 8, 8, right, 1, fact(func(r w) line { return say(strconv.Itoa(r.Restarts), plain) })),
		col("ENGINE", 11, 20, left, 1, word(func(r w) string { return r.Engine }, muted)),
	)
}

// workersPanel draws the workers.
func (p *picture) workersPanel(width, height int) []line {
	ws := p.s.Workers
	t := newTable(p.brush, width-2, p.workerColumns())
	x := box{panel: Workers, title: "workers", width: width, height: height}
	x.rows = append(x.rows, t.heads())
	at := p.at(Workers)
	from, to := window(len(ws), height-3, at)
	for i := from; i < to; i++ {
		l := t.row(ws[i])
		if why := p.trouble(ws[i]); why != "" {
			n := t.column("STATE") + 1
			l = p.fit(join(t.until(ws[i], n), p.whyWords(ws[i], why)), width-2, left)
		}
		if p.v.Focus == Workers && i == at {
			l = p.pick(l)
			x.foot = p.workerFoot(ws[i])
		}
		x.rows = append(x.rows, l)
	}
	if len(ws) == 0 {
		x.rows[0] = say(" no workers yet", muted)
	}
	ready := 0
	for _, w := range ws {
		if w.State == "ready" {
			ready++
		}
	}
	x.right = say(fmt.Sprintf("%d of %d ready", ready, len(ws)), muted)
	if ready < len(ws) {
		x.right = say(fmt.Sprintf("%s %d of %d ready", p.g.warn, ready, len(ws)), warn)
	}
	if cut := len(ws) - (to - from); cut > 0 {
		x.right = append(x.right, span{fmt.Sprintf(" %s %d not shown", p.g.dot, cut), muted})
	}
	return p.draw(x)
}

// state is a worker's state in a word: busy for a ready one whose turns wait,
// thrash for one that evicts what its sessions come back for.
func (p *picture) state(w snapshot.Worker) line {
	switch w.State {
	case "ready":
		if age := p.since(w.LoadAt); age > oldLoad {
			return say("stale "+p.seconds(age), muted)
		}
		if w.Thrash {
			return say(p.g.warn+" thrash", warn)
		}
		if w.Waiting > 0 {
			return say("busy", warn)
		}
		return say("ready", good)
	case "down":
		return say(p.g.warn+" down", bad)
	case "starting", "draining":
		return say(w.State, info)
	case "stopped":
		return say("stopped", muted)
	}
	return say(p.middle(p.clean(w.State), 9), plain)
}

// trouble says what stands in place of a worker's numbers, or "".
func (p *picture) trouble(w snapshot.Worker) string {
	if w.State == "draining" || w.Why == "" {
		return ""
	}
	return p.clean(w.Why)
}

// whyWords stand in place of the numbers of a worker that has none.
func (p *picture) whyWords(w snapshot.Worker, why string) line {
	words := []string{why}
	if up := p.ago(w.Since); up != p.g.unknown {
		words = append(words, up)
	}
	if w.Restarts > 0 {
		words = append(words, plural(w.Restarts, "restart", "restarts"))
	}
	m := muted
	if w.State == "down" {
		m = bad
	}
	return say(strings.Join(words, " "+p.g.dot+" "), m)
}

// load is a number that the engine reported, unknown when it never did.
func (p *picture) load(w snapshot.Worker, n int) line {
	if w.LoadAt.IsZero() {
		return say(p.g.unknown, muted)
	}
	m := plain
	if p.since(w.LoadAt) > oldLoad {
		m = muted
	}
	return say(p.count(float64(n)), m)
}

// kv is the share of the KV cache that running turns hold.
func (p *picture) kv(w snapshot.Worker, n int) line {
	if w.LoadAt.IsZero() {
		return say(p.g.unknown, muted)
	}
	return p.gauge(w.KVUsed, n)
}

// gauge is a bar with its percentage, in n cells.
func (p *picture) gauge(share float64, n int) line {
	m := good
	switch {
	case share >= 0.97:
		m = bad
	case share >= 0.85:
		m = warn
	}
	word := p.fit(say(p.percent(share, 0), m), 4, right)
	if n < 7 {
		return word
	}
	return join(p.bar(share, n-5, m), blank(1), word)
}

// parted reports whether overlap and hit differ so much that the index is
// wrong.
func parted(drift, overlap, hit *float64) bool {
	switch {
	case drift != nil:
		return math.Abs(*drift) >= gap-1e-9
	case overlap != nil && hit != nil:
		return math.Abs(*overlap-*hit) >= gap-1e-9
	}
	return false
}

// pairMeaning is what overlap and hit of a worker look like.
func pairMeaning(w snapshot.Worker) meaning {
	if parted(w.Drift, w.Overlap, w.Hit) {
		return warn
	}
	return plain
}

// hit is the share that the engine found cached, with the sign of a pair that
// parted in the last cell.
func (p *picture) hit(w snapshot.Worker) line {
	return p.marked(p.percent(optional(w.Hit), 1), pairMeaning(w))
}

// marked adds the warning sign to a word, or the space that it would take.
func (p *picture) marked(word string, m meaning) line {
	if m == warn {
		return say(word+p.g.warn, m)
	}
	return say(word+" ", m)
}

// quantile is a latency, unknown when nothing was measured.
func (p *picture) quantile(q snapshot.Quantiles, ms float64) string {
	if q.N == 0 {
		return p.g.unknown
	}
	return p.millis(ms)
}

func (p *picture) index(w snapshot.Worker, n int) line {
	if w.Index == "approximate" {
		return say(w.Index, warn)
	}
	return say(p.middle(p.clean(w.Index), n), muted)
}

func (p *picture) pid(w snapshot.Worker) line {
	if w.PID == 0 {
		return say(p.g.unknown, muted)
	}
	return say(strconv.Itoa(w.PID), muted)
}

// anyGPU reports whether a worker is known to run on a GPU.
func (p *picture) anyGPU() bool {
	for _, w := range p.s.Workers {
		if len(w.GPUs) > 0 {
			return true
		}
	}
	return false
}

// gpus writes 0,1 and, where they follow each other, 0-3.
func (p *picture) gpus(ids []int) string {
	if len(ids) == 0 {
		return p.g.unknown
	}
	if n := len(ids); n > 2 && ids[n-1]-ids[0] == n-1 {
		return fmt.Sprintf("%d-%d", ids[0], ids[n-1])
	}
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = strconv.Itoa(id)
	}
	return strings.Join(words, ",")
}

// workerFoot is what the lower edge tells of the selected worker.
func (p *picture) workerFoot(w snapshot.Worker) []string {
	words := []string{p.clean(w.Name), p.clean(w.URL)}
	if w.Attached {
		words = append(words, "attached")
	} else if w.PID != 0 {
		words = append(words, fmt.Sprintf("pid %d", w.PID))
	}
	if w.Engine != "" {
		words = append(words, p.clean(w.Engine))
	}
	if w.Path == "chat" {
		words = append(words, "by its chat API: "+p.clean(w.PathWhy))
	}
	words = append(words, fmt.Sprintf("overlap %s of %s tokens in %ds",
		p.count(float64(w.Predicted)), p.count(float64(w.Prompt)), w.WindowS))
	if w.AgeS != nil {
		words = append(words, "blocks go after "+p.seconds(*w.AgeS)+" unused")
	}
	if w.Resyncs > 0 {
		words = append(words, fmt.Sprintf("learnt anew %s, %s ago", plural(w.Resyncs, "time", "times"), p.ago(w.ResyncedAt)))
	}
	return words
}
