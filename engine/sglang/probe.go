package sglang

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// probePrompt is short enough to fill no page, and every vocabulary has it.
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
	m = manner{thought: -1}
	if _, err := c.either(ctx, "/model_info", "/get_model_info"); err != nil {
		return seen, m, fmt.Errorf("it does not answer as SGLang: %w", err)
	}
	models, err := c.server.Get(ctx, "/v1/models")
	if err != nil {
		return seen, m, err
	}
	first := gjson.GetBytes(models, "data.0")
	seen.Caps = turn.Capabilities{Model: first.Get("id").Str, Context: remote.Count(first.Get("max_model_len")), Engine: "sglang"}
	m.context, m.model = seen.Caps.Context, seen.Caps.Model
	if seen.Caps.Model == "" {
		return seen, m, fmt.Errorf("/v1/models names no model: %w", turn.ErrLost)
	}
	if info, err := c.either(ctx, "/server_info", "/get_server_info"); err == nil {
		if err := c.info(ctx, gjson.ParseBytes(info), &seen, &m); err != nil {
			return seen, m, err
		}
	}
	return seen, m, c.tokens(ctx, &seen.Caps, &m)
}

// either reads a document that once had another name.
func (c *client) either(ctx context.Context, now, before string) ([]byte, error) {
	b, err := c.server.Get(ctx, now)
	var refused *turn.Refused
	if errors.As(err, &refused) {
		return c.server.Get(ctx, before)
	}
	return b, err
}

// leastPage is the size of pages, in tokens, from which on events are read. With
// smaller ones, and one token is the default of many back-ends, each token is
// told apart, and an index of them would be larger than it is worth: what such
// a server holds is guessed from the turns that it was given.
const leastPage = 8

// info reads what the server says of its own flags.
func (c *client) info(ctx context.Context, info gjson.Result, seen *engine.Seen, m *manner) error {
	if info.Get("skip_tokenizer_init").Bool() {
		return &turn.Refused{Status: 400, Message: "this server was started with --skip-tokenizer-init and tells no text; start it without"}
	}
	number := func(name string) int {
		for _, path := range []string{name, "internal_states.0." + name} {
			if v := info.Get(path); v.Type == gjson.Number {
				return remote.Count(v) // chunked_prefill_size is -1 where prompts are not cut
			}
		}
		return 0
	}
	caps := &seen.Caps
	caps.Engine = strings.TrimSpace("sglang " + info.Get("version").Str)
	caps.BlockSize, caps.KVTokens = number("page_size"), number("max_total_num_tokens")
	caps.MaxSeqs, caps.MaxBatched = number("max_running_requests"), number("chunked_prefill_size")
	if caps.Priority = info.Get("enable_priority_scheduling").Bool(); caps.Priority {
		m.priority = 1
		if info.Get("schedule_low_priority_values_first").Bool() {
			m.priority = -1
		}
	}
	if ev := info.Get("kv_events"); ev.Get("publisher").Str == "zmq" {
		seen.Events = c.server.Reach(ev.Get("endpoint_host").String(), ev.Get("endpoint_port_base").String())
		if n := remote.Count(ev.Get("block_size")); n > 0 {
			caps.BlockSize = n
		}
	}
	if caps.BlockSize < leastPage {
		caps.BlockSize, seen.Events = 0, ""
	}
	if info.Get("reasoning_parser").Str != "" {
		m.thought = c.token(ctx, "</think>")
	}
	return nil
}

// token is the id of a text that is one token; -1 when it is not.
func (c *client) token(ctx context.Context, text string) int64 {
	var b remote.Body
	b.Text("prompt", text)
	b.Bool("add_special_tokens", false)
	answer, err := c.server.Post(ctx, "/tokenize", b.Bytes())
	if err != nil {
		return -1
	}
	if ids := gjson.GetBytes(answer, "tokens").Array(); len(ids) == 1 {
		return ids[0].Int()
	}
	return -1
}

// tokens takes real tokens: one, some that are to have a form, and one with
// log probabilities.
func (c *client) tokens(ctx context.Context, caps *turn.Capabilities, m *manner) error {
	zero := 0.0
	one := turn.Job{ID: "dyn-probe", Prompt: probePrompt, MaxTokens: 1, Sampling: turn.Sampling{Temperature: &zero}}
	said, err := c.listen(ctx, one, nil)
	if err != nil {
		return err
	}
	caps.TokenIDs, caps.Cached = said.IDs > 0, true // cached_tokens is in every answer
	held := turn.Job{ID: "dyn-probe-form", MaxTokens: 8, Format: remote.Form, Sampling: turn.Sampling{Temperature: &zero}}
	if said, err = c.extra(ctx, held, func(b *remote.Body) { b.Text("text", remote.FormPrompt) }); err == nil {
		caps.Formats = remote.Held(said.Text)
	}
	m.held = caps.Formats
	_, err = c.server.Page(ctx, "/metrics")
	m.metrics = err == nil
	c.chats(ctx, caps, *m)
	// The last, since an engine may compile something for it and die of that.
	one.Sampling.Logprobs = true
	if said, err = c.extra(ctx, one, nil); err == nil {
		caps.Logprobs = said.Likely
	}
	return context.Cause(ctx)
}

// extra is listen for what a server may not be able to do, and not for long.
func (c *client) extra(ctx context.Context, j turn.Job, more func(*remote.Body)) (remote.Said, error) {
	ctx, cancel := context.WithTimeout(ctx, remote.ExtraLimit)
	defer cancel()
	return c.listen(ctx, j, more)
}

// listen takes an answer to its end. more writes the prompt in place of the
// job's ids.
func (c *client) listen(ctx context.Context, j turn.Job, more func(*remote.Body)) (remote.Said, error) {
	return remote.Listen(ctx, j.MaxTokens, func(ctx context.Context) (turn.Stream, error) {
		rid := newRid()
		s, err := c.send(ctx, rid, body(rid, j, manner{thought: -1}, more), j)
		if err != nil {
			return nil, err
		}
		return s, nil
	})
}
