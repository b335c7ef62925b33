package server

import (
	"strings"
	"testing"
)

// TestExtraFields: what is asked for is told in every API, in documents and
// streams, and nothing else.
func TestExtraFields(t *testing.T) {
	r := newRig(t, 1)
	ask := `,"nvext":{"extra_fields":["worker_id","timing","hit","stop_reason","completion_token_ids","what_is_this"]}`
	for path, body := range map[string]string{
		"/v1/chat/completions": `"messages":[{"role":"user","content":"hi"}],"max_tokens":4`,
		"/v1/messages":         `"messages":[{"role":"user","content":"hi"}],"max_tokens":4`,
		"/v1/responses":        `"input":"hi","max_output_tokens":4`,
		"/v1/completions":      `"prompt":"hi","max_tokens":4`,
	} {
		for _, stream := range []string{"", `,"stream":true`} {
			status, text := r.post(path, `{"model":"sim",`+body+ask+stream+`}`)
			if status != 200 {
				t.Fatalf("%s: %d %s", path, status, text)
			}
			x := extraOf(t, text, stream != "")
			ids, _ := dig(x, "completion_token_ids").([]any)
			if dig(x, "worker_id", "decode_worker_id") != "a0" || num(dig(x, "timing", "ttft_ms")) <= 0 || num(dig(x, "timing", "total_time_ms")) <= 0 ||
				num(dig(x, "hit", "prompt_tokens")) <= 0 || str(dig(x, "stop_reason")) != "length" || len(ids) != 4 {
				t.Errorf("%s%s: %v", path, stream, x)
			}
		}
		if _, text := r.post(path, `{"model":"sim",`+body+`}`); strings.Contains(text, "nvext") {
			t.Errorf("%s tells what nobody asked for: %s", path, text)
		}
	}
}

// extraOf finds the nvext object of an answer.
func extraOf(t *testing.T, text string, stream bool) any {
	if !stream {
		return doc(t, text)["nvext"]
	}
	var x any
	for _, e := range data(text) {
		d := doc(t, e)
		for _, at := range []any{d["nvext"], dig(d, "response", "nvext")} {
			if at != nil {
				x = at
			}
		}
	}
	return x
}

// TestUnknownHints are told in a header, one each.
func TestUnknownHints(t *testing.T) {
	st, _ := reading(t)
	a := ask(t, "POST", st.url+"/v1/chat/completions", `{"model":"sim","max_tokens":4,"nvext":{"no_such_thing":1,"agent_hints":{"nor this\r\nx: y":2}},"messages":[{"role":"user","content":"hi"}]}`)
	if w := a.header.Get(warnHeader); a.status != 200 || !strings.Contains(w, "no_such_thing") || !strings.Contains(w, "nor this") || a.header.Get("x") != "" {
		t.Errorf("%d %q", a.status, w)
	}
	for strict, want := range map[string]int{"false": 200, "true": 400} {
		a := ask(t, "POST", st.url+"/v1/chat/completions", says("hi", `,"max_tokens":4`), "X-Dyn-No-Such", "1", "X-Dyn-Osl", "4", "X-Dyn-Strict", strict)
		if said := a.header.Get(warnHeader) + a.body; a.status != want || !strings.Contains(said, "x-dyn-no-such") || strings.Contains(said, "x-dyn-osl") {
			t.Errorf("strict %s: %d %q %s", strict, a.status, a.header.Get(warnHeader), a.body)
		}
	}
}
