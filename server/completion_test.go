package server

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	simmodel "github.com/agentinfer/dyn/engine/sim/model"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
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

// TestCompletionsBegin: a text that is a whole prompt begins as the texts that
// the model learnt from, unless the client says otherwise; ids are as given.
func TestCompletionsBegin(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"tokenizer.json", "tokenizer_config.json", "config.json"} {
		data, err := fs.ReadFile(simmodel.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		data = bytes.Replace(data, []byte(`"post_processor": null`), []byte(`"post_processor":{"type":"TemplateProcessing",`+
			`"single":[{"SpecialToken":{"id":"<b>","type_id":0}},{"Sequence":{"id":"A","type_id":0}}],"special_tokens":{"<b>":{"ids":[5]}}}`), 1)
		files[name] = &fstest.MapFile{Data: data}
	}
	begun, err := prompt.OpenFS(files, prompt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	st := newStage(t)
	st.s.AddModel(Model{ID: "begun", Prompt: begun})
	var got []uint32
	info := caps(1000)
	info.Model = "begun"
	if err := st.s.Update(&puppet{name: "w0", caps: info, play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		got = j.Prompt.Flat()
		return &script{ctx, []turn.Delta{{Text: " word", IDs: []uint32{300}, End: &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 1}}}}}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	bare := begun.Tokenizer().Encode(nil, "some text")
	whole := append([]uint32{5}, bare...)
	for fields, want := range map[string][]uint32{
		`"prompt":"some text"`:                             whole,
		`"prompt":"some text","add_special_tokens":true`:   whole,
		`"prompt":"some text","add_special_tokens":false`:  bare,
		`"prompt":` + list(bare):                           bare,
		`"prompt":["some text"],"add_special_tokens":null`: whole,
	} {
		if a := ask(t, "POST", st.url+"/v1/completions", `{"model":"begun",`+fields+`}`); a.status != 200 || !slices.Equal(got, want) {
			t.Errorf("%s: %d, the worker got %v, want %v", fields, a.status, got, want)
		}
		if strings.HasPrefix(fields, `"prompt":"`) {
			if a := ask(t, "POST", st.url+"/tokenize", `{"model":"begun",`+fields+`}`); !strings.Contains(a.body, list(want)) {
				t.Errorf("tokenize %s: %s, want %v", fields, a.body, want)
			}
		}
	}
}

func list(ids []uint32) string { return strings.Join(strings.Fields(fmt.Sprint(ids)), ",") }

func TestBadCompletions(t *testing.T) {
	st, _ := reading(t)
	for body, says := range map[string]string{
		`{"model":"sim"}`:                                                              "prompt",
		`{"model":"sim","prompt":""}`:                                                  "must not be empty",
		`{"model":"sim","prompt":[]}`:                                                  "prompt",
		`{"model":"sim","prompt":{}}`:                                                  "prompt",
		`{"model":"sim","prompt":[1,-2]}`:                                              "prompt[1]",
		`{"model":"sim","prompt":[1,"a"]}`:                                             "prompt[1]",
		`{"model":"sim","prompt":[4000000000]}`:                                        "no token of this model",
		`{"model":"sim","prompt":[99999999999]}`:                                       "must be a token id",
		`{"model":"sim","prompt":["a",""]}`:                                            "prompt[1]",
		`{"model":"sim","prompt":["a",5]}`:                                             "prompt[1]",
		`{"model":"sim","prompt":["a",[1,-2]]}`:                                        "prompt[1][1]",
		`{"model":"sim","prompt":["a",[4000000000]]}`:                                  "prompt[1][0]",
		`{"model":"sim","prompt":["a",[]]}`:                                            "prompt[1]",
		`{"model":"sim","prompt":"a","echo":1}`:                                        "echo",
		`{"model":"sim","prompt":"a","suffix":"b"}`:                                    "write its own markers into the prompt",
		`{"model":"sim","prompt":"a","suffix":5}`:                                      "suffix",
		`{"model":"sim","prompt":"a","best_of":3}`:                                     "no worker of sim tells log probabilities",
		`{"model":"sim","prompt":"a","best_of":0}`:                                     "best_of",
		`{"model":"sim","prompt":"a","n":3,"best_of":2}`:                               "at least n",
		`{"model":"sim","prompt":"a","best_of":"x"}`:                                   "best_of",
		`{"model":"sim","prompt":"a","best_of":30}`:                                    "at most 16",
		`{"model":"sim","prompt":"a","n":30}`:                                          "at most 16",
		`{"model":"sim","prompt":"a","best_of":2,"stream":true}`:                       "cannot be streamed",
		`{"model":"sim","prompt":["a"` + strings.Repeat(`,"a"`, 300) + `]}`:            "at most 256",
		`{"model":"sim","prompt":["a"` + strings.Repeat(`,"a"`, 2000) + `]}`:           "at most 1024",
		`{"model":"sim","prompt":"a","include_stop_str_in_output":"yes"}`:              "include_stop_str_in_output",
		`{"model":"sim","prompt":"a","logprobs":true}`:                                 "logprobs",
		`{"model":"sim","prompt":"a","add_special_tokens":1}`:                          "add_special_tokens",
		`{"model":"sim","prompt":"a","logprobs":2}`:                                    "no worker of sim tells log probabilities",
		`{"model":"sim","prompt":"a","temperature":"hot"}`:                             "temperature",
		`{"model":"sim","prompt":`:                                                     "JSON",
		`[]`:                                                                           "JSON",
		`{"prompt":"a"}`:                                                               "model",
		`{"model":"sim","prompt":` + quote(strings.Repeat("hello world ", 5000)) + `}`: "maximum context length",
	} {
		if a := ask(t, "POST", st.url+"/v1/completions", body); a.status != 400 || !strings.Contains(a.body, says) {
			t.Errorf("%.80s: %d %s", body, a.status, a.body)
		}
	}
}

// likely plays answers of two tokens, the surer the higher the seed.
func likely(ctx context.Context, j turn.Job) (turn.Stream, error) {
	seed := *j.Sampling.Seed
	p := turn.Logprob{Token: " seed", Value: -1 / float64(seed+1)}
	d := turn.Delta{Text: fmt.Sprint(" seed ", seed), IDs: []uint32{300, 301}, End: &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 2}}}
	if j.Sampling.Logprobs {
		d.Logprobs = []turn.Logprob{p, p}
	}
	return &script{ctx, []turn.Delta{d}}, nil
}

