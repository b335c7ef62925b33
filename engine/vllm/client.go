package vllm

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/exchange"
	"github.com/agentinfer/dyn/turn"
)

// client talks to one server: documents through net/http, answers through
// engine/exchange.
type client struct {
	base  string
	key   string
	http  *http.Client
	posts *exchange.Client
	model atomic.Pointer[string] // as the server names it; nil before the probe
	most  atomic.Int64           // tokens of prompt and answer; 0 is not known
	form  atomic.Uint32          // spelling of the form of an answer
	again atomic.Int64           // turns whose cached blocks the server shall announce again

	attached bool        // others launched it
	unparsed atomic.Bool // its chats read no calls out of answers
}

// The server closes a connection after 5 s without a request, so ours are let
// go before. The receive buffer is small, because what lies in it has been
// computed whether or not anybody reads it.
const (
	idleLimit     = 3 * time.Second
	connectLimit  = 5 * time.Second
	receiveBuffer = 64 << 10
)

func newClient(at engine.Endpoint) *client {
	d := &net.Dialer{Timeout: connectLimit}
	return &client{
		base: at.URL, key: at.Key, attached: at.Args == nil,
		http: &http.Client{
			Transport: &http.Transport{
				DialContext: d.DialContext, IdleConnTimeout: idleLimit, DisableCompression: true,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		posts: exchange.New(at.URL, exchange.Options{
			Key: at.Key, Connect: connectLimit, Idle: idleLimit, Buffer: receiveBuffer,
		}),
	}
}

// Close drops idle connections.
func (c *client) Close() {
	c.http.CloseIdleConnections()
	c.posts.Close()
}

// Health asks /health; a server without that route is well when it lists its
// models.
func (c *client) Health(ctx context.Context) error {
	r, err := c.get(ctx, "/health")
	if err != nil {
		return err
	}
	defer drop(r)
	switch r.StatusCode {
	case http.StatusOK:
		return nil
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		_, err := c.read(ctx, "/v1/models")
		return err
	}
	return fmt.Errorf("health: %s: %w", r.Status, turn.ErrLost)
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
	a, err := c.posts.Post(ctx, "/v1/completions", j.ID, body.pieces...)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if a.Status != http.StatusOK {
		defer a.Done()
		return nil, refusal(a.Status, a.Reason, a, of)
	}
	return newStream(ctx, a, j, of), nil
}

func (c *client) get(ctx context.Context, path string) (*http.Response, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	if c.key != "" {
		q.Header.Set("Authorization", "Bearer "+c.key)
	}
	r, err := c.http.Do(q)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	return r, nil
}

// maxDocument is how much of a small document is read, and docLimit for how
// long.
const (
	maxDocument = 1 << 20
	docLimit    = 10 * time.Second
)

// read fetches a small document.
func (c *client) read(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, docLimit,
		fmt.Errorf("no whole answer in %v: %w", docLimit, context.DeadlineExceeded))
	defer cancel()
	r, err := c.get(ctx, path)
	if err != nil {
		return nil, err
	}
	defer drop(r)
	if r.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("get %s: %w", path, refusal(r.StatusCode, r.Status, r.Body, asked{}))
	}
	b, err := io.ReadAll(io.LimitReader(r.Body, maxDocument))
	if err != nil {
		return nil, fmt.Errorf("get %s: %w", path, unreachable(ctx, err))
	}
	return b, nil
}

// drop reads what little is left, so that the connection can be used again.
func drop(r *http.Response) {
	_, _ = io.CopyN(io.Discard, r.Body, maxErrorBody)
	r.Body.Close()
}
