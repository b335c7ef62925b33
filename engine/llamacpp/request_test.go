package llamacpp

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/turn"
)

func body(t *testing.T, j turn.Job, slot int, reuse bool) gjson.Result {
	t.Helper()
	p := newParcel()
	defer p.release()
	p.write(j, slot, reuse)
	b := bytes.Join(p.pieces, nil)
	if !json.Valid(b) {
		t.Fatalf("no JSON: %s", b)
	}
	return gjson.ParseBytes(bytes.Clone(b))
}

func at[T any](x T) *T { return &x }

// What a client leaves unsaid is the server's to say.
func TestBodyOfUnsaid(t *testing.T) {
	b := body(t, turn.Job{Prompt: turn.IDsOf(1, 2, 3), MaxTokens: 5}, -1, true)
	const want = `{"prompt":[1,2,3],"n_predict":5,"id_slot":-1,"cache_prompt":true,` +
		`"seed":-1,"ignore_eos":false,"n_probs":0,"logit_bias":[],"stop":[],` +
		`"preserved_tokens":["\u003cthink\u003e","\u003c/think\u003e","\u003ctool_call\u003e","\u003c/tool_call\u003e",` +
		`"\u003ctool_response\u003e","\u003c/tool_response\u003e"],` +
		`"return_tokens":true,"return_progress":true,"stream":true,"response_fields":["stop","stop_type","stopping_word",` +
		`"truncated","id_slot","tokens_predicted","tokens_evaluated","tokens_cached","timings"]}`
	if b.Raw != want {
		t.Errorf("body is\n%s\nwant\n%s", b.Raw, want)
	}
}

func TestBody(t *testing.T) {
	j := turn.Job{
		Prompt: turn.IDsOf(make([]uint32, 5000)...), Marks: []string{"<think>", "<|channel|>"}, Stop: []string{"\n\"", "é"}, Salt: "s", Priority: 9,
		Format: turn.Format{Kind: turn.JSONSchema, Schema: json.RawMessage(`{"type":"string"}`)},
		Sampling: turn.Sampling{
			Temperature: at(0.5), TopP: at(math.NaN()), TopK: at(-1), Seed: at(int64(-1)), Repetition: at(1.1), MinP: at(math.Inf(1)),
			Presence: at(-0.5), IgnoreEnd: true, Logprobs: true, Bias: json.RawMessage(`{"7":-100,"x":1,"8":2.5,"9":"no"}`),
		},
	}
	b := body(t, j, 3, false)
	for path, want := range map[string]string{
		"prompt.#": "5000", "n_predict": "1", "id_slot": "3", "cache_prompt": "false", "temperature": "0.5", "top_p": "", "top_k": "0",
		"min_p": "", "seed": "4294967294", "repeat_penalty": "1.1", "repeat_last_n": "-1", "presence_penalty": "-0.5",
		"ignore_eos": "true", "n_probs": "1", "logit_bias": "[[7,-100],[8,2.5]]", "json_schema": `{"type":"string"}`,
		"stop": `["\n\"","é"]`, "cache_salt": "", "priority": "", "preserved_tokens.6": `"\u003c|channel|\u003e"`, "preserved_tokens.7": "",
	} {
		if got := b.Get(path).Raw; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
	j.Format = turn.Format{Kind: turn.JSONObject}
	j.Sampling = turn.Sampling{Logprobs: true, TopLogprobs: 4, Seed: at(int64(1<<32 + 5)), TopK: at(40), Bias: json.RawMessage(`null`)}
	b = body(t, j, -1, true)
	for path, want := range map[string]string{
		"json_schema": `{"type":"object"}`, "n_probs": "4", "seed": "5", "top_k": "40", "logit_bias": "[]",
	} {
		if got := b.Get(path).Raw; got != want {
			t.Errorf("%s is %s, want %s", path, got, want)
		}
	}
}

// Texts that a prompt holds are sent as they lie.
func TestBodyOfWritten(t *testing.T) {
	j := turn.Job{Prompt: said(0, 6000), MaxTokens: 1}
	plain := body(t, j, -1, true).Raw
	j.Prompt = j.Prompt.Written()
	if got := body(t, j, -1, true).Raw; got != plain {
		t.Error("it is another body")
	}
}
