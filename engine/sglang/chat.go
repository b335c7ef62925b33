package sglang

import (
	"cmp"
	"context"
	"net/http"
	"regexp"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/openai"
	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

const chatPath = "/v1/chat/completions"

// chat sends a turn to the server's own chat API. A server without a parser of
// calls takes tools all the same, and leaves the calls in the text.
func (c *client) chat(ctx context.Context, j turn.Job, m manner) (turn.Stream, error) {
	rid := newRid()
	a, err := c.call(ctx, chatPath, rid, j.ID, chatBody(rid, j, m)...)
	if err != nil {
		return nil, longer(err)
	}
	return openai.NewStream(a.live, a, func(status int, v gjson.Result) error {
		return longer(remote.Fault(status, cmp.Or(v.Get("message").Str, v.Str)))
	}), nil
}

// tooLong are the words on a prompt that does not fit: its tokens, and the
// context.
var tooLong = regexp.MustCompile(`\((\d+) tokens\) is longer than the model's context length \((\d+) tokens\)`)

// longer completes the refusal of a prompt that is too long: of a chat only the
// server knows how many tokens it has, and says so in words.
func longer(err error) error {
	m := tooLong.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	prompt, _ := strconv.Atoi(m[1]) // 0 is not known
	most, _ := strconv.Atoi(m[2])
	return remote.TooLong(err, prompt, most)
}

// chatBody is the request.
func chatBody(rid string, j turn.Job, m manner) [][]byte {
	var b remote.Body
	b.Text("model", m.model)
	b.Text("rid", rid)
	b.Members(openai.Append(nil, j, true))
	common(&b, j.Sampling)
	if s := j.Sampling; s.Seed != nil {
		b.Int("seed", *s.Seed)
	}
	if ids := j.Sampling.StopIDs; len(ids) > 0 {
		b.IDs("stop_token_ids", ids)
	}
	if n := j.Sampling.MinTokens; n > 0 {
		b.Int("min_tokens", int64(n))
	}
	if j.Sampling.IgnoreEnd {
		b.Bool("ignore_eos", true)
	}
	apart(&b, j, m)
	b.Bool("skip_special_tokens", false)
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
