package replay

import (
	"fmt"
	"time"

	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
)

// Engine says how the workers are modelled.
type Engine string

// The engines.
const (
	Steps  Engine = "step"   // steps that take time
	Blocks Engine = "blocks" // blocks only: a turn takes no time
)

// Config is one run. Zero fields mean the defaults of Fill.
type Config struct {
	Strategy string
	Rule     func() (Strategy, error) // makes the strategy, where Strategy is only what it is called
	Seed     uint64
	Workers  int
	Engine   Engine
	Profile  fleet.Profile
	KV       int // tokens that a worker's cache holds; 0 the profile's, -1 without bounds
	Block    int // tokens of a block

	Open     bool          // sessions come at their times
	Speed    float64       // of an open loop: times are divided by it
	Sessions int           // of a closed loop: alive at any time
	Ramp     time.Duration // of a closed loop: in which they start
	Warm     time.Duration // not counted
	Measure  time.Duration // counted; 0 in an open loop is all

	MaxContext int           // tokens; a session ends before a longer prompt
	MaxPause   time.Duration // longer pauses are cut; 0 is 2 minutes, of an open loop none

	Lag  time.Duration // of events
	Loss float64       // share of events that never arrive

	Assume int // blocks; where above 0 the router hears no events, and takes a worker to hold the last so many that were sent there

	Gate route.GateMode // "" is off

	Touch  *Touch  // idle sessions' prompts are asked for again; nil is off
	Host   *Host   // workers have a host tier; nil is none
	Leased float64 // share of sessions that ask to be kept; 0 is all, below 0 none
	Evict  Evictor // what engines evict; "" is LRU
	Blind  bool    // the router is not told of sessions that ended

	Queue bool // turns wait in the router where workers are full, else in the engines alone

	Believed *route.Rates // what the router takes the workers for at first; nil is what they are
	Foresees bool         // the router knows how long each answer will be
	Each     func(Done)   // called with every turn that ended, counted or not
}

// Done is a turn that ended, at simulated times.
type Done struct {
	Session                string
	Worker                 int
	Arrived, First, Ended  time.Duration
	Prompt, Cached, Output int // tokens
}

// Fill sets what is zero. Sessions that are paused make a closed loop where
// nothing else is said.
func (c Config) Fill(t *trace.Trace) Config {
	def := func(at *int, v int) {
		if *at == 0 {
			*at = v
		}
	}
	if c.Engine == "" {
		c.Engine = Steps
	}
	if c.Profile == (fleet.Profile{}) {
		c.Profile, _ = fleet.FindProfile(fleet.DefaultProfile)
	}
	def(&c.Workers, 8)
	def(&c.KV, c.Profile.KV)
	def(&c.Block, 64)
	def(&c.Sessions, 64)
	if c.Open {
		def(&c.MaxContext, 1<<30)
	}
	def(&c.MaxContext, 120_000)
	if c.Gate == "" {
		c.Gate = route.Open
	}
	if c.Seed == 0 {
		c.Seed = 1
	}
	if c.Speed == 0 {
		c.Speed = 1
	}
	if c.Ramp == 0 {
		c.Ramp = time.Minute
	}
	if c.Measure == 0 && !c.Open {
		c.Measure = 45 * time.Minute
	}
	if c.Warm == 0 && !c.Open {
		c.Warm = c.Measure / 3
	}
	if c.MaxPause == 0 {
		c.MaxPause = 2 * time.Minute
		if c.Open {
			c.MaxPause = never
		}
	}
	return c
}

// check says what of a filled Config makes no sense.
func (c *Config) check(t *trace.Trace) error {
	switch {
	case c.Workers < 1 || c.Workers > 4096:
		return fmt.Errorf("%d workers are not between 1 and 4096", c.Workers)
	case c.Engine != Steps && c.Engine != Blocks:
		return fmt.Errorf("engine %q is neither %s nor %s", c.Engine, Steps, Blocks)
	case c.Block < 2 || c.Block > 1<<16:
		return fmt.Errorf("blocks of %d tokens are not between 2 and %d", c.Block, 1<<16)
	case c.Block%t.Block != 0 && t.Block%c.Block != 0:
		return fmt.Errorf("blocks of %d tokens and the trace's of %d: one must divide the other", c.Block, t.Block)
	case c.KV < -1 || c.KV > 0 && c.KV < 2*c.Block:
		return fmt.Errorf("a cache of %d tokens has no room for two blocks", c.KV)
	case !c.Open && (c.Sessions < 1 || c.Sessions > 1<<20):
		return fmt.Errorf("%d sessions are not between 1 and %d", c.Sessions, 1<<20)
	case c.Open && !t.Timed:
		return fmt.Errorf("the trace has no arrival times: an open loop needs them")
	case !(c.Speed > 0 && c.Speed <= 1e6):
		return fmt.Errorf("speed %v is not above 0 and at most 1000000", c.Speed)
	case c.Evict.check() != nil:
		return c.Evict.check()
	case !(c.Loss >= 0 && c.Loss <= 1):
		return fmt.Errorf("loss %v is not between 0 and 1", c.Loss)
	case c.Warm < 0 || c.Measure < 0 || c.Ramp < 0 || c.Lag < 0 || c.MaxPause < 0 || c.MaxContext < 1:
		return fmt.Errorf("a time or length is negative")
	}
	return nil
}

// never is a limit that is not reached.
const never = 1 << 60

// batched and slots are the limits by which the router takes a worker to be
// full.
func (c *Config) batched() int {
	if c.Queue {
		return c.Profile.Batched
	}
	return never
}

func (c *Config) slots() int {
	if c.Queue {
		return c.Profile.Slots
	}
	return never
}

// believed are the rates that the router begins with.
func (c *Config) believed() route.Rates {
	if c.Believed != nil {
		return *c.Believed
	}
	m := &c.Profile
	r := route.Rates{Step: m.Step, Token: m.Token, Square: m.Square, Context: m.Context, Seq: m.Seq}
	if c.Host != nil {
		r.Reload[0] = c.Host.token()
	}
	return r
}
