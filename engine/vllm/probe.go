package vllm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// probePrompt is short enough to fill no block, and every vocabulary has it.
var probePrompt = []uint32{1, 2, 3, 4}

// Probe takes one token and looks at what the server tells about itself.
func (c *client) Probe(ctx context.Context) (engine.Seen, error) {
	var seen engine.Seen
	models, err := c.read(ctx, "/v1/models")
	if err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	first := gjson.GetBytes(models, "data.0")
	seen.Caps.Model = first.Get("id").Str
	seen.Caps.Context = int(first.Get("max_model_len").Int())
	if seen.Caps.Model == "" {
		return seen, fmt.Errorf("probe: /v1/models names no model: %w", turn.ErrLost)
	}
	if err := c.firstToken(ctx, &seen.Caps); err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	name := seen.Caps.Model
	c.model.Store(&name)

	seen.Caps.Engine = "openai"
	if b, err := c.read(ctx, "/version"); err == nil {
		seen.Caps.Engine = strings.TrimSpace("vllm " + gjson.GetBytes(b, "version").Str)
	}
	if m, err := c.metrics(ctx); err == nil {
		seen.Caps.BlockSize, seen.Caps.KVTokens = m.blockSize, m.kvTokens
	}
	if b, err := c.read(ctx, "/kv_event_sources"); err == nil {
		rank := gjson.GetBytes(b, "0")
		seen.Events = c.reach(rank.Get("endpoint").Str)
		seen.Replay = c.reach(rank.Get("replay_endpoint").Str)
	}
	return seen, nil
}

// firstToken runs a turn of one token and notes what its answer held.
func (c *client) firstToken(ctx context.Context, caps *turn.Capabilities) error {
	zero := 0.0
	s, err := c.generate(ctx, caps.Model, turn.Job{
		ID: "dyn-probe", Prompt: probePrompt, MaxTokens: 1, Sampling: turn.Sampling{Temperature: &zero},
	})
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		d, err := s.Next()
		if errors.Is(err, io.EOF) || (err == nil && d.End != nil) {
			caps.TokenIDs, caps.Cached = s.ids, s.told.cachedSet
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// reach turns the address that a server reports for itself into one that we
// can dial: "*" and the like are the host where its HTTP is.
func (c *client) reach(addr string) string {
	rest, ok := strings.CutPrefix(addr, "tcp://")
	if !ok {
		return ""
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		return ""
	}
	if host == "*" || host == "0.0.0.0" || host == "::" || host == "" {
		base, err := url.Parse(c.base)
		if err != nil {
			return ""
		}
		host = base.Hostname()
	}
	return "tcp://" + net.JoinHostPort(host, port)
}
