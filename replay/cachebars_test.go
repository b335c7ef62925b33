package replay

import (
	"os"
	"testing"
	"time"

	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/route"
)

// What a router gets from engines that evict by LRU, with 0.6 of the memory that
// sessions want: touching idle sessions costs next to nothing and nobody
// anything, a host tier is worth more, and leased sessions gain by one that is
// theirs without the others waiting much longer. docs/cache.md has all sizes and
// three seeds; DYN_REPLAY_FULL=1 plays a cell of it, else a third as long.
func TestCacheBars(t *testing.T) {
	tr := public(t, claudeCode)
	profile, err := fleet.FindProfile("fast, 4xH100")
	if err != nil {
		t.Fatal(err)
	}
	c := Config{
		Strategy: "dyn", Profile: profile, Seed: 1, Workers: 2, Sessions: 64, KV: int(0.6 * 32 * 66_000), Lag: usualLag,
		Ramp: 5 * time.Minute, Warm: 15 * time.Minute, Measure: 15 * time.Minute, MaxPause: 30 * time.Minute, Gate: route.Open,
	}
	if os.Getenv("DYN_REPLAY_FULL") != "" {
		c.Workers, c.Sessions, c.Ramp, c.Warm, c.Measure = 4, 128, 20*time.Minute, 40*time.Minute, 50*time.Minute
	}
	lru := run(t, tr, c)
	play := func(name string, change func(*Config)) *Result {
		of := c
		change(&of)
		r := run(t, tr, of)
		t.Logf("%s: %+.2f points over %.3f, TTFT %.0f ms (leased %.0f, others %.0f; LRU %.0f), %d touches", name, 100*(r.Hit-lru.Hit), lru.Hit,
			r.TTFTMean, r.Leased.TTFTMean, r.Unleased.TTFTMean, lru.TTFTMean, r.Touches)
		return r
	}
	touched := play("re-touch", func(c *Config) { c.Touch = &Touch{Budget: route.RetouchAll} })
	if net := touched.Hit - float64(touched.Charged)/float64(touched.Prompt); net < lru.Hit-0.006 || touched.Touches == 0 || touched.Charged > touched.Touched/50 {
		t.Errorf("re-touch: hit %.4f less %d computed of %d touched; LRU %.4f", touched.Hit, touched.Charged, touched.Touched, lru.Hit)
	}
	if back := play("host, written back", func(c *Config) { c.Host = &Host{Times: 1, Saving: fleet.WriteBack} }); back.Hit < lru.Hit+0.015 || back.TTFTMean >= lru.TTFTMean {
		t.Errorf("host tier written back: hit %.4f, LRU %.4f", back.Hit, lru.Hit)
	}
	own := play("host, leased only", func(c *Config) { c.Host, c.Leased = &Host{Times: 1, Saving: fleet.SaveAsked}, 0.5 })
	if own.Leased.TTFTMean >= lru.TTFTMean || own.Unleased.TTFTMean > 1.2*lru.TTFTMean {
		t.Errorf("host tier of leased sessions: TTFT %.0f ms, others %.0f, LRU %.0f", own.Leased.TTFTMean, own.Unleased.TTFTMean, lru.TTFTMean)
	}
}
