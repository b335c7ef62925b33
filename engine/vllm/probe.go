package vllm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// probePrompt is short enough to fill no block, and every vocabulary has it.
var probePrompt = turn.IDsOf(1, 2, 3, 4)

// Probe takes one token and looks at what the server tells about itself.
func (c *client) Probe(ctx context.Context) (engine.Seen, error) {
	var seen engine.Seen
	models, err := c.server.Get(ctx, "/v1/models")
	if err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	first := gjson.GetBytes(models, "data.0")
	seen.Caps.Model = first.Get("id").Str
	seen.Caps.Context = remote.Count(first.Get("max_model_len"))
	if seen.Caps.Model == "" {
		return seen, fmt.Errorf("probe: /v1/models names no model: %w", turn.ErrLost)
	}
	if err := c.firstToken(ctx, &seen.Caps); err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	if err := c.extras(ctx, &seen.Caps); err != nil {
		return seen, fmt.Errorf("probe: %w", err)
	}
	name := seen.Caps.Model
	c.model.Store(&name)
	c.most.Store(int64(seen.Caps.Context))
	c.chats(ctx, &seen.Caps)

	seen.Caps.Engine = "openai"
	if b, err := c.server.Get(ctx, "/version"); err == nil {
		seen.Caps.Engine = strings.TrimSpace("vllm " + gjson.GetBytes(b, "version").Str)
	}
	m, err := c.metrics(ctx)
	if err == nil {
		seen.Caps.BlockSize, seen.Caps.KVTokens = m.blockSize, m.kvTokens
	}
	sources, err := c.server.Get(ctx, "/kv_event_sources")
	if err != nil {
		sources = nil
	}
	if n := ranks(m, sources); n > 1 {
		seen.Caps.Ranks = n
		return seen, nil
	}
	rank := gjson.GetBytes(sources, "0")
	seen.Events = c.reach(rank.Get("endpoint").Str)
	seen.Replay = c.reach(rank.Get("replay_endpoint").Str)
	return seen, nil
}

// ranks counts the data-parallel ranks behind the server's address. It chooses
// among several itself, so that what one of them is told to hold says little
// about what a turn finds: their events are not read.
func ranks(m metrics, sources []byte) int {
	return max(m.engines, len(gjson.ParseBytes(sources).Map()), 1)
}

// firstToken runs a turn of one token and notes what its answer held.
func (c *client) firstToken(ctx context.Context, caps *turn.Capabilities) error {
	zero := 0.0
	var s *stream
	_, err := remote.Listen(ctx, 1, func(ctx context.Context) (turn.Stream, error) {
		var err error
		s, err = c.generate(ctx, caps.Model, turn.Job{
			ID: "dyn-probe", Prompt: probePrompt, MaxTokens: 1, Sampling: turn.Sampling{Temperature: &zero},
		})
		return s, err
	})
	if err != nil {
		return err
	}
	caps.TokenIDs, caps.Cached = s.ids, s.told.cachedSet
	return nil
}

// extras finds out how the server can be made to hold an answer to a form, and
// whether it tells log probabilities. A server that is full has to be asked
// again.
func (c *client) extras(ctx context.Context, caps *turn.Capabilities) error {
	held := unheld
	for as := structured; as <= responseFormat && held == unheld; as++ {
		said, err := c.extra(ctx, as.append(nil, remote.Form), caps.Model)
		if errors.Is(err, turn.ErrBusy) {
			return err
		}
		if remote.Held(said.Text) {
			held = as
		}
	}
	if c.model.Load() == nil || held != unheld { // a later probe may only have found it busy
		c.form.Store(uint32(held))
	}
	said, err := c.extra(ctx, []byte(`,"logprobs":1000000`), caps.Model)
	if errors.Is(err, turn.ErrBusy) {
		return err
	}
	caps.Formats, caps.Logprobs = held != unheld, said.Likely || limitsLogprobs(err)
	return context.Cause(ctx)
}

// limitsLogprobs reports whether a server refused more log probabilities than
// there are tokens because of their number: then it can tell some. Asking for
// those would have some servers compile for 20 s, or die of a compiler that is
// not there; see the reference's live runs of vLLM 0.32 on a CPU.
func limitsLogprobs(err error) bool {
	var refused *turn.Refused
	if !errors.As(err, &refused) || !strings.Contains(refused.Message, "logprobs") {
		return false
	}
	return slices.ContainsFunc([]string{"max", "greater", "less", "most", "between", "range", "exceed"}, func(word string) bool {
		return strings.Contains(refused.Message, word)
	})
}

// extra asks for a few tokens with more fields, and returns what was said. A
// server that does not take the fields says nothing.
func (c *client) extra(ctx context.Context, fields []byte, model string) (remote.Said, error) {
	ctx, cancel := context.WithTimeout(ctx, remote.ExtraLimit)
	defer cancel()
	body := newParcel()
	defer body.release()
	b := appendString(append(body.b, `{"model":`...), model)
	b = appendString(append(b, `,"prompt":`...), remote.FormPrompt)
	b = append(append(b, `,"max_tokens":8,"temperature":0,"stream":true`...), fields...)
	body.b = append(b, '}')
	body.pieces = append(body.pieces, body.b)
	return remote.Listen(ctx, 8, func(ctx context.Context) (turn.Stream, error) {
		return c.send(ctx, body, turn.Job{ID: "dyn-probe-extra", MaxTokens: 8})
	})
}

// reach turns the address that a server reports for itself into one that we
// can dial: it names the host that it has bound, unless that is all of them.
func (c *client) reach(addr string) string {
	rest, ok := strings.CutPrefix(addr, "tcp://")
	if !ok {
		return ""
	}
	host, port, err := net.SplitHostPort(rest)
	if err != nil {
		return ""
	}
	switch host {
	case "*", "0.0.0.0", "::", "":
		return c.server.Reach(host, port)
	}
	return addr
}
