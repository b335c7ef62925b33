package replay

import (
	"slices"
	"time"
)

// Result is what came out of a run. Times are of simulated time, but for Wall.
type Result struct {
	Strategy string `json:"strategy"`
	Seed     uint64 `json:"seed"`

	Turns       int     `json:"turns"` // counted
	PerSecond   float64 `json:"turns_per_s"`
	OutputRate  float64 `json:"output_tokens_per_s"`
	Hit         float64 `json:"hit"`
	TTFTMean    float64 `json:"ttft_mean_ms"`
	TTFT50      float64 `json:"ttft_p50_ms"`
	TTFT90      float64 `json:"ttft_p90_ms"`
	TTFT99      float64 `json:"ttft_p99_ms"`
	TotalMean   float64 `json:"total_mean_ms"`
	Moved       int     `json:"migrations"`
	Spread      float64 `json:"spread"` // of the workers' load: most over mean
	Queued      int     `json:"queued"`
	Held        int     `json:"held"` // by the gate
	Refused     int     `json:"refused"`
	Preempted   int     `json:"preempted"`
	EvictionAge float64 `json:"eviction_age_s"` // mean over workers; 0 where nothing was evicted

	Prompt   int64   `json:"prompt_tokens"`
	Leased   Group   `json:"leased"`
	Unleased Group   `json:"unleased"`
	Loaded   int64   `json:"loaded_tokens"`  // from host tiers, of the hit
	Touches  int     `json:"touches"`        // prompts asked for again, to keep them
	Touched  int64   `json:"touched_tokens"` // of those
	Charged  int64   `json:"touch_computed"` // of those that had to be computed
	Busy     float64 `json:"busy"`           // share of time that workers compute

	Failed  int    `json:"failed_decisions"` // the default decided in the strategy's place
	Warning string `json:"warning"`          // why, the first time; "" where none failed

	All  int     `json:"turns_played"` // with those not counted
	Wall float64 `json:"wall_s"`
}

// Group is what some of the sessions had.
type Group struct {
	Turns    int     `json:"turns"`
	Hit      float64 `json:"hit"`
	TTFTMean float64 `json:"ttft_mean_ms"`
	Kept     float64 `json:"kept"` // share of turns within five minutes of the last that found all of it; -1 of none
}

// tally counts as a run goes.
type tally struct {
	c         *Config
	ttft      []time.Duration
	sum       time.Duration
	total     time.Duration
	prompt    int64
	cached    int64
	output    int64
	load      []int64 // by worker
	moves     int
	queued    int
	held      int
	refused   int
	preempted int
	last      time.Duration
	loaded    int64
	groups    [2]group // without a lease, and with one
}

// group counts what some of the sessions have.
type group struct {
	turns, back, kept int
	prompt, cached    int64
	sum               time.Duration
}

func (t *tally) init(c *Config) {
	t.c = c
	t.load = make([]int64, c.Workers)
}

// counts reports whether now is in the window that counts.
func (t *tally) counts(now time.Duration) bool { return now > t.c.Warm || t.c.Warm == 0 }

func (t *tally) moved(now time.Duration) {
	if t.counts(now) {
		t.moves++
	}
}

// turn counts a turn that ended.
func (t *tally) turn(now time.Duration, p *play) {
	t.last = now
	if !t.counts(now) {
		return
	}
	r := p.req
	wait := r.First - p.arrived
	t.ttft = append(t.ttft, wait)
	t.sum += wait
	t.total += now - p.arrived
	t.prompt += int64(r.Prompt)
	t.cached += int64(r.Cached)
	t.output += int64(r.Output)
	t.preempted += r.Preempted
	t.loaded += int64(r.Loaded)
	t.groups[index(p.session.leased)].turn(p, wait)
	t.load[p.worker] += int64(r.Prompt - r.Cached + r.Output)
}

func index(leased bool) int {
	if leased {
		return 1
	}
	return 0
}

// turn counts a turn of the group.
func (g *group) turn(p *play, wait time.Duration) {
	g.turns++
	g.sum += wait
	g.prompt += int64(p.req.Prompt)
	g.cached += int64(p.req.Cached)
	if p.away >= 0 && p.away <= lease {
		g.back++
		if p.req.Cached >= p.due {
			g.kept++
		}
	}
}

// result sums a group up.
func (g *group) result() Group {
	r := Group{Turns: g.turns, Kept: -1}
	if g.turns > 0 {
		r.Hit, r.TTFTMean = float64(g.cached)/float64(max(g.prompt, 1)), ms(g.sum)/float64(g.turns)
	}
	if g.back > 0 {
		r.Kept = float64(g.kept) / float64(g.back)
	}
	return r
}

// result sums a run up.
func (s *sim) result(wall time.Duration) *Result {
	t := &s.tally
	n := len(t.ttft)
	r := &Result{
		Strategy: s.c.Strategy, Seed: s.c.Seed, Turns: n, Moved: t.moves, Queued: t.queued, Held: t.held, Refused: t.refused,
		Preempted: t.preempted, Failed: s.router.failed, Warning: s.router.warning, All: s.turns, Wall: wall.Seconds(),
	}
	if n == 0 {
		return r
	}
	span := (t.last - s.c.Warm).Seconds()
	if s.end > 0 {
		span = (s.end - s.c.Warm).Seconds()
	}
	slices.Sort(t.ttft)
	if span > 0 {
		r.PerSecond, r.OutputRate = float64(n)/span, float64(t.output)/span
	}
	r.Hit = float64(t.cached) / float64(max(t.prompt, 1))
	r.TTFTMean, r.TotalMean = ms(t.sum)/float64(n), ms(t.total)/float64(n)
	r.TTFT50, r.TTFT90, r.TTFT99 = ms(quantile(t.ttft, .5)), ms(quantile(t.ttft, .9)), ms(quantile(t.ttft, .99))
	var most, all int64
	for _, x := range t.load {
		most, all = max(most, x), all+x
	}
	if all > 0 {
		r.Spread = float64(most) * float64(len(t.load)) / float64(all)
	}
	r.Prompt, r.Loaded, r.Leased, r.Unleased = t.prompt, t.loaded, t.groups[1].result(), t.groups[0].result()
	r.Touches, r.Touched, r.Charged = s.touches.sent, s.touches.tokens, s.touches.computed
	for _, w := range s.workers {
		r.Busy += w.Busy.Seconds() / max(s.now.Seconds(), 1e-9) / float64(len(s.workers))
		r.EvictionAge += w.Pool().Age().Seconds() / float64(len(s.workers))
	}
	return r
}

// quantile is of sorted times.
func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)-1))]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
