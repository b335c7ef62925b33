package trace

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// made are the loads of published comparisons, by name. They are made, not
// recorded, and the same each time.
var made = map[string]func() *Trace{
	"llm-d-73": func() *Trace {
		return Groups{Groups: 150, Prompts: 5, System: 6000, Question: 1200, Output: 1000, Stages: LLMD(1)}.Trace()
	},
	"llm-d-37": func() *Trace {
		return Groups{Groups: 83, Prompts: 3, System: 8000, Question: 1000, Output: 1000, Stages: LLMD(4)}.Trace()
	},
	"react": func() *Trace {
		return React{Sessions: 400, Shared: 6000, Steps: 6, New: 60, Output: 150}.Trace()
	},
}

// MadeNames lists the names of Make.
func MadeNames() []string {
	var names []string
	for n := range made {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Make makes the load of a published comparison:
//
//   - llm-d-73, llm-d-37: groups of prompts with a system prompt each, at rates
//     that rise by stages (llm-d-kv-cache, benchmarking/73-capacity and
//     37-capacity); a stage begins when the one before has drained.
//   - react: agents with one shared prefix and few steps with pauses (the
//     comparison on two RTX 4090 published on Habr).
func Make(name string) (*Trace, error) {
	f := made[name]
	if f == nil {
		return nil, fmt.Errorf("no load %q is made; there are %s", name, strings.Join(MadeNames(), ", "))
	}
	t := f()
	t.Name = name
	return t, nil
}

// Stage is a time with a rate of requests.
type Stage struct {
	Rate float64 // a second
	For  time.Duration
}

// LLMD are rates from 3 to 60 a second, divided. llm-d publishes the range and
// that stages take 20 to 50 s.
func LLMD(by float64) (stages []Stage) {
	for _, s := range []struct{ rate, seconds float64 }{
		{3, 50},
		{10, 20},
		{15, 20},
		{20, 38},
		{22, 34},
		{25, 30},
		{30, 25},
		{35, 21},
		{40, 38},
		{43, 36},
		{46, 33},
		{49, 30},
		{52, 29},
		{55, 27},
		{57, 26},
		{60, 25},
	} {
		stages = append(stages, Stage{s.rate / by, time.Duration(s.seconds * float64(time.Second))})
	}
	return stages
}

// Groups are prompts that share a system prompt within their group. Each
// request draws one of them; all come as a Poisson process.
type Groups struct {
	Groups, Prompts          int
	System, Question, Output int // tokens
	Stages                   []Stage
}

// StageGap is the time from one stage's end to the next one's begin: longer than
// any takes to drain, so that each is measured alone.
const StageGap = time.Hour

// groupBlock is the tokens of a content.
const groupBlock = 16

// Trace draws the requests.
func (g Groups) Trace() *Trace {
	t := &Trace{Format: "made", Block: groupBlock, Timed: true}
	rng := rand.New(rand.NewPCG(1, 2))
	begin := time.Duration(0)
	for n, s := range g.Stages {
		at := begin
		for {
			at += time.Duration(rng.ExpFloat64() / s.Rate * float64(time.Second))
			if at > begin+s.For {
				break
			}
			group, prompt := rng.IntN(g.Groups), rng.IntN(g.Prompts)
			t.Sessions = append(t.Sessions, Session{
				ID: fmt.Sprintf("s%d-%d", n, len(t.Sessions)), At: at, Prefix: uint64(group + 1), Shared: g.System,
				Turns: []Turn{{Prompt: g.System + g.Question, Output: g.Output, Runs: g.runs(group, prompt)}},
			})
		}
		begin += s.For + StageGap
	}
	return t
}

// runs are the contents of a prompt of a group.
func (g Groups) runs(group, prompt int) []Run {
	system := g.System / groupBlock
	all := (g.System + g.Question) / groupBlock
	own := uint64(group*g.Prompts+prompt+1)<<24 | 1<<60
	return []Run{{Common | uint64(group+1)<<24, system}, {Common | own, all - system}}
}

// React are agents that think and act in steps: each adds new tokens to what
// was there, and a pause of 2 to 30 s passes before it.
type React struct {
	Sessions, Shared, Steps, New, Output int
}

// Trace draws the sessions.
func (r React) Trace() *Trace {
	t := &Trace{Format: "made", Block: groupBlock, Paused: true}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range r.Sessions {
		s := Session{ID: fmt.Sprintf("s%d", i), Prefix: 1, Shared: r.Shared}
		shared, own, had := r.Shared/groupBlock, uint64(i+1)<<32, 0
		for step := range r.Steps {
			u := Turn{Prompt: r.Shared + r.New*(step+1) + r.Output*step, Output: r.Output, Keep: had}
			if step == 0 {
				u.Runs = []Run{{Common | 1<<24, shared}}
			} else {
				u.Pause = time.Duration((2 + 28*rng.Float64()) * float64(time.Second))
			}
			at := max(had, shared)
			if n := u.Prompt/groupBlock - at; n > 0 {
				u.Runs = append(u.Runs, Run{own + uint64(at), n})
			}
			had = u.Len()
			s.Turns = append(s.Turns, u)
		}
		t.Sessions = append(t.Sessions, s)
	}
	return t
}
