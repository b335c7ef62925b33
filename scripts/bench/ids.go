package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine/exchange"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/bpe"
)

// idsTokens is the length of the prompt that ids sends.
const idsTokens = 60_000

// ids measures what a prompt costs its engine as token ids in a request of
// dyn's, above the same as text in a chat request of the load generator's, which
// is what times are compared with. Both are ready made: so much of a figure is no
// frontend's. It may be less than nothing, since the engine of the measurements
// searches a body for its fields, and how long that takes depends on their order.
func ids(addr, model string, n int) error {
	m, err := prompt.Open(model, prompt.Options{})
	if err != nil {
		return err
	}
	text, list := madeUp(m.Tokenizer())
	asText, err := json.Marshal(map[string]any{ // its fields are sorted, as the load generator's
		"model": "qwen3", "messages": talk(text), "max_tokens": 4, "temperature": 0,
		"ignore_eos": true, "stream": true, "stream_options": map[string]any{"include_usage": true},
	})
	if err != nil {
		return err
	}
	prompt, err := json.Marshal(list)
	if err != nil {
		return err
	}
	asIDs := fmt.Appendf(nil, `{"stream":true,"stream_options":{"include_usage":true},"return_token_ids":true,"skip_special_tokens":false,`+
		`"spaces_between_special_tokens":false,"model":"qwen3","max_tokens":4,"temperature":0,"ignore_eos":true,"prompt":%s}`, prompt)
	c := exchange.New("http://"+addr, exchange.Options{})
	defer c.Close()
	var more []time.Duration
	for range n {
		one, err := firstByte(c, "/v1/chat/completions", asText)
		if err != nil {
			return err
		}
		other, err := firstByte(c, "/v1/completions", asIDs)
		if err != nil {
			return err
		}
		more = append(more, other-one)
	}
	slices.Sort(more)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"test":  "small",
		"note":  fmt.Sprintf("engine alone: %d ids (%d kB) in a request of dyn's, above the same as text (%d kB) in one of the load generator's, p50, ms", len(list), len(asIDs)/1000, len(asText)/1000),
		"value": float64(more[n/2].Microseconds()) / 1000,
	})
}

// common are words that have a token of their own.
var common = strings.Fields("the file function returns error when context is nil check handler request response server config value index")

// madeUp is a text of words, of which nobody knows each third, and its ids. It is
// as dense as that of the load generator, some three bytes a token.
func madeUp(tok *bpe.Tokenizer) (string, []uint32) {
	var text strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	var ids []uint32
	for len(ids) < idsTokens {
		from := text.Len()
		for n := range 1000 {
			if n%3 > 0 {
				text.WriteString(common[r.IntN(len(common))])
			} else {
				for range 3 + r.IntN(6) {
					text.WriteByte('a' + byte(r.IntN(26)))
				}
			}
			text.WriteByte(' ')
		}
		ids = tok.Encode(ids, text.String()[from:])
	}
	return text.String(), ids
}

// talk makes a text the calls and results of an agent, a kilobyte each.
func talk(text string) (messages []any) {
	call := []any{map[string]any{"id": "call_1", "type": "function", "function": map[string]any{"name": "read", "arguments": `{"path":"a.go"}`}}}
	for i := 0; len(text) > 0; i++ {
		n := min(len(text), 1000)
		m := map[string]any{"role": "assistant", "content": text[:n], "tool_calls": call}
		if i%2 > 0 {
			m = map[string]any{"role": "tool", "content": text[:n], "tool_call_id": "call_1"}
		}
		messages, text = append(messages, m), text[n:]
	}
	return messages
}

// firstByte posts a body and times the first byte of its answer.
func firstByte(c *exchange.Client, path string, body []byte) (time.Duration, error) {
	began := time.Now()
	a, err := c.Post(context.Background(), path, "", body)
	if err != nil {
		return 0, err
	}
	defer a.Done()
	if a.Status != 200 {
		return 0, fmt.Errorf("the engine answers %s", a.Reason)
	}
	if _, err := a.Read(make([]byte, 1)); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}
