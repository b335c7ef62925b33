package server

import (
	"fmt"
	"strings"
	"testing"
)

// TestCompletions: a text and its ids give the same answer and usage, in a
// document and in a stream; no template touches them.
func TestCompletions(t *testing.T) {
	st, prompt := reading(t)
	const text = "x-anthropic-billing-header: as it is\n\nfunc main() {"
	ids := simModel(t).Tokenizer().Encode(nil, text)
	for name, form := range map[string]string{"text": quote(text), "list of one text": "[" + quote(text) + "]", "ids": list(ids), "list of ids": "[" + list(ids) + "]"} {
		body := `{"model":"sim","max_tokens":1,"prompt":` + form
		a := ask(t, "POST", st.url+"/v1/completions", body+`}`)
		d := doc(t, a.body)
		if a.status != 200 || str(dig(d, "choices", 0, "text")) != " word" || str(dig(d, "choices", 0, "finish_reason")) != "length" {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
		if got := prompt(); got != text || num(dig(d, "usage", "prompt_tokens")) != float64(len(ids)) {
			t.Errorf("%s: the worker got %q, usage %v", name, got, d["usage"])
		}
		s := ask(t, "POST", st.url+"/v1/completions", body+`,"stream":true,"stream_options":{"include_usage":true}}`).body
		if !strings.Contains(s, `"text":" word"`) || !strings.Contains(s, fmt.Sprintf(`"prompt_tokens":%d`, len(ids))) || !strings.HasSuffix(s, "data: [DONE]\n\n") {
			t.Errorf("%s: %s", name, s)
		}
	}
}

func list(ids []uint32) string { return strings.Join(strings.Fields(fmt.Sprint(ids)), ",") }

func TestBadCompletions(t *testing.T) {
	st, _ := reading(t)
	for body, says := range map[string]string{
		`{"model":"sim"}`:                                  "prompt",
		`{"model":"sim","prompt":""}`:                      "must not be empty",
		`{"model":"sim","prompt":[]}`:                      "prompt",
		`{"model":"sim","prompt":{}}`:                      "prompt",
		`{"model":"sim","prompt":[1,-2]}`:                  "prompt[1]",
		`{"model":"sim","prompt":[1,"a"]}`:                 "prompt[1]",
		`{"model":"sim","prompt":[4000000000]}`:            "no token of this model",
		`{"model":"sim","prompt":[99999999999]}`:           "must be a token id",
		`{"model":"sim","prompt":["a","b"]}`:               "one prompt",
		`{"model":"sim","prompt":"a","echo":true}`:         "echo",
		`{"model":"sim","prompt":"a","suffix":"b"}`:        "suffix",
		`{"model":"sim","prompt":"a","best_of":3}`:         "best_of",
		`{"model":"sim","prompt":"a","logprobs":true}`:     "logprobs",
		`{"model":"sim","prompt":"a","logprobs":2}`:        "no worker of sim tells log probabilities",
		`{"model":"sim","prompt":"a","temperature":"hot"}`: "temperature",
		`{"model":"sim","prompt":`:                         "JSON",
		`[]`:                                               "JSON",
		`{"prompt":"a"}`:                                   "model",
		`{"model":"sim","prompt":` + quote(strings.Repeat("hello world ", 5000)) + `}`: "maximum context length",
	} {
		if a := ask(t, "POST", st.url+"/v1/completions", body); a.status != 400 || !strings.Contains(a.body, says) {
			t.Errorf("%.80s: %d %s", body, a.status, a.body)
		}
	}
}
