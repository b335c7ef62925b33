package trtllm

import (
	"context"
	"time"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// How often events are asked for: soon again while some come or answers run,
// at leisure elsewhere. The server keeps 65,536 of them.
const (
	soon    = 100 * time.Millisecond
	leisure = time.Second
)

var _ engine.Mirror = (*client)(nil)

// Mirror reads the server's events until ctx ends. Nobody else may read them.
// An answer that does not come is asked for again; events that were in it are
// a hole in the numbers then.
func (c *client) Mirror(ctx context.Context, f func([]turn.KVEvent)) {
	block := 0
	if m := c.manner.Load(); m != nil {
		block = m.block
	}
	m := newMirror(block)
	for {
		wait := leisure
		if _, err := c.drain(ctx); err == nil {
			var events []turn.KVEvent
			for _, answer := range c.drained() {
				events = append(events, m.take(answer)...)
			}
			f(events)
			if len(events) > 0 {
				wait = soon
			}
		}
		if c.open.Load() > 0 {
			wait = soon
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// drain reads what the server keeps, which is gone there then, and puts it to
// what was read before. It reports whether there was any.
func (c *client) drain(ctx context.Context) (some bool, err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	answer, err := c.server.Post(ctx, eventsPath, nil)
	if err != nil {
		return false, err
	}
	if some = len(gjson.GetBytes(answer, "0").Raw) > 0; some {
		c.answers = append(c.answers, answer)
		c.answers = c.answers[max(0, len(c.answers)-maxAnswers):]
	}
	return some, nil
}

// maxAnswers is how many answers a client keeps that no mirror has taken yet:
// those of its probes.
const maxAnswers = 4

// drained takes what was read.
func (c *client) drained() [][]byte {
	c.reading.Lock()
	defer c.reading.Unlock()
	all := c.answers
	c.answers = nil
	return all
}
