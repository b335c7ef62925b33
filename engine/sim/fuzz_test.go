package sim

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

var dry = sync.OnceValues(func() (*server, error) {
	o, err := parse([]string{"--kv-tokens", "1600"}, io.Discard)
	if err != nil {
		return nil, err
	}
	return newServer(o)
})

// FuzzCompletion: no body makes the server fall over before the engine sees
// it, and every refusal is a JSON error.
func FuzzCompletion(f *testing.F) {
	for _, s := range []string{
		`{"prompt":[1,2,3],"stop":["a"],"max_tokens":3}`, `{"prompt":"x","stream_options":{}}`, `{"prompt":[[1]]}`,
		`{"prompt":[-1,1.5,"x",null]}`, `{"n":2,"cache_salt":""}`, `[`, `{"prompt":[ ]}`, `{"prompt":[1,]}`,
		`{"max_tokens":1e99}`, `{"stop_token_ids":[-1]}`, "{\"prompt\":\"\\ud800\xff\"}",
	} {
		f.Add(s)
	}
	s, err := dry()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r := httptest.NewRequest(http.MethodPost, "/v1/completions", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		b, p := readBody(w, r)
		if p == nil {
			var c *completion
			if c, p = readCompletion(b); p == nil {
				_, p = s.ask(c, r.Header)
			}
		}
		if p != nil && (!json.Valid([]byte(p.body())) || p.status < 400 || p.status >= 500) {
			t.Errorf("refusal %d: %s", p.status, p.body())
		}
	})
}

// FuzzAppendText: what is written is JSON and reads back as the same text.
func FuzzAppendText(f *testing.F) {
	f.Add("a\"\\\n\x00é\xff\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(appendText(nil, []byte(s)), &got); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(s)); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	})
}
