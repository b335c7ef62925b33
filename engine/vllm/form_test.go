package vllm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/turn"
)

// kindOfServer answers as a server of some version does: it holds answers to
// a form where the field is one that it knows, refuses or ignores others.
type kindOfServer struct {
	knows   string // the field that works
	refuses []string
	likely  bool
	limit   string // refuses more log probabilities than so many, in these words
	says    string // where nothing holds it; JSON's escapes
}

func (k kindOfServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/completions" {
		if r.URL.Path == "/v1/models" {
			io.WriteString(w, `{"data":[{"id":"m","max_model_len":4096}]}`)
		} else {
			http.NotFound(w, r)
		}
		return
	}
	var q map[string]json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	for _, field := range k.refuses {
		if q[field] != nil {
			http.Error(w, `{"error":{"message":"no `+field+`"}}`, http.StatusBadRequest)
			return
		}
	}
	if k.limit != "" && q["logprobs"] != nil {
		http.Error(w, `{"error":{"message":"`+k.limit+`"}}`, http.StatusBadRequest)
		return
	}
	text, likely := k.says, "null"
	if q[k.knows] != nil {
		text = `\n\"dyn fo`
	}
	if k.likely && q["logprobs"] != nil {
		likely = `{"tokens":["x"],"token_logprobs":[-1],"top_logprobs":[{"x":-1}]}`
	}
	fmt.Fprintf(w, `data: {"choices":[{"text":"%s","token_ids":[5],"logprobs":%s,"finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n", text, likely)
}

func TestProbedForms(t *testing.T) {
	all := []string{"structured_outputs", "guided_json", "response_format"}
	for _, c := range []struct {
		name   string
		server kindOfServer
		form   spelling
		likely bool
	}{
		{"new", kindOfServer{knows: "structured_outputs", likely: true, says: "hello"}, structured, true},
		{"old", kindOfServer{knows: "guided_json", says: "hello", likely: true}, guided, true},
		{"strict and old", kindOfServer{knows: "guided_json", refuses: all[:1], says: "hello"}, guided, false},
		{"OpenAI's", kindOfServer{knows: "response_format", refuses: all[:2], says: "hello"}, responseFormat, false},
		{"ignores all", kindOfServer{says: "hello"}, unheld, false},
		{"limits", kindOfServer{limit: "Requested sample logprobs of 1000000, which is greater than max allowed: 20", says: "a"}, unheld, true},
		{"says a quote", kindOfServer{says: `\"`}, unheld, false},
		{"says nothing", kindOfServer{says: " "}, unheld, false},
		{"refuses all", kindOfServer{refuses: append(all, "logprobs"), says: "x"}, unheld, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := serve(t, c.server.ServeHTTP)
			seen, err := client.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := spelling(client.form.Load()); got != c.form || seen.Caps.Formats != (c.form != unheld) || seen.Caps.Logprobs != c.likely {
				t.Errorf("form %d, capabilities %+v; want form %d, logprobs %v", got, seen.Caps, c.form, c.likely)
			}
			_, err = client.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1, Format: turn.Format{Kind: turn.JSONObject}})
			var refused *turn.Refused
			if errors.As(err, &refused) != (c.form == unheld) {
				t.Errorf("a job with a form: %v", err)
			}
		})
	}
}

// A probe that is called off says so, and holds nothing to be true.
func TestProbeIsCalledOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "structured_outputs") {
			cancel()
			<-r.Context().Done()
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		kindOfServer{says: "x"}.ServeHTTP(w, r)
	})
	if _, err := c.Probe(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
}

// A server that is full for a moment is not one that cannot.
func TestProbeOfAFullServer(t *testing.T) {
	for _, field := range []string{"structured_outputs", "logprobs"} {
		var full atomic.Bool
		full.Store(true)
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if full.Load() && strings.Contains(string(body), field) {
				http.Error(w, `{"error":{"message":"The engine is currently busy"}}`, http.StatusServiceUnavailable)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
			kindOfServer{knows: "structured_outputs", likely: true, says: "x"}.ServeHTTP(w, r)
		})
		if _, err := c.Probe(t.Context()); !errors.Is(err, turn.ErrBusy) {
			t.Errorf("%s: error is %v", field, err)
		}
		full.Store(false)
		if seen, err := c.Probe(t.Context()); err != nil || !seen.Caps.Formats || !seen.Caps.Logprobs {
			t.Errorf("%s: later %+v, %v", field, seen.Caps, err)
		}
	}
}

func TestForms(t *testing.T) {
	schema := json.RawMessage(`{"type":"string"}`)
	for _, c := range []struct {
		as   spelling
		f    turn.Format
		want string
	}{
		{structured, turn.Format{}, ``},
		{structured, turn.Format{Kind: turn.JSONObject}, `,"structured_outputs":{"json":{"type":"object"}}`},
		{structured, turn.Format{Kind: turn.JSONSchema, Schema: schema}, `,"structured_outputs":{"json":{"type":"string"}}`},
		{guided, turn.Format{Kind: turn.JSONSchema, Schema: schema}, `,"guided_json":{"type":"string"}`},
		{
			responseFormat,
			turn.Format{Kind: turn.JSONSchema, Schema: schema},
			`,"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"string"}}}`,
		},
		{unheld, turn.Format{Kind: turn.JSONSchema, Schema: schema}, ``},
	} {
		if got := c.as.append(nil, c.f); string(got) != c.want {
			t.Errorf("%d %+v: got %s, want %s", c.as, c.f, got, c.want)
		}
	}
}

// TestParcels sends many bodies at once to a server that answers some before
// it has read them: each arrives whole and as its own.
func TestParcels(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Prompt []uint32
			Max    int `json:"max_tokens"`
		}
		if r.Header.Get("X-Request-Id") == "early" {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		err := json.NewDecoder(r.Body).Decode(&q)
		for _, id := range q.Prompt {
			if int(id) != q.Max {
				err = fmt.Errorf("id %d in prompt %d", id, q.Max)
			}
		}
		if err != nil || len(q.Prompt) != 10*q.Max {
			http.Error(w, fmt.Sprintf("%d ids, %v", len(q.Prompt), err), http.StatusBadRequest)
			return
		}
		io.WriteString(w, `data: {"choices":[{"text":"x","finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
	})
	errs := make(chan error, 200)
	for n := range cap(errs) {
		go func() {
			j := turn.Job{ID: "whole", MaxTokens: 1 + n*7}
			if n%3 == 0 {
				j.ID = "early"
			}
			j.Prompt = turn.IDsOf(slices.Repeat([]uint32{uint32(j.MaxTokens)}, 10*j.MaxTokens)...)
			if n%2 == 0 {
				j.Prompt = j.Prompt.Written()
			}
			a := readAll(c.Generate(t.Context(), j))
			if a.err != nil && (j.ID == "whole" || !errors.Is(a.err, turn.ErrLost)) {
				errs <- fmt.Errorf("%d: %w", n, a.err)
				return
			}
			errs <- nil
		}()
	}
	for range cap(errs) {
		select {
		case err := <-errs:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("a request does not end")
		}
	}
}
