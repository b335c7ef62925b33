package trtllm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/prompt/bpe"
	"github.com/agentinfer/dyn/turn"
)

// eventsPath is where KV events are read, and the mark of this engine: no
// other has it.
const eventsPath = "/kv_cache_events"

// probePrompt is short enough to fill no block, and every vocabulary has it.
var probePrompt = turn.IDsOf(1, 2, 3, 4)

// Probe takes one token and looks at what the server tells about itself.
func (c *client) Probe(ctx context.Context) (engine.Seen, error) {
	seen, m, err := c.probe(ctx)
	if err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	c.manner.Store(&m)
	return seen, nil
}

func (c *client) probe(ctx context.Context) (seen engine.Seen, m manner, err error) {
	status, err := c.server.Takes(ctx, eventsPath)
	switch {
	case err != nil:
		return seen, m, err
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return seen, m, remote.Fault(status, "it asks for one")
	case status != http.StatusOK && status != http.StatusMethodNotAllowed:
		return seen, m, remote.Fault(http.StatusNotFound, "it does not answer as TensorRT-LLM: no "+eventsPath)
	}
	models, err := c.server.Get(ctx, "/v1/models")
	if err != nil {
		return seen, m, err
	}
	if m.model = gjson.GetBytes(models, "data.0.id").Str; m.model == "" {
		return seen, m, fmt.Errorf("/v1/models names no model: %w", turn.ErrLost)
	}
	caps := &seen.Caps
	caps.Model, caps.Engine = m.model, "trtllm"
	if b, err := c.server.Get(ctx, "/version"); err == nil {
		caps.Engine = strings.TrimSpace("trtllm " + gjson.GetBytes(b, "version").Str)
	}
	if c.dir != "" {
		if tok, err := bpe.Open(os.DirFS(c.dir)); err == nil { // else the server makes the text
			m.tok = tok
		}
	}
	if err := c.firstToken(ctx, caps, &m); err != nil {
		return seen, m, err
	}
	if err := c.forms(ctx, &m); err != nil {
		return seen, m, err
	}
	caps.Formats = m.form != unheld
	if all, err := c.metrics(ctx); err == nil {
		if n := remote.Whole(all["kv_cache_tokens_per_block"]); n <= maxBlock { // else it is not known
			m.block = n
		}
		caps.BlockSize, caps.KVTokens = m.block, m.block*remote.Whole(all["kv_cache_max_blocks"])
		caps.MaxSeqs = remote.Whole(all["max_num_active_requests"])
	}
	if err := c.sharing(ctx, &m); err != nil {
		return seen, m, err
	}
	c.chats(ctx, caps, m)
	// A server without events answers too, with none; one with them has told of
	// its cache and of the first token.
	if some, err := c.drain(ctx); err == nil && some {
		c.tells.Store(true)
	}
	caps.Events = c.tells.Load()
	return seen, m, context.Cause(ctx)
}

// maxBlock is how many tokens a block has at most, in this engine's own words
// 128; two of them are a prompt of the probe.
const maxBlock = 1 << 12

// firstToken runs a turn of one token, with what newer servers know, and
// without where that is refused.
func (c *client) firstToken(ctx context.Context, caps *turn.Capabilities, m *manner) error {
	zero := 0.0
	j := turn.Job{Prompt: probePrompt, MaxTokens: 1, Priority: 1, Sampling: turn.Sampling{Temperature: &zero}}
	m.priority = true
	cached := false
	ask := func(ctx context.Context) (turn.Stream, error) {
		s, err := c.send(ctx, *m, j, nil)
		if err != nil {
			return nil, err
		}
		return &watched{s, &cached}, nil
	}
	said, err := remote.Listen(ctx, 1, ask)
	var refused *turn.Refused
	if errors.As(err, &refused) {
		m.priority = false
		said, err = remote.Listen(ctx, 1, ask)
	}
	caps.TokenIDs, caps.Cached = said.IDs > 0, cached
	return err
}

// sharing finds out whether a prefix is found again: what comes a second time
// has cached tokens then. A server that does not tell is taken to share.
func (c *client) sharing(ctx context.Context, m *manner) error {
	zero := 0.0
	ids := make([]uint32, 2*max(m.block, 64)+1)
	for i := range ids {
		ids[i] = uint32(1 + i)
	}
	j := turn.Job{Prompt: turn.IDsOf(ids...), MaxTokens: 1, Sampling: turn.Sampling{Temperature: &zero}}
	told := false
	for range 2 {
		said, err := remote.Listen(ctx, 1, func(ctx context.Context) (turn.Stream, error) {
			s, err := c.send(ctx, *m, j, nil)
			if err != nil {
				return nil, err
			}
			return &watched{s, &told}, nil
		})
		if err != nil {
			return err
		}
		m.shares = !told || said.Usage.Cached > 0
	}
	return nil
}

// watched is a probe's answer, of which is noted whether it told cached
// tokens.
type watched struct {
	*stream
	cached *bool
}

func (w *watched) Next() (turn.Delta, error) {
	d, err := w.stream.Next()
	*w.cached = w.told.cachedSet
	return d, err
}

// forms finds out how the server can be made to hold an answer to a form.
func (c *client) forms(ctx context.Context, m *manner) error {
	zero := 0.0
	j := turn.Job{MaxTokens: 8, Format: remote.Form, Sampling: turn.Sampling{Temperature: &zero}}
	for as := named; as <= inLine && m.form == unheld; as++ {
		try := manner{model: m.model, form: as} // the server makes the text
		quick, cancel := context.WithTimeout(ctx, remote.ExtraLimit)
		said, _ := remote.Listen(quick, j.MaxTokens, func(ctx context.Context) (turn.Stream, error) { // what failed says nothing
			s, err := c.send(ctx, try, j, func(b *remote.Body) { b.Text("prompt", remote.FormPrompt) })
			if err != nil {
				return nil, err
			}
			return s, nil
		})
		cancel()
		if remote.Held(said.Text) {
			m.form = as
		}
	}
	return context.Cause(ctx)
}
