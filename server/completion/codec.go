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
	if p.Kind == dialect.TooLong {
		p = &dialect.Problem{Code: "context_length_exceeded", Param: "prompt", Message: fmt.Sprintf(
			"This model's maximum context length is %d tokens. However, your prompt has %d tokens. Please reduce the length of the prompt.", p.Limit, p.Prompt)}
	}
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
	if t.MaxTokens == 0 {
		t.MaxTokens = 16 // the API's default
	}
	for _, read := range []func(*turn.Turn, tape.Value) *dialect.Problem{logprobs, echo, suffix, bestOf, prompts, special} {
		if p := read(t, root); p != nil {
			return nil, p
		}
	}
	return t, nil
}

// own are the fields that chat has not, or has with another meaning.
var own = map[string]bool{
	"prompt": true, "logprobs": true, "echo": true, "suffix": true, "best_of": true, "add_special_tokens": true,
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

// logprobs reads the number of likeliest tokens to tell, 0 for the chosen
// alone.
func logprobs(t *turn.Turn, root tape.Value) *dialect.Problem {
	v := root.Key("logprobs")
	if !v.Given() || v.Kind() == tape.False {
		return nil
	}
	n, ok := v.Int()
	if !ok || n < 0 || n > 20 {
		return &dialect.Problem{Param: "logprobs", Message: "must be a number from 0 to 20"}
	}
	t.Sampling.Logprobs, t.Sampling.TopLogprobs = true, int(n)
	return nil
}

// echo reads whether answers begin with their prompt.
func echo(t *turn.Turn, root tape.Value) *dialect.Problem {
	switch v := root.Key("echo"); {
	case v.Kind() == tape.True:
		t.Repeat = true
	case v.Given() && v.Kind() != tape.False:
		return &dialect.Problem{Param: "echo", Message: "must be a boolean"}
	}
	return nil
}

// suffix refuses a text that is to follow: how a model is asked to fill a gap
// is its own matter, and nothing tells whether it was trained to.
func suffix(_ *turn.Turn, root tape.Value) *dialect.Problem {
	switch v := root.Key("suffix"); {
	case !v.Given(), v.Kind() == tape.String && v.Text() == "":
		return nil
	case v.Kind() != tape.String:
		return &dialect.Problem{Param: "suffix", Message: "must be a string"}
	}
	return &dialect.Problem{Param: "suffix", Message: "is not supported: it is not known how this model is asked to fill a gap; " +
		"if it was trained to, write its own markers into the prompt, which is sent as it is"}
}

// bestMost is how many answers the best may be chosen from.
const bestMost = 128

// bestOf reads how many answers the N best are chosen from: they are made
// with their log probabilities, and compared when all are whole.
func bestOf(t *turn.Turn, root tape.Value) *dialect.Problem {
	v := root.Key("best_of")
	if !v.Given() {
		return nil
	}
	n, ok := v.Int()
	wanted := max(t.N, 1)
	switch {
	case !ok || n < 1 || n > bestMost:
		return &dialect.Problem{Param: "best_of", Message: fmt.Sprintf("must be a number from 1 to %d", bestMost)}
	case int(n) < wanted:
		return &dialect.Problem{Param: "best_of", Message: fmt.Sprintf("must be at least n, which is %d", wanted)}
	case int(n) == wanted:
		return nil
	case t.Stream:
		return &dialect.Problem{Param: "best_of", Message: "cannot be streamed: which answers are the best is known when all are whole; leave out stream, or best_of"}
	}
	t.Best, t.N = wanted, int(n)
	return nil
}

// prompts reads what is to go on: a text, ids, or a list of such.
func prompts(t *turn.Turn, root tape.Value) *dialect.Problem {
	v := root.Key("prompt")
	first := tape.Value{}
	for _, e := range v.Elements() {
		first = e
		break
	}
	if !v.Given() {
		return &dialect.Problem{Param: "prompt", Message: "field required"}
	}
	if v.Kind() == tape.String || v.Kind() == tape.Array && (first.Kind() == tape.Number || first.Kind() == tape.None) {
		return prompt(t, "prompt", v)
	}
	if v.Kind() != tape.Array {
		return noPrompt("prompt")
	}
	for i, e := range v.Elements() {
		if p := prompt(t, fmt.Sprintf("prompt[%d]", i), e); p != nil {
			return p
		}
	}
	return nil
}

func noPrompt(at string) *dialect.Problem {
	return &dialect.Problem{Param: at, Message: "must be a text or a list of token ids"}
}

// prompt reads one prompt.
func prompt(t *turn.Turn, at string, v tape.Value) *dialect.Problem {
	var p turn.Prompt
	switch v.Kind() {
	case tape.String:
		p.Text = v.Text()
	case tape.Array:
		for i, e := range v.Elements() {
			n, ok := e.Int()
			if !ok || n < 0 || n > math.MaxUint32 {
				return &dialect.Problem{Param: fmt.Sprintf("%s[%d]", at, i), Message: "must be a token id"}
			}
			p.IDs = append(p.IDs, uint32(n))
		}
	default:
		return noPrompt(at)
	}
	if p.Text == "" && p.IDs == nil {
		return &dialect.Problem{Param: at, Message: "must not be empty"}
	}
	if len(t.Prompts) == promptsMost {
		return &dialect.Problem{Param: "prompt", Message: fmt.Sprintf("at most %d prompts in one request", promptsMost)}
	}
	t.Prompts = append(t.Prompts, p)
	return nil
}

// special reads whether texts are put as the model's texts begin and end, as
// they are in vLLM unless the client says otherwise.
func special(t *turn.Turn, root tape.Value) *dialect.Problem {
	switch v := root.Key("add_special_tokens"); {
	case v.Kind() == tape.False:
		for i := range t.Prompts {
			t.Prompts[i].Bare = true
		}
	case v.Given() && v.Kind() != tape.True:
		return &dialect.Problem{Param: "add_special_tokens", Message: "must be a boolean"}
	}
	return nil
}

// promptsMost is how many prompts one request may bring.
const promptsMost = 1024
