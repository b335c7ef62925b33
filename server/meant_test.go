package server

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// TestHandedOnWithoutWordsToEngines: a body that is handed on is as it came, but
// for what is not a client's to say.
func TestHandedOnWithoutWordsToEngines(t *testing.T) {
	st := newStage(t)
	e := listen(t, "")
	for _, kind := range kinds {
		if _, err := st.s.AttachKind(t.Context(), turn.Attach{URL: e.URL, Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ name, path, body, want, warns string }{
		{"nothing of it", "/v1/embeddings", `{ "model":"m","input": "priority" , "x":1.50 }`, `{ "model":"m","input": "priority" , "x":1.50 }`, ""},
		{"first", "/v1/embeddings", `{"priority":-5, "input":"a"}`, `{"input":"a"}`, "priority"},
		{"last", "/v1/embeddings", `{"input":"a","vllm_xargs":{"a":[1,{"b":2}]}}`, `{"input":"a"}`, "vllm_xargs"},
		{"all", "/v1/embeddings", ` {"rid":"x" }`, `{}`, "rid"},
		{"inside it stays", "/v1/embeddings", `{"input":{"priority":1},"big":12345678901234567890.0}`, `{"input":{"priority":1},"big":12345678901234567890.0}`, ""},
		{"spelled otherwise, and twice", "/v1/images/generations", `{"pri\u006frity":1,"prompt":"a","priority":2}`, `{"prompt":"a"}`, "priority, priority"},
		{"a form", "/v1/images/edits", "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\na\r\n--b--", "--b\r\nContent-Disposition: form-data; name=\"prompt\"\r\n\r\na\r\n--b--", ""},
	} {
		e.since()
		kind := "application/json"
		if strings.HasPrefix(c.body, "--") {
			kind = "multipart/form-data; boundary=b"
		}
		a := ask(t, "POST", st.url+c.path, c.body, "Content-Type", kind)
		heard := e.since()
		if a.status != 200 || len(heard) != 1 || heard[0].body != c.want {
			t.Errorf("%s: %d %s; the engine got %+v", c.name, a.status, a.body, heard)
		}
		if got := a.header.Get(warnHeader); (c.warns == "") != (got == "") || !strings.HasPrefix(got, c.warns) {
			t.Errorf("%s: the client is told %q", c.name, got)
		}
	}
	for _, body := range []string{
		`{"input":"a","priority":-1,"dimensions":NaN}`, `{"priority":1`, `{"priority":1} {"input":2}`, `["priority"]`, "\xff\xfe{\x00",
	} {
		e.since()
		if a := ask(t, "POST", st.url+"/v1/embeddings", body, "Content-Type", "application/json"); a.status != 400 || len(e.since()) != 0 {
			t.Errorf("%q: %d %s", body, a.status, a.body)
		}
	}
}

// Whatever is let through holds all other members in their order.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1, "priority" : {"b":2},"a":3}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, object []byte) {
		kept, out, err := members(object)
		if err != nil {
			return
		}
		joined := append(append([]byte("{"), bytes.Join(kept, []byte(","))...), '}')
		again, more, err := members(joined)
		if err != nil || len(more) > 0 || len(again) != len(kept) || !json.Valid(joined) {
			t.Fatalf("%q makes %q: %v", object, joined, err)
		}
		for _, name := range out {
			if !slices.Contains(meant, name) {
				t.Fatalf("%s was taken out", name)
			}
		}
	})
}
