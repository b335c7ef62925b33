package openai

import (
	"errors"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// chunk is one event of an answer.
type chunk struct {
	text      string
	reasoning string
	calls     []piece
	likely    []turn.Logprob
	finish    string // "stop", "length", "tool_calls" …; "" while it goes on
	stop      string // the stop string that was met, where the server tells
	usage     turn.Usage
	told      bool // usage is set
	fault     gjson.Result
}

// piece is a part of a call.
type piece struct {
	index      int
	name, args string
}

var errJSON = errors.New("an event that is no JSON object")

// readChunk reads an event's data.
func readChunk(data []byte) (chunk, error) {
	var c chunk
	if len(data) == 0 || data[0] != '{' || !remote.Valid(data) {
		return c, errJSON
	}
	v := gjson.ParseBytes(data)
	if e := v.Get("error"); e.IsObject() || e.Type == gjson.String {
		c.fault = e
		return c, nil
	}
	if u := v.Get("usage"); u.IsObject() {
		c.told = true
		c.usage = turn.Usage{
			Prompt: remote.Count(u.Get("prompt_tokens")), Output: remote.Count(u.Get("completion_tokens")),
			Cached: remote.Count(u.Get("prompt_tokens_details.cached_tokens")), Thinking: remote.Count(u.Get("completion_tokens_details.reasoning_tokens")),
		}
		c.usage.Cached = min(c.usage.Cached, c.usage.Prompt)
	}
	one := v.Get("choices.0")
	d := one.Get("delta")
	c.text = d.Get("content").Str
	if c.reasoning = d.Get("reasoning").Str; c.reasoning == "" {
		c.reasoning = d.Get("reasoning_content").Str
	}
	for _, call := range list(d.Get("tool_calls")) {
		c.calls = append(c.calls, piece{remote.Count(call.Get("index")), call.Get("function.name").Str, call.Get("function.arguments").Str})
	}
	for _, p := range list(one.Get("logprobs.content")) {
		l := readLogprob(p)
		for _, q := range list(p.Get("top_logprobs")) {
			l.Top = append(l.Top, readLogprob(q))
		}
		c.likely = append(c.likely, l)
	}
	c.finish = one.Get("finish_reason").Str
	c.stop = one.Get("stop_reason").Str
	return c, nil
}

// list is what a list holds; null, and what is none, holds nothing.
func list(v gjson.Result) []gjson.Result {
	if !v.IsArray() {
		return nil
	}
	return v.Array()
}

func readLogprob(v gjson.Result) turn.Logprob {
	return turn.Logprob{Token: v.Get("token").Str, Value: v.Get("logprob").Num}
}
