package completion

import (
	"fmt"
	"math"

	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/dialect/tape"
	"github.com/agentinfer/dyn/turn"
)

// Codec is the codec of POST /v1/completions. It has no state.
type Codec struct{}

// Dialect returns turn.Completions.
func (Codec) Dialect() turn.Dialect { return turn.Completions }

// Problem returns an error document.
func (Codec) Problem(p *dialect.Problem, id string) []byte {
	return dialect.For(turn.Chat).Problem(p, id)
}

// Decode reads a request.
func (Codec) Decode(body []byte, header func(string) string, _ *dialect.Recall) (*turn.Turn, error) {
	doc, err := tape.Parse(body)
	if err != nil || doc.Root().Kind() != tape.Object {
		_, err := dialect.For(turn.Chat).Decode(body, header, nil) // says what is wrong
		return nil, err
	}
	defer doc.Free()
	root := doc.Root()
	t, err := dialect.For(turn.Chat).Decode(asChat(root), header, nil)
	if err != nil {
		return nil, err
	}
	t.Dialect, t.Messages, t.Who.Kind = turn.Completions, nil, "user"
	if p := unable(root); p != nil {
		return nil, p
	}
	if p := logprobs(t, root.Key("logprobs")); p != nil {
		return nil, p
	}
	if t.MaxTokens == 0 {
		t.MaxTokens = 16 // the API's default
	}
	if p := prompt(t, root.Key("prompt")); p != nil {
		return nil, p
	}
	return t, nil
}

// own are the fields that chat has not, or has with another meaning.
var own = map[string]bool{
	"prompt": true, "logprobs": true, "echo": true, "suffix": true, "best_of": true,
	"messages": true, "tools": true, "tool_choice": true, "top_logprobs": true,
}

// asChat writes the fields that chat completions have too, with one message.
func asChat(root tape.Value) []byte {
	b := []byte(`{"messages":[{"role":"user","content":""}]`)
	for key, v := range root.Fields() {
		if own[key.Text()] {
			continue
		}
		b = append(append(append(b, ','), key.Raw()...), ':')
		b = append(b, v.Raw()...)
	}
	return append(b, '}')
}

// unable refuses what is not done here, unless it asks for nothing.
func unable(root tape.Value) *dialect.Problem {
	for _, key := range []string{"echo", "suffix", "best_of"} {
		v := root.Key(key)
		n, _ := v.Int()
		switch {
		case !v.Given(), v.Kind() == tape.False, v.Kind() == tape.String && v.Text() == "", n == 1:
			continue
		}
		return &dialect.Problem{Param: key, Message: "is not supported here; leave it out"}
	}
	return nil
}

// logprobs reads the number of likeliest tokens to tell, 0 for the chosen
// alone.
func logprobs(t *turn.Turn, v tape.Value) *dialect.Problem {
	if !v.Given() {
		return nil
	}
	n, ok := v.Int()
	if !ok || n < 0 || n > 20 {
		return &dialect.Problem{Param: "logprobs", Message: "must be a number from 0 to 20"}
	}
	t.Sampling.Logprobs, t.Sampling.TopLogprobs = true, int(n)
	return nil
}

// prompt reads the prompt: a text, ids, or a list of one of them.
func prompt(t *turn.Turn, v tape.Value) *dialect.Problem {
	first, n := v, 0
	for _, e := range v.Elements() {
		if n == 0 {
			first = e
		}
		n++
	}
	switch {
	case !v.Given():
		return &dialect.Problem{Param: "prompt", Message: "field required"}
	case v.Kind() == tape.String:
		t.Text = v.Text()
	case n == 0:
		return &dialect.Problem{Param: "prompt", Message: "must be a text or a list of token ids"}
	case first.Kind() == tape.Number:
		return ids(t, v)
	case n > 1:
		return &dialect.Problem{Param: "prompt", Message: fmt.Sprintf("one prompt a request, not %d", n)}
	case first.Kind() == tape.String:
		t.Text = first.Text()
	case first.Kind() == tape.Array:
		return ids(t, first)
	default:
		return &dialect.Problem{Param: "prompt", Message: "must be a text or a list of token ids"}
	}
	if t.Text == "" {
		return &dialect.Problem{Param: "prompt", Message: "must not be empty"}
	}
	return nil
}

func ids(t *turn.Turn, list tape.Value) *dialect.Problem {
	for i, v := range list.Elements() {
		n, ok := v.Int()
		if !ok || n < 0 || n > math.MaxUint32 {
			return &dialect.Problem{Param: fmt.Sprintf("prompt[%d]", i), Message: "must be a token id"}
		}
		t.Tokens = append(t.Tokens, uint32(n))
	}
	if len(t.Tokens) == 0 {
		return &dialect.Problem{Param: "prompt", Message: "must not be empty"}
	}
	return nil
}
