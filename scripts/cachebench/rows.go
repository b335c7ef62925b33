package main

import (
	"time"

	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/route"
)

// fleetOf is one of the two fleets that all rows are played on.
type fleetOf struct {
	name    string
	about   string
	profile string
	workers int
	each    int // sessions of a worker
}

var fleets = []fleetOf{
	{"F", "prefill eight times as fast, as of a few billion active parameters, 4 workers × 32 sessions", "fast, 4xH100", 4, 32},
	{"Q", "Qwen3-32B on two H100, 8 workers × 16 sessions", "Qwen3-32B, 2xH100", 8, 16},
}

// The simulated time of a run.
const (
	ramp    = 20 * time.Minute // in which sessions start
	warm    = 40 * time.Minute // that is not counted
	measure = 50 * time.Minute // that is
)

// wants is how many tokens a session wants to find on average, of this trace.
const wants = 66_000

// row is what is compared with LRU alone.
type row struct {
	name   string
	about  string // "" says enough
	change func(*replay.Config)
}

var rows = []row{
	{"LRU", "the engine evicts, dyn places", func(*replay.Config) {}},
	{"re-touch", "with the ends of sessions known, all leased, 90 % of what running turns leave", func(c *replay.Config) {
		c.Touch = &replay.Touch{Budget: route.RetouchAll}
	}},
	{"re-touch, blind", "the same without knowing ends", func(c *replay.Config) {
		c.Touch, c.Blind = &replay.Touch{Budget: route.RetouchAll}, true
	}},
	{"re-touch, a quarter leased", "30 % of the cache", func(c *replay.Config) {
		c.Touch, c.Leased = &replay.Touch{Budget: route.RetouchSome}, 0.25
	}},
	{"re-touch, leases of an hour", "as re-touch, where the others are of five minutes", func(c *replay.Config) {
		c.Touch = &replay.Touch{Budget: route.RetouchAll, TTL: time.Hour}
	}},
	{"gate auto", "cold turns wait where a worker thrashes", func(c *replay.Config) { c.Gate = route.Auto }},
	{"gate auto + re-touch", "", func(c *replay.Config) {
		c.Gate, c.Touch = route.Auto, &replay.Touch{Budget: route.RetouchAll}
	}},
	{"host 1×, write-back", "what is evicted is kept in host memory, as much as the GPU's", func(c *replay.Config) { c.Host = &replay.Host{Times: 1, Saving: fleet.WriteBack} }},
	{"host 1×, write-through", "every prompt is copied", func(c *replay.Config) { c.Host = &replay.Host{Times: 1, Saving: fleet.WriteThrough} }},
	{"host 3×, write-through", "", func(c *replay.Config) { c.Host = &replay.Host{Times: 3, Saving: fleet.WriteThrough} }},
	{"host 1×, leased only", "half of the sessions leased, theirs is copied", func(c *replay.Config) {
		c.Host, c.Leased = &replay.Host{Times: 1, Saving: fleet.SaveAsked}, 0.5
	}},
}

// config is one run of a row.
func (o *options) config(f fleetOf, r row, size float64, seed uint64) replay.Config {
	profile, err := fleet.FindProfile(f.profile)
	if err != nil {
		panic(err) // it is one of ours
	}
	c := replay.Config{
		Strategy: "dyn", Profile: profile, Seed: seed, Workers: f.workers, Sessions: f.workers * f.each, KV: int(size * wants * float64(f.each)),
		Ramp: o.scale(ramp), Warm: o.scale(warm), Measure: o.scale(measure), MaxPause: 30 * time.Minute, Lag: o.lag, Gate: route.Open,
	}
	r.change(&c)
	return c
}
