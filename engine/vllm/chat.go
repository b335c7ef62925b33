package vllm

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/openai"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// chat sends a turn to the server's own chat API. A server that was started
// without a parser of calls refuses tools, unless none is to be called; so it
// is asked again, once in its life.
func (c *client) chat(ctx context.Context, model string, j turn.Job) (turn.Stream, error) {
	parses := !c.unparsed.Load()
	s, err := c.talk(ctx, model, j, parses)
	var refused *turn.Refused
	if parses && errors.As(err, &refused) && refused.Limit == 0 && openai.Chooses(j.Chat) {
		again, err2 := c.talk(ctx, model, j, false)
		if err2 == nil {
			c.unparsed.Store(true)
		}
		if !errors.As(err2, &refused) { // it was the tools
			s, err = again, err2
		}
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// chats finds out whether the server has a chat API, and whether it sees images,
// where that is of use: of one that others launched, or whose recipe says so.
func (c *client) chats(ctx context.Context, caps *turn.Capabilities) {
	status, err := c.server.Takes(ctx, "/v1/chat/completions")
	caps.Chat = err == nil && status != http.StatusNotFound
	if caps.Chat && (c.attached || c.promised) {
		caps.Vision = openai.Sees(ctx, c.promised, func(ctx context.Context, j turn.Job) (turn.Stream, error) { return c.chat(ctx, caps.Model, j) })
	}
}

// talk posts the request for a chat.
func (c *client) talk(ctx context.Context, model string, j turn.Job, parses bool) (*openai.Stream, error) {
	body := newParcel()
	defer body.release()
	b := appendString(append(body.b, `{"model":`...), model)
	b = openai.Append(append(b, ','), j, parses)
	sampling := j.Sampling
	sampling.Logprobs = false // another field here
	b = appendSampling(b, sampling)
	b = appendStops(b, turn.Job{Sampling: sampling})
	if j.Salt != "" {
		b = appendString(append(b, `,"cache_salt":`...), j.Salt)
	}
	if j.Priority != 0 {
		b = appendInt(b, "priority", -int64(j.Priority)) // lower goes first in vLLM
	}
	body.b = append(b, `,"skip_special_tokens":false,"spaces_between_special_tokens":false}`...)
	of := asked{context: int(c.most.Load())}
	a, err := c.server.Answer(ctx, "/v1/chat/completions", j.ID, body.b)
	if err != nil {
		return nil, longer(of.explain(err))
	}
	return openai.NewStream(ctx, a, func(status int, v gjson.Result) error {
		return longer(of.explain(remote.Fault(status, cmp.Or(v.Get("message").Str, v.Str))))
	}), nil
}

// longer completes the refusal of a prompt that is too long: of a chat only the
// server knows how many tokens it has, and says so in words.
func longer(err error) error {
	var r *turn.Refused
	if !errors.As(err, &r) || r.Limit > 0 {
		return err
	}
	most, prompt := numberAfter(r.Message, contextWords[0]), numberAfter(r.Message, "your prompt contains at least ")
	if most > 0 && prompt >= most {
		r.Prompt, r.Limit = prompt, most-1 // the answer wants one
	}
	return err
}
