package route

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Strategy is a rule that picks a worker. Candidates are not changed or kept,
// and their order does not matter; names differ. One that learns is not safe
// for concurrent use, see Learner.
type Strategy interface {
	Pick(n Need, cs []Candidate) Decision
}

// Learner is a strategy that remembers what became of its decisions.
type Learner interface {
	Strategy
	Observe(o Outcome)    // a turn ended
	Forget(worker string) // a worker is gone, or was started anew
}

// Blockwise is a strategy that looks at Candidate.Blocks and Shared, if it says
// so. For others nobody counts them: that is work for each block of a prompt.
type Blockwise interface {
	Strategy
	Blockwise() bool
}

// Keeper is a Learner whose memory, as JSON, may outlive the process.
type Keeper interface {
	Learner
	json.Marshaler
	json.Unmarshaler // a text that is no memory of this rule is an error and changes nothing
}

// Outcome is what became of a turn.
type Outcome struct {
	Turn, Session, Worker  string
	Prompt, Cached, Output int // tokens
	TTFT                   time.Duration
	Step                   time.Duration // mean time between two tokens of the answer
	Err                    bool          // it was lost to the worker
}

// Func is a Strategy without a memory.
type Func func(Need, []Candidate) Decision

// Pick is the function itself.
func (f Func) Pick(n Need, cs []Candidate) Decision { return f(n, cs) }

// Knobs are a rule's parameters by name.
type Knobs map[string]float64

// Rule is a strategy that can be had by name.
type Rule struct {
	Name  string
	Alias string // another name for it, Dynamo's; "" is none
	About string // one line for people
	Knobs Knobs  // all that it has, with their defaults
	build func(Knobs) Strategy
}

// rules are all that there are, the default first. A new one is a file of its
// own and a line here.
var rules = []Rule{
	{Name: "dyn", About: "fewest milliseconds, for this turn, those that run there and those that come back", Knobs: dynKnobs, build: newDyn},
	{Name: "kv", About: "least (pending + new tokens) × (turns + 1)", build: fixed(Pick)},
	{Name: "lmetric", About: "least new tokens × (turns + 1), as published; memory adds dyn's price of memory", Knobs: lmetricKnobs, build: newLMetric},
	{Name: "dynamo", About: "the default of Dynamo's KV router: blocks to prefill + blocks that decode", Knobs: dynamoKnobs, build: newDynamo},
	{Name: "kv-load", About: "llm-d's scores for prefix, free KV cache and queue, 3 : 2 : 2", Knobs: kvLoadKnobs, build: newKVLoad},
	{Name: "sglang", About: "SGLang's cache_aware: longest match over 0.3, unless 64 turns apart", Knobs: sglangKnobs, build: newSGLang},
	{Name: "sticky", About: "a session stays on its worker", Knobs: stickyKnobs, build: newSticky},
	{Name: "thompson", About: "the bandit of NeMo Agent Toolkit: learns from what became of turns", Knobs: thompsonKnobs, build: newThompson},
	{Name: "p2c", Alias: "power-of-two", About: "of two workers drawn, the one with fewer turns", build: fixed(pickTwo)},
	{Name: "least-loaded", About: "the worker with the fewest turns", build: fixed(pickLeast)},
	{Name: "round-robin", About: "the workers in turn", build: fixed(pickNext)},
	{Name: "random", About: "a worker drawn by lot", build: fixed(pickRandom)},
}

// mostKnob keeps costs that are made with it finite.
const mostKnob = 1e9

// fixed builds a rule without knobs and memory.
func fixed(f Func) func(Knobs) Strategy { return func(Knobs) Strategy { return f } }

// Rules lists the rules, the default first. The list is the caller's.
func Rules() []Rule {
	list := slices.Clone(rules)
	for i := range list {
		list[i].Knobs = maps.Clone(list[i].Knobs)
	}
	return list
}

// Names lists the names of the rules, the default first.
func Names() []string {
	var names []string
	for _, r := range rules {
		names = append(names, r.Name)
	}
	return names
}
