package route

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// thompson is the bandit of NVIDIA's NeMo Agent Toolkit: it learns from what
// its choices brought which worker suits which turns. A score is drawn from
// what is believed,
//
//	(linear(x) + explore·arm + stay − move) · load
//
// and a worker is drawn by the scores, softly. x are features, linear is a
// regression for each worker, arm a beta distribution for each worker and
// prefix pattern (system prompt and tools, which tell one kind of agent from
// another). stay is for the home of the session, more with a longer overlap,
// move against all others; load is 1 / (1 + what is busy there). A turn's
// reward is 1 / (1 + its time per token over the usual one of that worker),
// 0 when it was lost.
//
// Of the toolkit's hints there are none here but the output's length: how
// often a prefix comes again is the knob reuse, the pause between two is taken
// for medium. A turn whose outcome never comes teaches nothing.
//
// Defaults and features: NeMo-Agent-Toolkit, external/dynamo.
type thompson struct {
	k     Knobs
	arms  map[armKey]*arm
	lines map[string]*linear // by worker
	usual map[string]float64 // ms per token, by worker and kind of turn, by worker, and ""
	tried trials
	clock uint64 // outcomes so far
}

var thompsonKnobs = Knobs{
	"explore": 0.10, "temperature": 1, "reuse": 4,
	"stay": 0.30, "stay_reuse": 0.15, "stay_pause": 0.20, "stay_floor": 0.70,
	"move": 0.20, "move_reuse": 0.08, "move_pause": 0.05,
	"queue": 0.50, "kv": 1.00, "work": 0.45, "job_kv": 0.40, "job_queue": 0.20,
	"lambda": 1, "deviation": 0.25, "forget": 0.995, "smooth": 0.2,
}

// Limits of what is remembered.
const (
	mostArms   = 4096
	mostTrials = 4096
)

type armKey struct {
	worker string
	prefix uint64
}

// arm is how often a choice did well; wins and losses come in fractions.
type arm struct {
	won, lost float64
	used      uint64 // the clock at its last outcome
}

// pause is the toolkit's factor for a medium time between two requests.
const pause = 1.0

func newThompson(k Knobs) Strategy {
	return &thompson{k: k, arms: map[armKey]*arm{}, lines: map[string]*linear{}, usual: map[string]float64{}}
}

// Pick is of Strategy. What it chose is kept until the turn's outcome comes;
// what is believed does not change.
func (t *thompson) Pick(n Need, cs []Candidate) Decision {
	d := survey(&n, cs)
	xs := make(map[string][features]float64, len(cs))
	for i := range cs {
		p := &d.Parts[i]
		xs[p.Worker] = t.describe(&n, &cs[i], p)
		t.score(&n, &cs[i], p, xs[p.Worker])
	}
	width := min(max(t.k["temperature"]/(1+t.k["reuse"]*pause), 0.15), 2)
	best := d.soft(width, unit(salted(&n)))
	if best == nil {
		return d
	}
	d.choose(best, Drawn)
	t.tried.add(n.Turn, trial{worker: best.Worker, prefix: n.Prefix, x: xs[best.Worker], kind: kindOf(&n, best)})
	return d
}

// describe makes a choice's features.
func (t *thompson) describe(n *Need, c *Candidate, p *Part) [features]float64 {
	home := 0.0
	if n.Home == p.Worker {
		home = 1
	}
	return [features]float64{
		1,
		1 / (1 + used(c) + unstarted(c)),
		float64(p.Overlap) / float64(max(n.Prompt, 1)),
		home,
		math.Tanh(0.1 * work(p)),
		float64(length(n)) / 3,
		math.Tanh(job(p)),
		pause / 1.5,
		math.Tanh(0.25 * t.k["reuse"]),
	}
}

// score sets what a choice costs, and of what that is made.
func (t *thompson) score(n *Need, c *Candidate, p *Part, x [features]float64) {
	r := rand.New(rand.NewPCG(salted(n), lot(1, p.Worker)))
	mean, deviation := 0.0, 1.0
	if l := t.lines[p.Worker]; l != nil {
		if m, s, ok := l.guess(x); ok {
			mean, deviation = m, s
		}
	}
	believed := mean + t.k["deviation"]*deviation*r.NormFloat64()
	var a arm
	if have := t.arms[armKey{p.Worker, n.Prefix}]; have != nil {
		a = *have
	}
	tried := t.k["explore"] * beta(r, a.won, a.lost)
	load := 1 / (1 + used(c)*(t.k["kv"]+t.k["job_kv"]*x[6]) + unstarted(c)*(t.k["queue"]+t.k["job_queue"]*x[6]) + t.k["work"]*x[4])
	bond := 0.0
	switch {
	case n.Home == p.Worker:
		bond = (t.k["stay"] + t.k["stay_reuse"]*t.k["reuse"] + t.k["stay_pause"]*pause) * (0.5 + 0.5*x[2])
		load = max(load, t.k["stay_floor"])
	case n.Home != "":
		bond = -(t.k["move"] + t.k["move_reuse"]*t.k["reuse"] + t.k["move_pause"]*pause)
	}
	p.term("believed", believed)
	p.term("tried", tried)
	p.term("home", bond)
	p.term("load", load)
	p.Cost = -(believed + tried + bond) * load
}

// work is what a worker has to do: turns, and prompts in units of 1,024 tokens.
func work(p *Part) float64 { return float64(p.InFlight) + float64(p.Pending)/1024 }

// job is what the turn would bring.
func job(p *Part) float64 { return float64(p.New) / 1024 }

// length is the class of the answer's expected length: 1 up to 128 tokens, 2
// up to 512 and where it is unknown, 3 above.
func length(n *Need) int {
	switch {
	case n.Output > 512:
		return 3
	case n.Output > 128, !(n.Output > 0):
		return 2
	}
	return 1
}

// kindOf names what turns are compared with for their usual time: the answer's
// class and the prompt's part that is computed, by powers of eight.
func kindOf(n *Need, p *Part) string {
	return fmt.Sprintf("%d/%d", length(n), int(math.Log2(float64(p.New))/3))
}
