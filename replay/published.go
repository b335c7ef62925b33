package replay

import (
	"context"
	"slices"
	"time"

	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
)

// Published is a comparison that others published, to be made again.
type Published struct {
	Name    string
	Load    trace.Groups
	Workers int
	Profile fleet.Profile
	Rules   []PublishedRule
}

// PublishedRule is a router of such a comparison, with what was published of it.
type PublishedRule struct {
	Name     string
	Strategy string
	Assume   int     // see Config
	Rate     float64 // output tokens/s
	Mean     float64 // s to the first token
	P90      float64 // s; 0 was not published
	At20     float64 // output tokens/s at 20 requests/s; 0 was not published
}

// LLMD are llm-d's comparisons of its precise and its estimating prefix
// scorer with random and load-aware placement (llm-d-kv-cache,
// benchmarking/73-capacity and 37-capacity). The engines of the first are the
// dearer end of what their profile leaves open; slots are vLLM's.
func LLMD() []Published {
	qwen, _ := fleet.FindProfile("Qwen3-32B, 2xH100")
	qwen.Step, qwen.Context, qwen.Slots = 12, 5.6e-5, 1024
	llama, _ := fleet.FindProfile("Llama-70B, 4xH100")
	llama.Slots = 1024
	const estimated = 31250 // blocks that the estimating scorer remembers of a worker
	a1 := trace.Groups{Groups: 150, Prompts: 5, System: 6000, Question: 1200, Output: 1000, Stages: trace.LLMD(1)}
	a2 := trace.Groups{Groups: 83, Prompts: 3, System: 8000, Question: 1000, Output: 1000, Stages: trace.LLMD(4)}
	return []Published{
		{"llm-d, 73 % of capacity", a1, 8, qwen, []PublishedRule{
			{"precise 3:2:2", "kv-load", 0, 8730, 0.30, 0.54, 9185},
			{"estimated 1:1:1", "kv-load:prefix=1:kv=1:queue=1", estimated, 6944, 13.3, 31.1, 8083},
			{"random", "random", 0, 4429, 45.3, 92.6, 4933},
			{"load", "kv-load:prefix=0", 0, 4266, 47.0, 94.9, 4903},
		}},
		{"llm-d, 37 % of capacity", a2, 4, llama, []PublishedRule{
			{"precise 3:2:2", "kv-load", 0, 5650, 0.19, 0, 0},
			{"estimated 1:1:1", "kv-load:prefix=1:kv=1:queue=1", estimated, 5096, 1.55, 0, 0},
			{"random", "random", 0, 2895, 42.0, 0, 0},
			{"load", "kv-load:prefix=0", 0, 3018, 41.1, 0, 0},
		}},
	}
}

// Staged is what came of a load in stages.
type Staged struct {
	Rate   float64   // output tokens/s while stages run and drain
	Stages []float64 // of each
	Mean   float64   // s to the first token
	P90    float64
	Hit    float64
}

// Play plays one router of a comparison.
func (p *Published) Play(ctx context.Context, r PublishedRule) (Staged, error) {
	var out Staged
	ends := make([]time.Duration, len(p.Load.Stages))
	tokens := make([]float64, len(p.Load.Stages))
	begin := make([]time.Duration, len(p.Load.Stages))
	for i := 1; i < len(begin); i++ {
		begin[i] = begin[i-1] + p.Load.Stages[i-1].For + trace.StageGap
	}
	var ttft []time.Duration
	prompt, cached := 0, 0
	c := Config{
		Strategy: r.Strategy, Workers: p.Workers, Profile: p.Profile, Open: true, Assume: r.Assume, Lag: 2 * time.Millisecond,
		Each: func(d Done) {
			i, found := slices.BinarySearch(begin, d.Arrived)
			if !found {
				i--
			}
			ends[i] = max(ends[i], d.Ended)
			tokens[i] += float64(d.Output)
			ttft = append(ttft, d.First-d.Arrived)
			prompt, cached = prompt+d.Prompt, cached+d.Cached
		},
	}
	if _, err := Run(ctx, p.Load.Trace(), c); err != nil {
		return out, err
	}
	all, span := 0.0, 0.0
	for i := range begin {
		s := (ends[i] - begin[i]).Seconds()
		out.Stages = append(out.Stages, tokens[i]/max(s, 1e-9))
		all, span = all+tokens[i], span+max(s, 0)
	}
	slices.Sort(ttft)
	out.Rate, out.Hit = all/max(span, 1e-9), float64(cached)/float64(max(prompt, 1))
	if len(ttft) > 0 {
		sum := time.Duration(0)
		for _, x := range ttft {
			sum += x
		}
		out.Mean = sum.Seconds() / float64(len(ttft))
		out.P90 = quantile(ttft, .9).Seconds()
	}
	return out, nil
}

// ReAct is the set-up of the comparison on two RTX 4090, for the load "react"
// of package trace. What the KV cache of one holds was not published; it lies
// between 27 and 40 k tokens.
func ReAct(sessions int) Config {
	m, _ := fleet.FindProfile("Qwen3-14B-FP8, 4090")
	return Config{Workers: 2, Profile: m, KV: reactKV, Block: 16, Sessions: sessions, Measure: 10 * time.Minute, Warm: time.Minute, Lag: 2 * time.Millisecond}
}

const reactKV = 33_000
