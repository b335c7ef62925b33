package server

import (
	"fmt"
	"strings"
	"testing"
)

// TestCountsAreExact: what the counting endpoints say is what the engine then
// reports, also of a conversation whose answer is put back as it was made.
func TestCountsAreExact(t *testing.T) {
	r := newRig(t, 1, brainFile(t, toolBrain))
	for _, c := range conversations() {
		count := map[string]string{"/v1/messages": "/v1/messages/count_tokens", "/v1/responses": "/v1/responses/input_tokens", "/v1/chat/completions": "/tokenize"}[c.path]
		t.Run(c.name, func(t *testing.T) {
			check := func(body string) map[string]any {
				_, text := r.post(count, body)
				told := num(doc(t, text)["input_tokens"]) + num(doc(t, text)["count"])
				status, answer := r.post(c.path, body)
				if status != 200 {
					t.Fatalf("%d %s", status, answer)
				}
				u := dig(doc(t, answer), "usage")
				was := num(dig(u, "input_tokens")) + num(dig(u, "cache_read_input_tokens")) + num(dig(u, "cache_creation_input_tokens")) + num(dig(u, "prompt_tokens"))
				if told == 0 || told != was {
					t.Errorf("counted %v, the engine says %v", told, was)
				}
				return doc(t, answer)
			}
			first := check(c.first)
			check(fmt.Sprintf(c.second, c.callID(first)))
		})
	}
}

func TestTokenize(t *testing.T) {
	st, _ := reading(t)
	const text = "Hello, wörld <|im_end|>"
	d := doc(t, ask(t, "POST", st.url+"/tokenize", `{"model":"sim","prompt":`+quote(text)+`,"return_token_strs":true}`).body)
	ids, _ := d["tokens"].([]any)
	if num(d["count"]) != float64(len(ids)) || num(d["max_model_len"]) != 4000 || len(ids) == 0 {
		t.Errorf("%v", d)
	}
	strs, _ := d["token_strs"].([]any)
	if len(strs) != len(ids) {
		t.Errorf("%d texts of %d tokens", len(strs), len(ids))
	}
	var list []string
	for _, id := range ids {
		list = append(list, fmt.Sprint(id))
	}
	back := doc(t, ask(t, "POST", st.url+"/detokenize", `{"model":"sim","tokens":[`+strings.Join(list, ",")+`]}`).body)
	if back["prompt"] != text {
		t.Errorf("back comes %q", back["prompt"])
	}
	for _, body := range []string{`{"messages":[{"role":"user","content":"hi"}],"add_generation_prompt":false}`, `{"messages":[{"role":"user","content":"hi"}]}`} {
		d := doc(t, ask(t, "POST", st.url+"/tokenize", body).body)
		text := str(doc(t, ask(t, "POST", st.url+"/detokenize", `{"tokens":`+strings.ReplaceAll(fmt.Sprint(d["tokens"]), " ", ",")+`}`).body)["prompt"])
		if opened := strings.HasSuffix(text, "<|im_start|>assistant\n"); opened == strings.Contains(body, "false") || !strings.Contains(text, "hi") {
			t.Errorf("%s: %q", body, text)
		}
	}
	for path, bodies := range map[string][]string{
		"/tokenize":   {``, ` `, `null`, `{`, `[]`, `{"model":"sim"}`, `{"model":"sim","prompt":5}`, `{"model":"sim","messages":[]}`, `{"model":"sim","messages":5}`},
		"/detokenize": {``, `{`, `{}`, `{"model":"sim"}`, `{"model":"sim","tokens":null}`, `{"model":5,"tokens":[1]}`, `{"model":"sim","tokens":[1,"a"]}`, `{"model":"sim","tokens":[1.5]}`, `{"model":"sim","tokens":[-1]}`, `{"model":"sim","tokens":[4000000000]}`, `{"model":"sim","tokens":"a"}`},
	} {
		for _, body := range bodies {
			if a := ask(t, "POST", st.url+path, body); a.status != 400 {
				t.Errorf("%s %s: %d %s", path, body, a.status, a.body)
			}
		}
		if a := ask(t, "POST", st.url+path, `{"model":"no","prompt":"a","tokens":[1]}`); a.status != 404 {
			t.Errorf("%s of an unknown model: %d", path, a.status)
		}
	}
}
