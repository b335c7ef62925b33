package replay

import (
	"cmp"
	"context"
	"math"
	"sync"

	"github.com/agentinfer/dyn/replay/trace"
)

// Compare makes all runs, so many at a time, and returns their results in the
// order of the configs. each, if not nil, is called with every result as it
// comes, one call at a time. The first error ends all; the results of the runs
// that were done by then come with it, nil in the places of the others.
func Compare(ctx context.Context, t *trace.Trace, runs []Config, parallel int, each func(int, *Result)) ([]*Result, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	out := make([]*Result, len(runs))
	next := make(chan int)
	var mu sync.Mutex // guards calls of each
	var all sync.WaitGroup
	for range max(1, min(parallel, len(runs))) {
		all.Go(func() {
			for i := range next {
				r, err := Run(ctx, t, runs[i])
				if err != nil {
					stop(err)
					continue
				}
				mu.Lock()
				out[i] = r
				if each != nil {
					each(i, r)
				}
				mu.Unlock()
			}
		})
	}
	for i := range runs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	all.Wait()
	return out, context.Cause(ctx)
}

// Figure is a mean over seeds with half the width of its 95 % interval, -1
// where one seed says nothing of it.
type Figure struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"plus_minus"`
}

// Row sums up the runs of one strategy.
type Row struct {
	Strategy    string   `json:"strategy"`
	Seeds       []uint64 `json:"seeds"`
	Turns       Figure   `json:"turns"`
	PerSecond   Figure   `json:"turns_per_s"`
	OutputRate  Figure   `json:"output_tokens_per_s"`
	Hit         Figure   `json:"hit"`
	TTFTMean    Figure   `json:"ttft_mean_ms"`
	TTFT50      Figure   `json:"ttft_p50_ms"`
	TTFT90      Figure   `json:"ttft_p90_ms"`
	TTFT99      Figure   `json:"ttft_p99_ms"`
	TotalMean   Figure   `json:"total_mean_ms"`
	Moved       Figure   `json:"migrations"`
	Spread      Figure   `json:"spread"`
	Queued      Figure   `json:"queued"`
	Held        Figure   `json:"held"`
	Refused     Figure   `json:"refused"`
	Preempted   Figure   `json:"preempted"`
	EvictionAge Figure   `json:"eviction_age_s"`

	Failed  int    `json:"failed_decisions"` // of all seeds together: the default decided in the strategy's place
	Warning string `json:"warning"`          // why, the first time; "" where none failed
}

// Rows sums results up, a row for each strategy in the order of their coming.
// Those that are nil are passed by.
func Rows(results []*Result) []Row {
	rows := []Row{}
	of := map[string][]*Result{}
	for _, r := range results {
		if r == nil {
			continue
		}
		if of[r.Strategy] == nil {
			rows = append(rows, Row{Strategy: r.Strategy})
		}
		of[r.Strategy] = append(of[r.Strategy], r)
	}
	for i := range rows {
		rows[i].sum(of[rows[i].Strategy])
	}
	return rows
}

// sum fills a row.
func (w *Row) sum(rs []*Result) {
	for _, r := range rs {
		w.Seeds = append(w.Seeds, r.Seed)
		w.Failed += r.Failed
		w.Warning = cmp.Or(w.Warning, r.Warning)
	}
	for _, f := range []struct {
		to *Figure
		of func(*Result) float64
	}{
		{&w.Turns, func(r *Result) float64 { return float64(r.Turns) }},
		{&w.PerSecond, func(r *Result) float64 { return r.PerSecond }},
		{&w.OutputRate, func(r *Result) float64 { return r.OutputRate }},
		{&w.Hit, func(r *Result) float64 { return r.Hit }},
		{&w.TTFTMean, func(r *Result) float64 { return r.TTFTMean }},
		{&w.TTFT50, func(r *Result) float64 { return r.TTFT50 }},
		{&w.TTFT90, func(r *Result) float64 { return r.TTFT90 }},
		{&w.TTFT99, func(r *Result) float64 { return r.TTFT99 }},
		{&w.TotalMean, func(r *Result) float64 { return r.TotalMean }},
		{&w.Moved, func(r *Result) float64 { return float64(r.Moved) }},
		{&w.Spread, func(r *Result) float64 { return r.Spread }},
		{&w.Queued, func(r *Result) float64 { return float64(r.Queued) }},
		{&w.Held, func(r *Result) float64 { return float64(r.Held) }},
		{&w.Refused, func(r *Result) float64 { return float64(r.Refused) }},
		{&w.Preempted, func(r *Result) float64 { return float64(r.Preempted) }},
		{&w.EvictionAge, func(r *Result) float64 { return r.EvictionAge }},
	} {
		xs := make([]float64, len(rs))
		for i, r := range rs {
			xs[i] = f.of(r)
		}
		*f.to = Mean(xs)
	}
}

// student are the 97.5 % points of Student's t for 1, 2 … degrees of freedom.
var student = []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131}

// Mean is the mean of xs and its 95 % interval, by Student's t.
func Mean(xs []float64) Figure {
	n := len(xs)
	if n == 0 {
		return Figure{0, -1}
	}
	f := Figure{Half: -1}
	for _, x := range xs {
		f.Mean += x / float64(n)
	}
	if n == 1 {
		return f
	}
	sum := 0.0
	for _, x := range xs {
		sum += (x - f.Mean) * (x - f.Mean)
	}
	t := 1.96
	if n-2 < len(student) {
		t = student[n-2]
	}
	f.Half = t * math.Sqrt(sum/float64(n-1)/float64(n))
	return f
}
