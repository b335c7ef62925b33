package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/turn"
)

// title is Claude Code's request for a title.
const title = `{"model":"sim","max_tokens":32000,"stream":true,"thinking":{"type":"adaptive","display":"omitted"},` +
	`"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"title":{"type":"string"}},"required":["title"]}}},` +
	`"messages":[{"role":"user","content":"fix the parser"}]}`

// TestFormats sends turns with a format to workers that enforce it and to
// such that do not.
func TestFormats(t *testing.T) {
	schema := `{"type":"object","properties":{"a":{"type":"integer"}}}`
	chat := func(rest string) string {
		return `{"model":"sim","max_tokens":9,"messages":[{"role":"user","content":"hi"}]` + rest + `}`
	}
	tools := `,"tools":[{"type":"function","function":{"name":"x","parameters":{}}}]`
	format := `,"response_format":{"type":"json_schema","json_schema":{"name":"n","strict":true,"schema":` + schema + `}}`
	for _, c := range []struct {
		name, path, body string
		able             bool // a worker enforces formats
		status           int
		enforced         turn.FormatKind
		told             bool // the prompt holds the schema
		says             string
	}{
		{"text is no format", "/v1/chat/completions", chat(`,"response_format":{"type":"text"}`), false, 200, turn.FreeText, false, ""},
		{"object, enforced", "/v1/chat/completions", chat(`,"response_format":{"type":"json_object"}`), true, 200, turn.JSONObject, false, ""},
		{"object, nobody", "/v1/chat/completions", chat(`,"response_format":{"type":"json_object"}`), false, 400, 0, false, "response_format"},
		{"schema, enforced", "/v1/chat/completions", chat(format), true, 200, turn.JSONSchema, false, ""},
		{"schema, nobody", "/v1/chat/completions", chat(format), false, 400, 0, false, "response_format"},
		{"schema and tools", "/v1/chat/completions", chat(format + tools), true, 200, turn.FreeText, true, "tool calls"},
		{"schema and tools, nobody", "/v1/chat/completions", chat(format + tools), false, 200, turn.FreeText, true, "tool calls"},
		{"schema and tools that may not be called", "/v1/chat/completions", chat(format + tools + `,"tool_choice":"none"`), true, 200, turn.JSONSchema, false, ""},
		{"responses, enforced", "/v1/responses", `{"model":"sim","input":"hi","store":false,"text":{"format":{"type":"json_schema","name":"n","schema":` + schema + `}}}`, true, 200, turn.JSONSchema, false, ""},
		{"responses, nobody", "/v1/responses", `{"model":"sim","input":"hi","text":{"format":{"type":"json_schema","name":"n","schema":` + schema + `}}}`, false, 400, 0, false, "text.format"},
		{"title, enforced", "/v1/messages", title, true, 200, turn.JSONSchema, false, ""},
		{"title, nobody", "/v1/messages", title, false, 200, turn.FreeText, true, "not enforced"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var job turn.Job
			p := &puppet{name: "w0", caps: caps(4000), play: func(ctx context.Context, j turn.Job) (turn.Stream, error) {
				job = j
				return aWord(ctx, j)
			}}
			p.caps.Formats = c.able
			st := newStage(t, p)
			a := ask(t, "POST", st.url+c.path, c.body)
			if a.status != c.status || !strings.Contains(a.body+a.header.Get(warnHeader), c.says) {
				t.Fatalf("%d %s %q", a.status, a.body, a.header.Get(warnHeader))
			}
			if a.status != 200 {
				return
			}
			text := string(simModel(t).Tokenizer().Decode(nil, job.Prompt.Flat()))
			if job.Format.Kind != c.enforced || strings.Contains(text, "JSON schema") != c.told {
				t.Errorf("format %d, told %v: %s", job.Format.Kind, !c.told, text)
			}
			if c.enforced == turn.JSONSchema && !json.Valid(job.Format.Schema) {
				t.Errorf("schema %s", job.Format.Schema)
			}
			if warned := a.header.Get(warnHeader) != ""; warned != (c.says != "") {
				t.Errorf("warning %q", a.header.Get(warnHeader))
			}
		})
	}
}

// TestOnlyWhoCan: of two workers the turn goes to the one that can what it
// needs, or to the one that it is pinned to.
func TestOnlyWhoCan(t *testing.T) {
	gate := make(chan struct{})
	close(gate)
	ps := []*puppet{slow("w0", gate), slow("w1", gate), slow("w2", gate)}
	ps[1].caps.Formats, ps[1].caps.Logprobs = true, true
	st := newStage(t, ps...)
	for _, c := range []struct {
		name, rest string
		headers    []string
		status     int
		worker     string
		says       string
	}{
		{"format", `,"response_format":{"type":"json_object"}`, nil, 200, "w1", ""},
		{"log probabilities", `,"logprobs":true,"top_logprobs":2`, nil, 200, "w1", ""},
		{"pinned", "", []string{"x-dyn-worker", "w2"}, 200, "w2", ""},
		{"pinned to nobody", "", []string{"x-dyn-worker", "w9"}, 400, "", "w0, w1, w2"},
		{"pinned to one that cannot", `,"logprobs":true`, []string{"x-dyn-worker", "w0"}, 400, "", "logprobs"},
	} {
		for range 3 { // load alone would send them round
			body := `{"model":"sim","max_tokens":4,"nvext":{"extra_fields":["worker_id"]},"messages":[{"role":"user","content":"hi"}]` + c.rest + `}`
			a := ask(t, "POST", st.url+"/v1/chat/completions", body, c.headers...)
			if a.status != c.status || !strings.Contains(a.body, c.says) {
				t.Fatalf("%s: %d %s", c.name, a.status, a.body)
			}
			if got := str(dig(doc(t, a.body), "nvext", "worker_id", "decode_worker_id")); got != c.worker {
				t.Errorf("%s: went to %q, want %q: %s", c.name, got, c.worker, a.body)
			}
		}
	}
	ps[2].set(turn.Down)
	st.s.Update(ps[2])
	a := ask(t, "POST", st.url+"/v1/chat/completions", hi, "x-dyn-worker", "w2")
	if a.status != 503 || a.header.Get("Retry-After") == "" {
		t.Errorf("pinned to one that is down: %d %s", a.status, a.body)
	}
}

