package server

import (
	"sync"
	"sync/atomic"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/turn"
)

// counters count since the server's start. The zero value is ready.
type counters struct {
	turns, failed, canceled atomic.Int64
	prompt, cached, output  atomic.Int64
	told                    atomic.Int64 // of prompt, where the engine told what was cached
	moved, orphans, panics  atomic.Int64
	hidden                  atomic.Int64    // images and documents that a fixed text stood for
	chats                   atomic.Int64    // turns that took the chat path
	unkept                  atomic.Int64    // responses that only memory holds
	flaws                   [4]atomic.Int64 // calls, by what was wrong with them: flawNames
	hooks                   hookCounts
	unwanted                atomic.Int64 // calls that the client had said it wants none of

	mu       sync.Mutex    // guards statuses
	statuses map[int]int64 // answers that were errors, by HTTP status
}

// outcome counts a turn that landed.
func (c *counters) outcome(row ledger.Turn) {
	c.turns.Add(1)
	if row.Chat != "" {
		c.chats.Add(1)
	}
	switch row.Outcome {
	case "fail":
		c.failed.Add(1)
	case "reject":
	case "cancel":
		c.canceled.Add(1)
	default:
		c.prompt.Add(int64(row.Prompt))
		if row.Cached >= 0 { // -1 where the engine does not tell
			c.told.Add(int64(row.Prompt))
			c.cached.Add(int64(row.Cached))
		}
		c.output.Add(int64(row.Output))
	}
}

// flawNames are what may be wrong with a call, in the order of turn.Flaw's bits.
var flawNames = [...]string{"repaired", "mistyped", "unknown_tool", "truncated"}

// flawed counts a call by what was wrong with it.
func (c *counters) flawed(f turn.Flaw) {
	for i := range c.flaws {
		if f&(1<<i) != 0 {
			c.flaws[i].Add(1)
		}
	}
}

// refused counts an answer that was an error.
func (c *counters) refused(status int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.statuses == nil {
		c.statuses = map[int]int64{}
	}
	c.statuses[status]++
}

// full counts the turns that were refused because no worker could take them.
func (c *counters) full() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.statuses[429] + c.statuses[503] + c.statuses[529]
}

// byStatus returns a copy of the counts of errors.
func (c *counters) byStatus() map[int]int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := make(map[int]int64, len(c.statuses))
	for k, v := range c.statuses {
		m[k] = v
	}
	return m
}
