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

// ids measures what a prompt costs its engine as token ids instead of text,
// both ready made: no frontend that sends ids is quicker than that. The text is
// as dense as that of the load generator, some three bytes a token.
func ids(addr, model string, n int) error {
	m, err := prompt.Open(model, prompt.Options{})
	if err != nil {
		return err
	}
	text, list := madeUp(m.Tokenizer())
	asText, err := asked(text)
	if err != nil {
		return err
	}
	asIDs, err := asked(list)
	if err != nil {
		return err
	}
	c := exchange.New("http://"+addr, exchange.Options{})
	defer c.Close()
	var more []time.Duration
	for range n {
		one, err := firstByte(c, asText)
		if err != nil {
			return err
		}
		other, err := firstByte(c, asIDs)
		if err != nil {
			return err
		}
		more = append(more, other-one)
	}
	slices.Sort(more)
	return json.NewEncoder(os.Stdout).Encode(map[string]any{
		"test":  "small",
		"note":  fmt.Sprintf("engine alone: %d ids (%d kB) ready made, above the same as text (%d kB), p50, ms", len(list), len(asIDs)/1000, len(asText)/1000),
		"value": float64(more[n/2].Microseconds()) / 1000,
	})
}

// asked is a request for an answer to a prompt, in the order of those that dyn
// sends to vLLM.
func asked(prompt any) ([]byte, error) {
	p, err := json.Marshal(prompt)
	return fmt.Appendf(nil, `{"stream":true,"stream_options":{"include_usage":true},"return_token_ids":true,"skip_special_tokens":false,`+
		`"spaces_between_special_tokens":false,"model":"qwen3","max_tokens":4,"prompt":%s}`, p), err
}

// madeUp is a text of words that nobody knows, and its ids.
func madeUp(tok *bpe.Tokenizer) (string, []uint32) {
	var text strings.Builder
	r := rand.New(rand.NewPCG(1, 2))
	for n := 0; n < idsTokens; n += 3 {
		for range 3 + r.IntN(6) {
			text.WriteByte('a' + byte(r.IntN(26)))
		}
		text.WriteByte(' ')
	}
	ids := tok.Encode(nil, text.String())
	return text.String(), ids
}

// firstByte posts a body and times the first byte of its answer.
func firstByte(c *exchange.Client, body []byte) (time.Duration, error) {
	began := time.Now()
	a, err := c.Post(context.Background(), "/v1/completions", "", body)
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
