package sglang

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/engine/stops"
	"github.com/agentinfer/dyn/turn"
)

// client talks to one server.
type client struct {
	server   *remote.Server
	theirs   bool                   // others launched it
	promised bool                   // its recipe says that it sees images
	manner   atomic.Pointer[manner] // nil before the probe
}

// manner is what the probe found out about how to ask.
type manner struct {
	model    string
	context  int   // tokens; 0 is not known
	held     bool  // answers can be held to a form
	priority int64 // by which a priority is multiplied; 0 sends none
	thought  int64 // the token that ends a thought; -1 is none to go by
	metrics  bool
}

func newClient(at engine.Endpoint) *client {
	return &client{server: remote.New(at), theirs: at.Args == nil, promised: at.Vision}
}

// Close drops idle connections.
func (c *client) Close() { c.server.Close() }

// Health asks /health. It says so with a 503 when the server starts, ends or
// is not well.
func (c *client) Health(ctx context.Context) error {
	status, err := c.server.Status(ctx, "/health")
	if err != nil {
		return err
	}
	if status != http.StatusOK {
		return fmt.Errorf("health: status %d: %w", status, turn.ErrLost)
	}
	return nil
}

// Generate starts an answer. It blocks until the server has begun it.
func (c *client) Generate(ctx context.Context, j turn.Job) (turn.Stream, error) {
	m := c.manner.Load()
	if m == nil {
		return nil, fmt.Errorf("it was not probed yet: %w: %w", turn.ErrUnsent, turn.ErrLost)
	}
	if j.Chat != nil {
		return c.chat(ctx, j, *m)
	}
	if j.Format.Kind != turn.FreeText && !m.held {
		return nil, &turn.Refused{Status: http.StatusBadRequest, Message: "this engine does not hold answers to a form"}
	}
	rid := newRid()
	s, err := c.send(ctx, rid, body(rid, j, *m, nil), j)
	if err != nil {
		return nil, remote.TooLong(err, j.Prompt.Len(), m.context)
	}
	s.context = m.context
	return s, nil
}

// send posts a body that asks for a stream.
func (c *client) send(ctx context.Context, rid string, body [][]byte, j turn.Job) (*stream, error) {
	a, err := c.call(ctx, "/generate", rid, j.ID, body...)
	if err != nil {
		return nil, err
	}
	return &stream{
		call: a, events: remote.NewEvents(a), stops: stops.New(j.Stop),
		prompt: j.Prompt.Len(), top: j.Sampling.TopLogprobs,
	}, nil
}

// newRid is a name that no other request has, nor begins with.
func newRid() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
