package vllm

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"time"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// metrics is what is read of a server's metrics page. Values of several
// engines behind one page are added up.
type metrics struct {
	running, waiting float64
	kvUsage          float64
	hits, queries    float64
	work             float64 // tokens made and steps taken
	blockSize        int     // 0 when the page does not tell
	kvTokens         int     // of one engine: no prompt is in several

	engines, shares, caches int // of which the page tells what runs, how full they are, and their form
}

// Load reads the metrics page.
func (c *client) Load(ctx context.Context) (turn.Load, error) {
	m, err := c.metrics(ctx)
	if err != nil {
		return turn.Load{}, err
	}
	return m.load(time.Now()), nil
}

// load puts the figures in the words of the other rooms. One block of the
// cache is reserved and never used; the engine's share does not count it.
func (m metrics) load(now time.Time) turn.Load {
	m.kvUsage /= float64(max(m.shares, 1))
	l := turn.Load{
		At: now, Running: remote.Whole(m.running), Waiting: remote.Whole(m.waiting), KVUsed: min(max(m.kvUsage, 0), 1),
		Hits: int64(remote.Whole(m.hits)), Queries: int64(remote.Whole(m.queries)), Work: int64(remote.Whole(m.work)),
	}
	if m.kvTokens > 0 {
		usable := (m.kvTokens - m.blockSize) * m.caches
		l.Tiers = []turn.Tier{{
			Name: "gpu", Used: remote.Whole(math.Round(m.kvUsage * float64(usable))), Cached: -1, Capacity: m.kvTokens * m.caches,
		}}
	}
	return l
}

func (c *client) metrics(ctx context.Context) (metrics, error) {
	page, err := c.server.Page(ctx, "/metrics")
	if err != nil {
		return metrics{}, err
	}
	return readMetrics(page), nil
}

var prefix = []byte("vllm:")

// readMetrics reads a page line by line; most lines are not for us.
func readMetrics(page []byte) (m metrics) {
	for line := range bytes.Lines(page) {
		if line, ok := bytes.CutPrefix(line, prefix); ok {
			m.line(line)
		}
	}
	return m
}

// line reads "name{labels} value", without the prefix of the name.
func (m *metrics) line(line []byte) {
	end := bytes.IndexAny(line, "{ ")
	if end < 0 {
		return
	}
	var to *float64
	switch string(line[:end]) {
	case "num_requests_running":
		to = &m.running
		m.engines++
	case "num_requests_waiting":
		to = &m.waiting
	case "kv_cache_usage_perc", "gpu_cache_usage_perc":
		to = &m.kvUsage
		m.shares++
	case "prefix_cache_hits_total":
		to = &m.hits
	case "prefix_cache_queries_total":
		to = &m.queries
	case "generation_tokens_total", "iteration_tokens_total_count":
		to = &m.work
	case "cache_config_info":
		m.config(line)
		return
	default:
		return
	}
	if close := bytes.LastIndexByte(line, '}'); close > end {
		end = close + 1
	}
	value, _, _ := bytes.Cut(bytes.TrimSpace(line[end:]), []byte(" "))
	if v, err := strconv.ParseFloat(string(value), 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
		*to += v
	}
}

// config reads the labels that hold the cache's form.
func (m *metrics) config(line []byte) {
	m.caches++
	m.blockSize = label(line, "block_size")
	m.kvTokens = label(line, "kv_cache_size_tokens")
	if m.kvTokens == 0 {
		m.kvTokens = label(line, "num_gpu_blocks") * m.blockSize
	}
}

// label returns a label's whole number; 0 when there is none.
func label(line []byte, name string) int {
	for _, before := range []string{"{", ","} {
		_, rest, ok := bytes.Cut(line, []byte(before+name+`="`))
		if !ok {
			continue
		}
		value, _, _ := bytes.Cut(rest, []byte(`"`))
		n, _ := strconv.Atoi(string(value))  // "None" is 0
		return min(max(n, 0), math.MaxInt32) // so that a product of two is a number too
	}
	return 0
}
