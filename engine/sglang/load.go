package sglang

import (
	"context"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// Load asks the scheduler itself: the gauges of the metrics page are set anew
// only once in a number of steps. What was found in the cache is counted there
// alone.
func (c *client) Load(ctx context.Context) (turn.Load, error) {
	b, err := c.server.Get(ctx, "/v1/loads?include=core,memory,queues")
	if err != nil {
		return turn.Load{}, err
	}
	l, err := readLoads(gjson.ParseBytes(b), time.Now())
	if err != nil {
		return l, err
	}
	if m := c.manner.Load(); m != nil && m.metrics {
		if page, err := c.server.Page(ctx, "/metrics"); err == nil {
			all := remote.Samples(page, "sglang:")
			l.Hits, l.Queries = int64(remote.Whole(all["cached_tokens_total"])), int64(remote.Whole(all["prompt_tokens_total"]))
			l.Work = int64(remote.Whole(all["generation_tokens_total"] + all["prompt_tokens_total"]))
		}
	}
	return l, nil
}

// readLoads adds up what the ranks report, in a list, or one alone.
func readLoads(root gjson.Result, now time.Time) (turn.Load, error) {
	l := turn.Load{At: now}
	list := []gjson.Result{root}
	switch {
	case root.Get("loads").IsArray():
		list = root.Get("loads").Array()
	case root.IsArray():
		list = root.Array()
	}
	used, total, ranks := 0, 0, 0
	for _, r := range list {
		if !r.Get("num_running_reqs").Exists() {
			continue
		}
		ranks++
		l.Running += remote.Count(r.Get("num_running_reqs"))
		l.Waiting += remote.Count(r.Get("num_waiting_reqs"))
		used += remote.Count(r.Get("num_used_tokens"))
		total += remote.Count(r.Get("max_total_num_tokens"))
		l.KVUsed += min(max(r.Get("token_usage").Num, 0), 1)
	}
	if ranks == 0 {
		return l, fmt.Errorf("/v1/loads tells of no rank: %w", turn.ErrLost)
	}
	l.KVUsed /= float64(ranks)
	if total > 0 {
		l.Tiers = []turn.Tier{{Name: "gpu", Used: used, Cached: -1, Capacity: total}}
	}
	return l, nil
}
