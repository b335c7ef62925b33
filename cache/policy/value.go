package policy

import (
	"time"

	"github.com/agentinfer/dyn/cache/pause"
	"github.com/agentinfer/dyn/cache/worth"
)

// value goes by what holding a run is expected to save (worth.Of): the chance
// that its line is back soon, as learnt from pauses up to now, times what it
// takes to compute a token of it again. Lines of which it was said that they
// ended are worth nothing. While its chances say less than their own mean would,
// it is LRU.
type value struct {
	scored
	pauses *pause.Estimator
	chance Chance
	since  int // pauses learnt since soon was made
	soon   [2][]float64
	checks [2][len(checkpoints)]check
	doubt  bool
}

// Chance is the probability that a line is back within some time that has been
// away for so long.
type Chance func(k pause.Key, away, within time.Duration) float64

// What counts as soon, and the steps in which the chance of it is looked up.
const (
	within    = 30 * time.Second
	waitStep  = 5 * time.Second
	waitSteps = 720 // an hour; what is idle for longer counts as idle for that
	relearn   = 256 // pauses after which chances are made anew
)

func newValue(int) Policy { return Value(nil) }

// Value is the policy value by other chances than those it learns; nil is by
// those.
func Value(c Chance) Policy {
	v := &value{pauses: pause.New(), chance: c, doubt: true}
	if c == nil {
		v.chance = v.pauses.Returns
	}
	v.learn()
	v.scored = v.score
	return v
}

// Returned learns a pause, and checks what was said of it.
func (v *value) Returned(human bool, away time.Duration) {
	kind := kindOf(human)
	for i, at := range checkpoints {
		if away >= at {
			v.checks[kind][i].add(v.soon[kind][at/waitStep], away <= at+within)
		}
	}
	v.pauses.Observe(pause.Key{Class: class(kind)}, away)
	if v.since++; v.since >= relearn {
		v.learn()
	}
}

// learn makes the chances anew, and judges those before.
func (v *value) learn() {
	v.since = 0
	said, mean, n := 0.0, 0.0, 0.0
	for kind := range v.soon {
		for _, c := range v.checks[kind] {
			said, mean, n = said+c.n*c.said, mean+c.n*c.base, n+c.n
		}
		v.soon[kind] = make([]float64, waitSteps)
		for j := range v.soon[kind] {
			v.soon[kind][j] = v.chance(pause.Key{Class: class(kind)}, time.Duration(j)*waitStep, within)
		}
	}
	v.doubt = n == 0 || said > mean*tolerance
}

// score is what a token of the run is worth.
func (v *value) score(r *Run, now time.Duration) float64 {
	if v.doubt {
		return lru(r, now)
	}
	kind := kindOf(r.Human)
	run := worth.Run{Class: worth.ToolWait, Depth: r.Depth, Tokens: r.Tokens, Return: v.soon[kind][min(int((now-r.Last)/waitStep), waitSteps-1)]}
	if r.Over {
		run.Class = worth.Finished
	}
	return worth.Of(run, worth.DefaultCost)
}

// checkpoints are the times away at which chances are compared with what came.
var checkpoints = [...]time.Duration{0, 30 * time.Second, 2 * time.Minute}

// tolerance is by how much chances may be worse than a mean that knows nothing
// of the time away.
const tolerance = 1.05

// check is how wrong chances were, and how wrong their own mean would have been:
// squared differences (Brier's score), of the last five hundred or so.
type check struct{ n, mean, said, base float64 }

func (c *check) add(chance float64, came bool) {
	x := 0.0
	if came {
		x = 1
	}
	c.n = min(c.n+1, 500)
	c.said += ((chance-x)*(chance-x) - c.said) / c.n
	c.base += ((c.mean-x)*(c.mean-x) - c.base) / c.n
	c.mean += (x - c.mean) / c.n
}

func kindOf(human bool) int {
	if human {
		return 1
	}
	return 0
}

func class(kind int) pause.Class { return [...]pause.Class{pause.Tool, pause.Human}[kind] }