// TestSeveralPrompts: each prompt of a request gets its own answers, in the
// order of the prompts, as a document and as a stream; what was used is the
// sum, and a key pays for all of it.
func TestSeveralPrompts(t *testing.T) {
	tok := simModel(t).Tokenizer()
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		text := fmt.Sprintf("%s %d", tok.Decode(nil, j.Prompt.Flat()), *j.Sampling.Seed)
		return &script{ctx, []turn.Delta{{Text: text, IDs: []uint32{300, 301}, End: &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 2}}}}}, nil
	}})
	st.s.SetKeys([]turn.Key{key("a", "1")})
	one, two := tok.Encode(nil, "uno"), tok.Encode(nil, "two words")
	in := 2 * (len(one) + len(two) + len(tok.Encode(nil, "three")))
	want := []string{"uno 5", "uno 6", "two words 5", "two words 6", "three 5", "three 6"}
	for _, form := range []string{`["uno","two words","three"]`, `[` + list(one) + `,` + list(two) + `,` + list(tok.Encode(nil, "three")) + `]`, `["uno",` + list(two) + `,"three"]`} {
		body := `{"model":"sim","n":2,"seed":5,"prompt":` + form
		a := ask(t, "POST", st.url+"/v1/completions", body+`}`, "x-api-key", "1")
		d := doc(t, a.body)
		var got []string
		for i := range want {
			got = append(got, str(dig(d, "choices", i, "text")))
			if num(dig(d, "choices", i, "index")) != float64(i) {
				t.Errorf("choice %d: %s", i, a.body)
			}
		}
		if !slices.Equal(got, want) || num(dig(d, "usage", "prompt_tokens")) != float64(in/2) || num(dig(d, "usage", "completion_tokens")) != 12 {
			t.Errorf("%s: %d %s", form, a.status, a.body)
		}
		s := ask(t, "POST", st.url+"/v1/completions", body+`,"stream":true,"stream_options":{"include_usage":true}}`, "x-api-key", "1").body
		streamed := make([]string, len(want))
		for _, e := range data(s) {
			if c := dig(doc(t, e), "choices", 0); c != nil {
				streamed[int(num(dig(c, "index")))] += str(dig(c, "text"))
			}
		}
		if !slices.Equal(streamed, want) || !strings.Contains(s, fmt.Sprintf(`"prompt_tokens":%d,"completion_tokens":12`, in/2)) || !strings.HasSuffix(s, "[DONE]\n\n") {
			t.Errorf("%s: %s", form, s)
		}
	}
	st.until("all have landed", func() bool { return len(st.aloft()) == 0 })
	if u := st.s.ring.All()[0].Used(); u.Tokens != int64(6*(in/2+12)) {
		t.Errorf("the key pays %d tokens, not %d", u.Tokens, 6*(in/2+12))
	}
}

// TestEcho: an answer begins with its prompt, whether it came as text or ids.
func TestEcho(t *testing.T) {
	st, _ := reading(t)
	ids := simModel(t).Tokenizer().Encode(nil, "as ids")
	for _, stream := range []string{"false", "true"} {
		s := ask(t, "POST", st.url+"/v1/completions", `{"model":"sim","max_tokens":1,"echo":true,"stream":`+stream+`,"prompt":["a text",`+list(ids)+`]}`).body
		if !strings.Contains(s, `"text":"a text word"`) || !strings.Contains(s, `"text":"as ids word"`) {
			t.Errorf("stream %s: %s", stream, s)
		}
	}
}

