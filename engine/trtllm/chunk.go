package trtllm

import (
	"errors"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
)

// chunk is one event of an answer.
type chunk struct {
	text   string
	ids    []uint32
	finish string // "stop", "length", "cancelled", "timeout" …; "" while it goes on
	byText string // the stop string met
	byID   int64  // the stop token met; -1 is none
	usage  usage
	fault  error // an error in place of a chunk
}

// usage counts tokens; set tells that the server sent it.
type usage struct {
	set                    bool
	prompt, output, cached int
	cachedSet              bool
}

var errChunk = errors.New("a chunk that is no JSON object")

// readChunk reads one event's data. The server writes all keys, null ones
// too.
func readChunk(data []byte) (chunk, error) {
	c := chunk{byID: -1}
	if !remote.Valid(data) {
		return c, errChunk
	}
	root := gjson.ParseBytes(data)
	if !root.IsObject() {
		return c, errChunk
	}
	if message := fault(root); message != "" {
		status, err := strconv.Atoi(first(root, "code", "error.code").String())
		if err != nil {
			status = 500
		}
		c.fault = remote.Fault(status, message)
		return c, nil
	}
	choice := root.Get("choices.0")
	c.text = choice.Get("text").Str
	var err error
	if c.ids, err = remote.IDs(choice.Get("token_ids")); err != nil {
		return c, err
	}
	c.finish = choice.Get("finish_reason").Str
	switch s := choice.Get("stop_reason"); s.Type {
	case gjson.Number:
		c.byID = s.Int()
	case gjson.String:
		c.byText = s.Str
	}
	if u := root.Get("usage"); u.IsObject() {
		cached := u.Get("prompt_tokens_details.cached_tokens")
		c.usage = usage{
			set: true, prompt: remote.Count(u.Get("prompt_tokens")), output: remote.Count(u.Get("completion_tokens")),
			cached: remote.Count(cached), cachedSet: cached.Type == gjson.Number,
		}
	}
	return c, nil
}

// fault is what an error event says went wrong; "" is none.
func fault(root gjson.Result) string {
	if e := root.Get("error"); e.Type != gjson.Null {
		return remote.Message([]byte(root.Raw))
	}
	if root.Get("object").Str == "error" {
		return root.Get("message").String()
	}
	return ""
}

func first(root gjson.Result, paths ...string) gjson.Result {
	for _, p := range paths {
		if v := root.Get(p); v.Exists() {
			return v
		}
	}
	return gjson.Result{}
}