// TestLogprobs: what a worker tells of its tokens reaches the client, each
// once and in order.
func TestLogprobs(t *testing.T) {
	play := func(ctx context.Context, j turn.Job) (turn.Stream, error) {
		var ds []turn.Delta
		for i, w := range []string{" one", " tw", "o", " <", "b>"} {
			ds = append(ds, turn.Delta{Text: w, IDs: []uint32{300 + uint32(i)}, Logprobs: []turn.Logprob{{Token: w, Value: -float64(i), Top: []turn.Logprob{{Token: w, Value: -float64(i)}, {Token: "x", Value: -9}}}}})
		}
		ds[4].End = &turn.End{Reason: turn.Ended, Usage: turn.Usage{Prompt: j.Prompt.Len(), Output: 5}}
		return &script{ctx, ds}, nil
	}
	p := &puppet{name: "w0", caps: caps(1000), play: play}
	p.caps.Logprobs = true
	st := newStage(t, p)
	want := []string{" one", " tw", "o", " <", "b>"}
	check := func(name string, got []string) {
		t.Helper()
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%s: %q", name, got)
		}
	}
	a := ask(t, "POST", st.url+"/v1/chat/completions", `{"model":"sim","logprobs":true,"top_logprobs":2,"messages":[{"role":"user","content":"hi"}]}`)
	check("document", tokensOf(dig(doc(t, a.body), "choices", 0, "logprobs", "content")))
	a = ask(t, "POST", st.url+"/v1/chat/completions", `{"model":"sim","stream":true,"logprobs":true,"messages":[{"role":"user","content":"hi"}]}`)
	var got []string
	for _, e := range data(a.body) {
		got = append(got, tokensOf(dig(doc(t, e), "choices", 0, "logprobs", "content"))...)
	}
	check("stream", got)
	a = ask(t, "POST", st.url+"/v1/completions", `{"model":"sim","prompt":"hi","max_tokens":9,"logprobs":2}`)
	probs, _ := dig(doc(t, a.body), "choices", 0, "logprobs", "tokens").([]any)
	got = nil
	for _, p := range probs {
		got = append(got, str(p))
	}
	check("completion", got)
}

func tokensOf(list any) (tokens []string) {
	l, _ := list.([]any)
	for _, e := range l {
		tokens = append(tokens, str(dig(e, "token")))
	}
	return tokens
}

// data is the data of a stream's events that is JSON.
func data(stream string) (events []string) {
	for line := range strings.Lines(stream) {
		if d, ok := strings.CutPrefix(line, "data: "); ok && strings.HasPrefix(d, "{") {
			events = append(events, d)
		}
	}
	return events
}

// TestToolsOfNone sends tools to a model whose calls dyn does not know.
func TestToolsOfNone(t *testing.T) {
	st := newStage(t, &puppet{name: "w0", caps: caps(4000), play: aWord})
	st.s.AddModel(Model{ID: "mute", Prompt: simModel(t)})
	w1 := &puppet{name: "w1", caps: caps(4000), play: aWord}
	w1.caps.Model = "mute"
	if err := st.s.Update(w1); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/messages", "/v1/responses"} {
		// that which must be called and cannot is told as the vendors' APIs do
		body := map[string]string{
			"/v1/chat/completions": `"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"x","parameters":{}}}],"tool_choice":"required"`,
			"/v1/messages":         `"max_tokens":9,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"x","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"x"}`,
			"/v1/responses":        `"input":"hi","tools":[{"type":"function","name":"x","parameters":{}}],"tool_choice":{"type":"function","name":"x"}`,
		}[path]
		if a := ask(t, "POST", st.url+path, `{"model":"mute",`+body+`}`); a.status != 400 || !strings.Contains(string(a.body), "no call of a tool can come") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	for _, c := range []struct{ model, rest, says string }{
		{"mute", ``, "no call of a tool can come"},
		{"mute", `,"tool_choice":"none"`, ""},
		{"sim", ``, ""},
	} {
		a := ask(t, "POST", st.url+"/v1/chat/completions", `{"model":"`+c.model+`","max_tokens":9,"messages":[{"role":"user","content":"hi"}],`+
			`"tools":[{"type":"function","function":{"name":"x","parameters":{}}}]`+c.rest+`}`)
		if got := a.header.Get(warnHeader); a.status != 200 || (got != "") != (c.says != "") || !strings.Contains(got, c.says) {
			t.Errorf("%s%s: %d, warned %q, want %q", c.model, c.rest, a.status, got, c.says)
		}
	}
}
