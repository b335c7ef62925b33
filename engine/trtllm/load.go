package trtllm

import (
	"context"
	"math"
	"time"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// metrics reads the page that return_perf_metrics opens. The server's other
// page, /metrics, is emptied by who reads it.
func (c *client) metrics(ctx context.Context) (map[string]float64, error) {
	page, err := c.server.Page(ctx, "/prometheus/metrics")
	if err != nil {
		return nil, err
	}
	return remote.Samples(page, "trtllm_"), nil
}

// Load reads the metrics page.
func (c *client) Load(ctx context.Context) (turn.Load, error) {
	all, err := c.metrics(ctx)
	if err != nil {
		return turn.Load{}, err
	}
	return readLoad(all, time.Now()), nil
}

func readLoad(all map[string]float64, now time.Time) turn.Load {
	l := turn.Load{
		At: now, Running: remote.Whole(all["num_requests_running"]), Waiting: remote.Whole(all["num_requests_waiting"]),
		KVUsed: min(max(all["kv_cache_utilization"], 0), 1),
		Hits:   int64(remote.Whole(all["prompt_cached_tokens_total"])), Queries: int64(remote.Whole(all["prompt_tokens_total"])),
		Work: int64(remote.Whole(all["generation_tokens_total"] + all["prompt_tokens_total"])),
	}
	block := all["kv_cache_tokens_per_block"]
	if total := remote.Whole(block * all["kv_cache_max_blocks"]); total > 0 {
		used := remote.Whole(math.Round(block * all["kv_cache_used_blocks"]))
		l.Tiers = []turn.Tier{{Name: "gpu", Used: used, Cached: -1, Capacity: total}}
	}
	return l
}
