package replay

import (
	"os"
	"testing"
	"time"

	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
)

// played are the means over unseen seeds of one rule in one cell, with what the
// router is told wrong by a factor of three. DYN_REPLAY_FULL=1 plays five seeds
// for as long as docs/routing.md does, else two for a third of that.
func played(t *testing.T, tr *trace.Trace, rule string, sessions, workers int, lag time.Duration) Row {
	t.Helper()
	c := Config{Strategy: rule, Sessions: sessions, Workers: workers, KV: 1_000_000, Measure: 15 * time.Minute, Lag: lag}
	seeds := 2
	if os.Getenv("DYN_REPLAY_FULL") != "" {
		c.Measure, seeds = 45*time.Minute, 5
	}
	m := c.Fill(tr).Profile
	c.Believed = &route.Rates{Step: m.Step, Token: 3 * m.Token, Square: 3 * m.Square, Context: m.Context / 3}
	var rs []*Result
	for seed := range seeds {
		c.Seed = uint64(4 + seed) // 1 to 3 are those that constants were chosen by
		rs = append(rs, run(t, tr, c))
	}
	row := Rows(rs)[0]
	t.Logf("%d sessions, %d workers, %s, events %s late: %.3f turns/s, hit %.3f, TTFT mean %.2f s", sessions, workers, rule, lag,
		row.PerSecond.Mean, row.Hit.Mean, row.TTFTMean.Mean/1000)
	return row
}

const usualLag = 50 * time.Millisecond

// What dyn is for, as bars: against Dynamo's default, against LMetric where
// memory is nearly used up, and with events a second late.
func TestBars(t *testing.T) {
	tr := public(t, claudeCode)
	own := played(t, tr, "dyn", 96, 8, usualLag)
	for _, c := range []struct {
		rule       string
		rate, wait float64 // times as many turns, times as short a wait at least
	}{
		{"dynamo", 1.5, 5},
		{"lmetric", 0.98, 1.3},
	} {
		other := played(t, tr, c.rule, 96, 8, usualLag)
		rate, wait := own.PerSecond.Mean/other.PerSecond.Mean, other.TTFTMean.Mean/own.TTFTMean.Mean
		if rate < c.rate || wait < c.wait {
			t.Errorf("dyn has %.2f times the turns/s of %s, and %.2f times as short a wait; want %.2f and %.2f", rate, c.rule, wait, c.rate, c.wait)
		}
	}
	if late := played(t, tr, "dyn", 96, 8, time.Second); late.PerSecond.Mean < 0.95*own.PerSecond.Mean {
		t.Errorf("events a second late cost more than 5 %%: %.3f turns/s, %.3f with usual ones", late.PerSecond.Mean, own.PerSecond.Mean)
	}
}

// dyn is nowhere more than 2 % behind another rule, and ahead of Dynamo's
// default at 64 sessions too.
func TestBarsEverywhere(t *testing.T) {
	if os.Getenv("DYN_REPLAY_FULL") == "" {
		t.Skip("it takes minutes; set DYN_REPLAY_FULL=1")
	}
	tr := public(t, claudeCode)
	for _, cell := range [][2]int{{32, 8}, {64, 8}, {96, 8}, {128, 8}, {32, 2}, {64, 2}} {
		own := played(t, tr, "dyn", cell[0], cell[1], usualLag)
		for _, rule := range []string{"dynamo", "dynamo:prefill=256", "kv", "kv-load", "lmetric", "sglang", "sticky", "thompson", "least-loaded"} {
			other := played(t, tr, rule, cell[0], cell[1], usualLag)
			if own.PerSecond.Mean < 0.98*other.PerSecond.Mean {
				t.Errorf("%d sessions, %d workers: dyn %.3f turns/s, %s %.3f", cell[0], cell[1], own.PerSecond.Mean, rule, other.PerSecond.Mean)
			}
			if rule == "dynamo" && cell == [2]int{64, 8} && (own.PerSecond.Mean < 1.5*other.PerSecond.Mean || own.TTFTMean.Mean*5 > other.TTFTMean.Mean) {
				t.Errorf("64 sessions: dyn %.3f turns/s and %.0f ms, Dynamo's default %.3f and %.0f", own.PerSecond.Mean, own.TTFTMean.Mean, other.PerSecond.Mean, other.TTFTMean.Mean)
			}
		}
	}
}

// With 0.4 and 0.6 of the memory that sessions want, 66,000 tokens each, no seed
// stays in thrash where the gate is auto; without it some or all do.
// DYN_REPLAY_FULL=1 plays eight workers, else two.
func TestGateEndsThrash(t *testing.T) {
	tr := public(t, claudeCode)
	const each = 16 * 66_000 // tokens that the sessions of a worker want
	c := Config{Strategy: "dyn", Workers: 2, Ramp: 5 * time.Minute, Warm: 15 * time.Minute, Measure: 15 * time.Minute}
	seeds := uint64(2)
	if os.Getenv("DYN_REPLAY_FULL") != "" {
		c.Workers, c.Ramp, c.Warm, c.Measure = 8, 20*time.Minute, 40*time.Minute, 50*time.Minute
		seeds = 3
	}
	c.Sessions, c.MaxPause, c.Lag = 16*c.Workers, 30*time.Minute, usualLag
	for _, size := range []struct{ of, hit float64 }{{0.4, 0.65}, {0.6, 0.85}} {
		c.KV = int(size.of * each)
		for seed := range seeds {
			c.Seed, c.Gate = seed+1, route.Auto
			gated := run(t, tr, c)
			t.Logf("%.1f of the memory, seed %d: %.2f turns/s, hit %.3f, TTFT mean %.1f s, %d held", size.of, c.Seed, gated.PerSecond, gated.Hit, gated.TTFTMean/1000, gated.Held)
			if gated.Hit < size.hit {
				t.Errorf("%.1f of the memory, seed %d: hit %.3f, want %.2f", size.of, c.Seed, gated.Hit, size.hit)
			}
		}
	}
	c.KV, c.Seed, c.Gate = int(0.4*each), 1, route.Open
	if open := run(t, tr, c); open.Hit > 0.3 {
		t.Errorf("without a gate: hit %.3f; there is no thrash for it to end", open.Hit)
	}
}
