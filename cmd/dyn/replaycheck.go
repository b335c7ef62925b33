package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/cmd/dyn/internal/config"
	"github.com/agentinfer/dyn/replay"
	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/route"
)

// check looks at what was asked before a trace is read.
func (o *replayRun) check() (seeds []uint64, err error) {
	if err := o.positive(); err != nil {
		return nil, err
	}
	if len(o.strategies) == 0 {
		return nil, fail(usage, "replay", errors.New("--strategy names no rule"), "", "dyn replay --strategy "+nearStrategy(""))
	}
	known := map[string]string{}
	for _, s := range o.strategies {
		err := replay.Known(s)
		if s == "" {
			err = fmt.Errorf("--strategy has an empty name among its rules")
		}
		if err != nil {
			return nil, fail(usage, "replay", err, "", "dyn replay --strategy "+nearStrategy(s))
		}
		if other, twice := known[plainStrategy(s)]; twice {
			return nil, fail(usage, "replay", fmt.Errorf("--strategy has %s twice, %s and %s: their rows would be one", plainStrategy(s), other, s), "",
				"dyn replay --strategy "+other+" --seeds 1-3")
		}
		known[plainStrategy(s)] = s
	}
	if o.c.Profile, err = fleet.FindProfile(o.profile); err != nil {
		return nil, fail(usage, "replay", err, "", "dyn replay --model-profile "+quote(fleet.DefaultProfile))
	}
	if o.c.Gate, err = route.ParseGate(o.gate); err != nil {
		return nil, fail(usage, "replay", err, "", "dyn replay --gate auto")
	}
	if seeds, err = seedsOf(o.seeds); err != nil {
		return nil, fail(usage, "replay", err, "", "dyn replay --seeds 1-3")
	}
	return seeds, nil
}

// positive refuses a 0 that was given: it would be taken for the default.
func (o *replayRun) positive() error {
	for _, f := range []struct {
		name string
		bad  bool
	}{
		{"workers", o.c.Workers < 1},
		{"sessions", o.c.Sessions < 1},
		{"block-size", o.c.Block < 2},
		{"speed", !(o.c.Speed > 0)},
		{"duration", o.c.Measure <= 0},
		{"jobs", o.jobs < 1},
		{"max-context", o.c.MaxContext < 1},
		{"max-pause", o.c.MaxPause <= 0},
		{"kv-tokens", o.c.KV < 1 && o.c.KV != -1},
	} {
		if f.bad && o.given(f.name) {
			flag := o.cmd.Flags().Lookup(f.name)
			return fail(usage, "replay", fmt.Errorf("--%s %s is too little", f.name, flag.Value), "", "dyn replay --help")
		}
	}
	if o.eng == string(replay.Blocks) && !o.given("event-lag") {
		o.c.Lag = 0 // of turns that take no time
	}
	if o.given("warm-up") && o.c.Warm == 0 {
		o.c.Warm = time.Nanosecond // 0 would be a third of the duration
	}
	return nil
}

// given reports whether a flag was on the command line.
func (o *replayRun) given(flag string) bool { return o.cmd.Flags().Changed(flag) }

// plainStrategy is a strategy's name as all spell it: no alias, no colon
// without a knob behind it.
func plainStrategy(s string) string {
	name, knobs, _ := strings.Cut(s, ":")
	for _, r := range route.Rules() {
		if r.Alias == name && name != "" {
			name = r.Name
		}
	}
	set := slices.DeleteFunc(strings.Split(knobs, ":"), func(k string) bool { return k == "" })
	slices.Sort(set)
	return strings.Join(append([]string{name}, set...), ":")
}

// nearStrategy is a rule that may have been meant.
func nearStrategy(s string) string {
	name, _, _ := strings.Cut(s, ":")
	names := replay.Strategies()
	if slices.Contains(names, name) {
		return name
	}
	if near := config.Nearest(name, names); near != "" {
		return near
	}
	return names[0]
}

// seedsOf reads a list of seeds and ranges of them.
func seedsOf(text string) (seeds []uint64, err error) {
	for _, part := range strings.Split(text, ",") {
		first, last, span := strings.Cut(strings.TrimSpace(part), "-")
		from, err := strconv.ParseUint(first, 10, 32)
		to := from
		if err == nil && span {
			to, err = strconv.ParseUint(last, 10, 32)
		}
		if err != nil || from == 0 || to < from || to-from >= 1000 {
			return nil, fmt.Errorf("--seeds %q is neither like 1,2,3 nor like 1-3", text)
		}
		for s := from; s <= to; s++ {
			if slices.Contains(seeds, s) {
				return nil, fmt.Errorf("--seeds %q has %d twice", text, s)
			}
			seeds = append(seeds, s)
		}
	}
	return seeds, nil
}
