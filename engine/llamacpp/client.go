package llamacpp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// client talks to one server.
type client struct {
	http    *remote.Server
	args    []string // that launched it; nil when others did
	notes   string   // where it is noted what the next daemon must know; "" is nowhere
	formed  atomic.Bool
	metered meter

	mu     sync.Mutex    // guards what follows; held for moments only
	mirror *mirror       // nil before the probe
	noted  []byte        // what stands in the notes
	wake   chan struct{} // has one entry when there may be events to tell
}

func newClient(at engine.Endpoint) *client {
	c := &client{http: remote.New(at), args: at.Args, notes: notesIn(at.Args), wake: make(chan struct{}, 1)}
	c.http.Judge = judge
	return c
}

// Close drops idle connections.
func (c *client) Close() { c.http.Close() }

// Health asks /health, which answers 503 until the model is loaded.
func (c *client) Health(ctx context.Context) error {
	if _, err := c.http.Get(ctx, "/health"); err != nil {
		return fmt.Errorf("health: %w", err)
	}
	return nil
}

// Generate starts an answer. It blocks until the server has taken the request.
func (c *client) Generate(ctx context.Context, j turn.Job) (turn.Stream, error) {
	switch {
	case j.Format.Kind != turn.FreeText && !c.formed.Load():
		return nil, &turn.Refused{Status: http.StatusBadRequest, Message: "this engine does not hold answers to a form"}
	case j.Sampling.MinTokens > 0:
		return nil, &turn.Refused{Status: http.StatusBadRequest, Message: "this engine knows no min_tokens: leave it out"}
	}
	if j.Chat != nil {
		return c.chat(ctx, j)
	}
	return c.generate(ctx, j, &claim{prompt: j.Prompt, salt: j.Salt})
}

// generate starts the answer of a job; cl is its claim.
func (c *client) generate(ctx context.Context, j turn.Job, cl *claim) (*stream, error) {
	if err := c.begin(cl); err != nil {
		return nil, err
	}
	p := newParcel()
	defer p.release()
	p.write(j, cl.pin, !cl.fresh)
	a, err := c.http.Answer(ctx, "/completion", j.ID, p.pieces...)
	if err != nil {
		c.undo(cl, err)
		return nil, err
	}
	return newStream(ctx, c, a, j, cl), nil
}

// begin tells the mirror of a request, which decides how to ask.
func (c *client) begin(cl *claim) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mirror == nil {
		return fmt.Errorf("what the server can do is not known yet: %w", turn.ErrLost)
	}
	cl.of = c.mirror
	c.mirror.plan(cl)
	c.mirror.begin(cl)
	c.changed() // and noted before the server has it
	return nil
}

// undo tells the mirror that the server did not answer a request, and why.
func (c *client) undo(cl *claim, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cl.of == c.mirror {
		c.mirror.undo(cl, !errors.Is(err, turn.ErrUnsent))
		c.changed()
	}
}

// end tells the mirror how a request ended.
func (c *client) end(cl *claim, o outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cl.of == c.mirror { // else it was of an earlier life
		c.mirror.end(cl, o)
		c.changed()
	}
}

// changed notes what has become of the mirror, and wakes the one who tells
// events. mu must be held.
func (c *client) changed() {
	if c.notes != "" {
		if data := c.mirror.noted(); data != nil && !bytes.Equal(data, c.noted) {
			note(c.notes, data)
			c.noted = data
		}
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Mirror tells what the server holds, beginning anew, until ctx ends.
func (c *client) Mirror(ctx context.Context, f func([]turn.KVEvent)) {
	c.listen()
	defer c.deaf()
	for {
		if events := c.events(); len(events) > 0 {
			f(events)
		}
		select {
		case <-c.wake:
		case <-ctx.Done():
			return
		}
	}
}

func (c *client) listen() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mirror != nil {
		c.mirror.report.listen(c.mirror.holds())
	}
}

// detokenize asks for the text of ids.
func (c *client) detokenize(ctx context.Context, ids []uint32) (string, error) {
	body, _ := json.Marshal(map[string]any{"tokens": ids}) // numbers can always be written
	answer, err := c.http.Post(ctx, "/detokenize", body)
	return gjson.GetBytes(answer, "content").String(), err
}

func (c *client) deaf() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mirror != nil {
		c.mirror.report.deaf()
	}
}

func (c *client) events() []turn.KVEvent {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mirror == nil {
		return nil
	}
	return c.mirror.report.events()
}
