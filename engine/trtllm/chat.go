package trtllm

import (
	"cmp"
	"context"
	"net/http"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/openai"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

const chatPath = "/v1/chat/completions"

// chat sends a turn to the server's own chat API. That has salts, unlike the
// other one.
func (c *client) chat(ctx context.Context, j turn.Job, m manner) (turn.Stream, error) {
	a, err := c.server.Answer(ctx, chatPath, "", chatBody(j, m)...)
	if err != nil {
		return nil, err
	}
	return openai.NewStream(ctx, a, func(status int, v gjson.Result) error {
		return remote.Fault(status, cmp.Or(v.Get("message").Str, v.Str))
	}), nil
}

// chatBody is the request, of fields that every server knows: none that allows
// one call only, which is seen to elsewhere, and no log probabilities.
func chatBody(j turn.Job, m manner) [][]byte {
	t := *j.Chat
	t.OneCall = false
	j.Chat, j.Sampling.Logprobs = &t, false
	var b remote.Body
	b.Text("model", m.model)
	b.Members(openai.Append(nil, j, true))
	sampling(&b, j.Sampling)
	stopIDs(&b, j.Sampling.StopIDs)
	if n := j.Sampling.MinTokens; n > 0 {
		b.Int("min_tokens", int64(n))
	}
	if j.Sampling.IgnoreEnd {
		b.Bool("ignore_eos", true)
	}
	if j.Salt != "" {
		b.Text("cache_salt", j.Salt)
	}
	b.Bool("skip_special_tokens", false)
	b.Bool("spaces_between_special_tokens", false)
	return b.Pieces()
}

// chats finds out whether the server has a chat API, and whether it sees images,
// where that is of use: of one that others launched, or whose recipe says so.
func (c *client) chats(ctx context.Context, caps *turn.Capabilities, m manner) {
	status, err := c.server.Takes(ctx, chatPath)
	caps.Chat = err == nil && status != http.StatusNotFound
	if caps.Chat && (c.theirs || c.promised) {
		caps.Vision = openai.Sees(ctx, c.promised, func(ctx context.Context, j turn.Job) (turn.Stream, error) { return c.chat(ctx, j, m) })
	}
}