// TestEchoOfProbabilities: the tokens of the prompt stand among those with log
// probabilities, without one, at their places in the text, and the client is
// told.
func TestEchoOfProbabilities(t *testing.T) {
	able := caps(1000)
	able.Logprobs = true
	st := newStage(t, &puppet{name: "w0", caps: able, play: likely})
	ids := simModel(t).Tokenizer().Encode(nil, "größer")
	for _, stream := range []string{"false", "true"} {
		a := ask(t, "POST", st.url+"/v1/completions", `{"model":"sim","prompt":"größer","seed":3,"echo":true,"logprobs":0,"stream":`+stream+`}`)
		if a.status != 200 || !strings.Contains(a.header.Get(warnHeader), "they are null") {
			t.Fatalf("%d %q %s", a.status, a.header.Get(warnHeader), a.body)
		}
		first := a.body
		if stream == "true" {
			first = data(a.body)[0]
		}
		c := dig(doc(t, first), "choices", 0)
		var text string
		for i := range ids {
			text += str(dig(c, "logprobs", "tokens", i))
			if dig(c, "logprobs", "token_logprobs", i) != nil || dig(c, "logprobs", "top_logprobs", i) != nil {
				t.Errorf("token %d of the prompt: %v", i, dig(c, "logprobs"))
			}
		}
		n := len(ids)
		if str(dig(c, "text")) != "größer seed 3" || num(dig(c, "logprobs", "token_logprobs", n)) != -0.25 || num(dig(c, "logprobs", "text_offset", n)) < 6 || dig(c, "logprobs", "tokens", n+2) != nil {
			t.Errorf("%v", c)
		}
		if !utf8.ValidString(text) || strings.Contains(text, "größer") && num(dig(c, "logprobs", "text_offset", n)) != 6 {
			t.Errorf("tokens %q, the answer's begin at %v", text, dig(c, "logprobs", "text_offset", n))
		}
	}
}

// TestBestOf: of several answers the likeliest are told, the best first; what
// all of them used is counted.
func TestBestOf(t *testing.T) {
	able := caps(1000)
	able.Logprobs = true
	st := newStage(t, &puppet{name: "w0", caps: able, play: likely})
	for more, probs := range map[string]bool{"": false, `,"logprobs":0`: true} {
		a := ask(t, "POST", st.url+"/v1/completions", `{"model":"sim","prompt":["a","b"],"seed":3,"n":2,"best_of":4`+more+`}`)
		d := doc(t, a.body)
		for i, want := range []string{" seed 6", " seed 5", " seed 6", " seed 5"} {
			c := dig(d, "choices", i)
			if str(dig(c, "text")) != want || num(dig(c, "index")) != float64(i) || (dig(c, "logprobs") != nil) != probs {
				t.Errorf("choice %d: %v", i, c)
			}
		}
		if a.status != 200 || dig(d, "choices", 4) != nil || num(dig(d, "usage", "completion_tokens")) != 16 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

// TestKeptStops: where a client wants it, the text ends with the stop that was
// met, be it a text or an id; engines leave it out.
func TestKeptStops(t *testing.T) {
	tok := simModel(t).Tokenizer()
	end := tok.Encode(nil, " END")[0]
	st := newStage(t, &puppet{name: "w0", caps: caps(1000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		d := turn.Delta{Text: " word", IDs: []uint32{300}, End: &turn.End{Reason: turn.Stopped, StopText: "###"}}
		if len(j.Stop) == 0 {
			d.IDs, d.End = []uint32{300, end}, &turn.End{Reason: turn.Ended, StopID: true}
		}
		return &script{ctx, []turn.Delta{d}}, nil
	}})
	for path, in := range map[string]string{"/v1/completions": `"prompt":"a"`, "/v1/chat/completions": `"messages":[{"role":"user","content":"a"}]`} {
		for stop, kept := range map[string]string{`"stop":["###"]`: "###", fmt.Sprintf(`"stop_token_ids":[%d]`, end): tok.Token(end)} {
			for keep, want := range map[string]string{"true": "word" + kept, "false": "word"} {
				d := doc(t, ask(t, "POST", st.url+path, `{"model":"sim",`+in+`,`+stop+`,"include_stop_str_in_output":`+keep+`}`).body)
				got := str(dig(d, "choices", 0, "text")) + str(dig(d, "choices", 0, "message", "content"))
				if strings.TrimSpace(got) != want {
					t.Errorf("%s %s %s: %q, want %q", path, stop, keep, got, want)
				}
			}
		}
	}
}
