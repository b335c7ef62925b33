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
			l.Hits, l.Queries = int64(all["cached_tokens_total"]), int64(all["prompt_tokens_total"])
			l.Work = int64(all["generation_tokens_total"] + all["prompt_tokens_total"])
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
		l.Running += int(r.Get("num_running_reqs").Int())
		l.Waiting += int(r.Get("num_waiting_reqs").Int())
		used += int(r.Get("num_used_tokens").Int())
		total += int(r.Get("max_total_num_tokens").Int())
		l.KVUsed += r.Get("token_usage").Num
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
