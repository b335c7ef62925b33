package vllm

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// client talks to one server.
type client struct {
	server *remote.Server
	model  atomic.Pointer[string] // as the server names it; nil before the probe
	most   atomic.Int64           // tokens of prompt and answer; 0 is not known
	form   atomic.Uint32          // spelling of the form of an answer
	again  atomic.Int64           // turns whose cached blocks the server shall announce again

	attached bool        // others launched it
	promised bool        // its recipe says that it sees images
	unparsed atomic.Bool // its chats read no calls out of answers
}

func newClient(at engine.Endpoint) *client {
	c := &client{server: remote.New(at), attached: at.Args == nil, promised: at.Vision}
	c.server.Judge = judge
	return c
}

// Close drops idle connections.
func (c *client) Close() { c.server.Close() }

// Health asks /health; a server without that route is well when it lists its
// models.
func (c *client) Health(ctx context.Context) error {
	status, err := c.server.Status(ctx, "/health")
	if err != nil {
		return err
	}
	switch status {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		_, err := c.server.Get(ctx, "/v1/models")
		return err
	}
	return fmt.Errorf("health: status %d: %w", status, turn.ErrLost)
}

// Generate starts an answer. It blocks until the server has taken the request.
func (c *client) Generate(ctx context.Context, j turn.Job) (turn.Stream, error) {
	model := c.model.Load()
	if model == nil {
		return nil, fmt.Errorf("the model's name is not known yet: %w", turn.ErrLost)
	}
	if j.Chat != nil {
		return c.chat(ctx, *model, j)
	}
	return c.generate(ctx, *model, j)
}

func (c *client) generate(ctx context.Context, model string, j turn.Job) (*stream, error) {
	as := spelling(c.form.Load())
	if j.Format.Kind != turn.FreeText && as == unheld {
		return nil, &turn.Refused{Status: http.StatusBadRequest, Message: "this engine does not hold answers to a form"}
	}
	if room := int(c.most.Load()) - j.Prompt.Len(); room > 0 { // one that wants more is refused by some releases
		j.MaxTokens = min(j.MaxTokens, room)
	}
	body := newParcel()
	defer body.release()
	body.write(model, j, as, c.tellsAgain())
	return c.send(ctx, body, j)
}

// relearnTurns is for how many turns a server announces what it has announced
// before: their events are as long as their prompts.
const relearnTurns = 256

// Relearn has the server announce again the cached blocks that the next turns
// use.
func (c *client) Relearn() { c.again.Store(relearnTurns) }

// tellsAgain reports whether the next turn is one of those.
func (c *client) tellsAgain() bool {
	return c.again.Load() > 0 && c.again.Add(-1) >= 0
}

// send posts a body that asks for a stream.
func (c *client) send(ctx context.Context, body *parcel, j turn.Job) (*stream, error) {
	of := asked{j.Prompt.Len(), int(c.most.Load())}
	a, err := c.server.Answer(ctx, "/v1/completions", j.ID, body.pieces...)
	if err != nil {
		return nil, of.explain(err)
	}
	return newStream(ctx, a, j, of), nil
}
