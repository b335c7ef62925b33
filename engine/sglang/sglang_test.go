package sglang

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

func ptr[T any](v T) *T { return &v }

// serve answers /generate with the events, and keeps its last request.
func serve(t *testing.T, m manner, events ...string) (*client, *map[string]any) {
	t.Helper()
	var got map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/generate" {
			return
		}
		got = nil
		_ = json.NewDecoder(r.Body).Decode(&got)
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	c := newClient(engine.Endpoint{URL: s.URL})
	c.manner.Store(&m)
	t.Cleanup(func() { c.Close(); s.CloseClientConnections(); s.Close() })
	return c, &got
}

type answer struct {
	text   string
	deltas int
	ids    []uint32
	end    *turn.End
	err    error
}

func readAll(s turn.Stream, err error) (a answer) {
	if err != nil {
		a.err = err
		return a
	}
	defer s.Close()
	for {
		d, err := s.Next()
		if err != nil {
			a.err = err
			return a
		}
		a.text += d.Text
		a.ids = append(a.ids, d.IDs...)
		a.deltas++
		if d.End != nil {
			a.end = d.End
			return a
		}
	}
}

func TestRequest(t *testing.T) {
	c, got := serve(t, manner{held: true, priority: 1, thought: 9})
	_ = readAll(c.Generate(t.Context(), turn.Job{
		ID: "t1", Prompt: turn.IDsOf(1, 4294967295), MaxTokens: 7, Stop: []string{"x"}, StopIDs: []uint32{9},
		Sampling: turn.Sampling{
			Temperature: ptr(0.5), TopK: ptr(0), Seed: ptr(int64(-1)), Presence: ptr(0.0), MinP: ptr(0.25), Repetition: ptr(1.5),
			MinTokens: 2, StopIDs: []uint32{9, 8}, IgnoreEnd: true, Bias: json.RawMessage(`{"5":-100}`), Logprobs: true, TopLogprobs: 3,
		},
		Format: turn.Format{Kind: turn.JSONObject}, Salt: "s", Priority: 10,
	}))
	rid, _ := (*got)["rid"].(string)
	if len(rid) != 32 {
		t.Errorf("rid is %q", rid)
	}
	delete(*got, "rid")
	want := `map[cache_salt:s extra_key:s input_ids:[1 4.294967295e+09] priority:10 require_reasoning:true return_logprob:true ` +
		`return_text_in_logprobs:true sampling_params:map[ignore_eos:true json_schema:{"type":"object"} logit_bias:map[5:-100] ` +
		`max_new_tokens:7 min_new_tokens:2 min_p:0.25 presence_penalty:0 repetition_penalty:1.5 sampling_seed:-1 ` +
		`skip_special_tokens:false spaces_between_special_tokens:false stop_token_ids:[9 8] temperature:0.5 top_k:-1] ` +
		`stream:true top_logprobs_num:3]`
	if fmt.Sprint(*got) != want {
		t.Errorf("got  %v\nwant %v", *got, want)
	}
}

// A priority goes out only where the server was started to honour it: it may
// end those that it does not expect. Its sign is the server's.
func TestPriority(t *testing.T) {
	for sign, want := range map[int64]any{0: nil, 1: 5.0, -1: -5.0} {
		c, got := serve(t, manner{priority: sign, thought: -1})
		_ = readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1, Priority: 5}))
		if (*got)["priority"] != want {
			t.Errorf("sign %d: priority is %v, want %v", sign, (*got)["priority"], want)
		}
	}
}

// Whether a thought comes before the form is seen at the prompt's end.
func TestThinks(t *testing.T) {
	m := manner{thought: 9}
	for _, c := range []struct {
		ids  []uint32
		want bool
	}{
		{[]uint32{1, 2, 3}, true},
		{[]uint32{1, 9, 2}, false},
		{[]uint32{9}, false},
		{[]uint32{9, 1, 2, 3}, true}, // the thought of an earlier answer
		{nil, true},
	} {
		if got := m.thinks(turn.IDsOf(c.ids...)); got != c.want {
			t.Errorf("%v: %v", c.ids, got)
		}
	}
	if (manner{thought: -1}).thinks(turn.IDsOf(1)) {
		t.Error("a server without a reasoning parser is told of a thought")
	}
}

// event is one of a stream.
func event(text string, ids []uint32, output int, finish string) string {
	e := map[string]any{"text": text, "output_ids": ids, "meta_info": map[string]any{
		"prompt_tokens": 4, "completion_tokens": output, "cached_tokens": 99, "finish_reason": json.RawMessage(finish),
	}}
	b, _ := json.Marshal(e)
	return string(b)
}

const (
	going  = "null"
	cutOff = `{"type":"length","length":3}`
	byID   = `{"type":"stop","matched":7}`
)

// Both manners of streaming give the same deltas, and a cached count above
// the prompt's is clamped.
func TestManners(t *testing.T) {
	for name, events := range map[string][]string{
		"new ones": {event("a", []uint32{1}, 1, going), event("b", []uint32{2, 3}, 3, going), event("", []uint32{7}, 4, byID), "[DONE]"},
		"all from the start": {
			event("a", []uint32{1}, 1, going), event("ab", []uint32{1, 2, 3}, 3, going), event("ab", []uint32{1, 2, 3, 7}, 4, byID), "[DONE]",
		},
		"null text": {
			event("a", []uint32{1}, 1, going), `{"text":null,"output_ids":[2,3],"meta_info":{"completion_tokens":3,"finish_reason":null}}`,
			event("b", []uint32{7}, 4, byID), "[DONE]",
		},
		"without the mark of the end": {event("ab", []uint32{1, 2, 3, 7}, 4, byID)},
	} {
		c, _ := serve(t, manner{thought: -1}, events...)
		a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 9}))
		if a.err != nil || a.text != "ab" || !slices.Equal(a.ids, []uint32{1, 2, 3, 7}) {
			t.Errorf("%s: %+v", name, a)
			continue
		}
		want := turn.End{Reason: turn.Ended, StopID: true, Usage: turn.Usage{Prompt: 4, Output: 4, Cached: 4}}
		if *a.end != want {
			t.Errorf("%s: end is %+v, want %+v", name, *a.end, want)
		}
	}
}

func TestEnds(t *testing.T) {
	one := event("a", []uint32{1}, 1, going)
	for _, c := range []struct {
		name   string
		events []string
		reason turn.Reason // "" is an error
		status int         // of a refusal; 0 is a lost worker
		busy   bool
	}{
		{"length", []string{one, event("b", []uint32{2}, 2, cutOff), "[DONE]"}, turn.Cut, 0, false},
		{"a stop string of the server's", []string{one, event("", []uint32{2}, 2, `{"type":"stop","matched":"x"}`)}, turn.Stopped, 0, false},
		{"an end that matched nothing", []string{one, event("", nil, 1, `{"type":"stop","matched":null}`)}, turn.Ended, 0, false},
		{"nothing at all", nil, "", 0, false},
		{"only the mark", []string{"[DONE]"}, "", 0, false},
		{"the mark without a reason", []string{one, "[DONE]"}, "", 0, false},
		{"cut", []string{one}, "", 0, false},
		{"an end without a token", []string{event("", nil, 0, byID)}, "", 0, false},
		{"abort", []string{one, event("", nil, 1, `{"type":"abort","message":"x"}`)}, "", 0, false},
		{"abort of a bad request", []string{event("", nil, 0, `{"type":"abort","message":"x","status_code":400}`)}, "", 400, false},
		{"abort by a full queue", []string{event("", nil, 0, `{"type":"abort","message":"x","status_code":503}`)}, "", 0, true},
		{"error with a code", []string{`{"error":{"message":"too long","code":400}}`, "[DONE]"}, "", 400, false},
		{"error with a code in a string", []string{`{"error":{"message":"too long","code":"400"}}`}, "", 400, false},
		{"error without a code", []string{`{"error":{"message":"too long"}}`, "[DONE]"}, "", 400, false},
		{"error in mid-stream", []string{one, `{"error":{"message":"boom"}}`}, "", 0, false},
		{"error that may pass", []string{`{"error":{"message":"x","code":400,"retryable":true}}`}, "", 0, false},
		{"error of the engine", []string{`{"error":{"message":"x","code":500}}`}, "", 0, false},
		{"error as a string", []string{`{"error":"x"}`}, "", 400, false},
		{"garbage", []string{"{{{"}, "", 0, false},
		{"no object", []string{"[]"}, "", 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, _ := serve(t, manner{thought: -1}, c.events...)
			a := readAll(cl.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4}))
			if c.reason != "" {
				if a.err != nil || a.end.Reason != c.reason {
					t.Fatalf("end is %+v, error %v", a.end, a.err)
				}
				return
			}
			var r *turn.Refused
			switch {
			case errors.As(a.err, &r) != (c.status != 0), r != nil && r.Status != c.status,
				errors.Is(a.err, turn.ErrLost) != (c.status == 0), errors.Is(a.err, turn.ErrBusy) != c.busy:
				t.Errorf("error is %v", a.err)
			}
		})
	}
}

// https://github.com/sgl-project/sglang/pull/35255: an answer is aborted while
// its connection is still open, by its whole id.
func TestAbortComesFirst(t *testing.T) {
	var mu sync.Mutex
	var steps []string
	step := func(s string) { mu.Lock(); steps = append(steps, s); mu.Unlock() }
	over := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct{ Rid string }
		body, _ := io.ReadAll(r.Body)
		_ = json.Unmarshal(body, &q)
		if r.URL.Path == "/abort_request" {
			step("abort " + q.Rid)
			return
		}
		step("generate " + q.Rid)
		fmt.Fprintf(w, "data: %s\n\n", event("a", []uint32{1}, 1, going))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		step("close")
		close(over)
	}))
	defer s.Close()
	c := newClient(engine.Endpoint{URL: s.URL})
	defer c.Close()
	c.manner.Store(&manner{thought: -1})
	stream, err := c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Next(); err != nil {
		t.Fatal(err)
	}
	stream.Close()
	select {
	case <-over:
	case <-time.After(time.Minute):
		t.Fatal("the connection stays")
	}
	rid := strings.TrimPrefix(steps[0], "generate ")
	if want := []string{"generate " + rid, "abort " + rid, "close"}; !slices.Equal(steps, want) || len(rid) != 32 {
		t.Errorf("steps are %q", steps)
	}
}

func TestLaunch(t *testing.T) {
	r := &recipes.Recipe{
		Model: "m", Command: []string{"{engine}"}, Flags: map[string]string{"tp-size": "2", "radix-eviction-policy": "false"},
		Env: map[string]string{"A": "b"}, ModelDir: "/models/m",
	}
	at := engine.Place{Port: 8101, Key: "k", Events: "tcp://127.0.0.1:7001", Dir: t.TempDir()}
	s := engine.Spec{
		Recipe: r, Program: []string{"sglang", "serve"}, GPUs: []int{1, 3},
		Flags: map[string]string{"context-length": "4096", "max-running-requests": "8", "base-gpu-id": "1"},
	}
	l, err := Adapter{}.Launch(s, at)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Join(l.Args, " ")
	for _, want := range []string{
		"sglang serve --", "--host 127.0.0.1", "--port 8101", "--served-model-name m", "--model-path /models/m", "--page-size 16",
		"--tp-size 2", "--enable-priority-scheduling", "--incremental-streaming-output",
		`--kv-events-config {"endpoint":"tcp://127.0.0.1:7001","publisher":"zmq","topic":"kv"}`,
	} {
		if !strings.Contains(line, want) {
			t.Errorf("%q is missing in %s", want, line)
		}
	}
	for _, none := range []string{"api-key", "radix-eviction", "base-gpu-id"} {
		if strings.Contains(line, none) {
			t.Errorf("%q is in %s", none, line)
		}
	}
	if !slices.Contains(l.Env, "CUDA_VISIBLE_DEVICES=1,3") || !slices.Contains(l.Env, "A=b") ||
		!slices.Contains(l.Env, "SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION=false") {
		t.Errorf("environment is %v", l.Env)
	}
	if l.Known.MaxSeqs != 8 || l.Known.Context != 4096 || l.Known.BlockSize != 16 {
		t.Errorf("known is %+v", l.Known)
	}
	path := filepath.Join(at.Dir, "sglang.yaml")
	if text, err := os.ReadFile(path); err != nil || string(text) != `{"api-key":"k"}` || !strings.Contains(line, "--config "+path) {
		t.Errorf("the key's file is %s, %v", text, err)
	}
	if i, err := os.Stat(path); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v", i.Mode())
	}

	s.Flags["config"] = "mine.yaml"
	if l, err = (Adapter{}).Launch(s, at); err != nil || !strings.Contains(strings.Join(l.Args, " "), "--api-key k --config mine.yaml") &&
		!strings.Contains(strings.Join(l.Args, " "), "--api-key k") {
		t.Errorf("with a file of one's own: %v, %v", l.Args, err)
	}
	// https://github.com/sgl-project/sglang/pull/31758
	s.Flags[lowFirst] = "true"
	if _, err = (Adapter{}).Launch(s, at); err == nil || !strings.Contains(err.Error(), lowFirst) {
		t.Errorf("error is %v", err)
	}
}

// What /server_info tells is what is known of the server.
func TestProbe(t *testing.T) {
	wild := map[string]any{"publisher": "zmq", "endpoint_host": "*", "endpoint_port_base": 5557, "topic": "kv", "block_size": 32, "dp_size": 1}
	small := map[string]any{"publisher": "zmq", "endpoint_host": "*", "endpoint_port_base": 5557, "topic": "kv", "block_size": 1}
	out := map[string]any{"publisher": "zmq", "endpoint_host": "127.0.0.1", "endpoint_port_base": 5557}
	for _, c := range []struct {
		name   string
		o      fake.Options
		events string
		block  int
		m      manner
	}{
		{"plain", fake.Options{}, "", 16, manner{model: "tiny", context: 4096, priority: 1, thought: -1, metrics: true}},
		{"no priorities", fake.Options{NoPriority: true}, "", 16, manner{model: "tiny", context: 4096, thought: -1, metrics: true}},
		{"holds forms", fake.Options{Held: true}, "", 16, manner{model: "tiny", context: 4096, held: true, priority: 1, thought: -1, metrics: true}},
		{"binds", fake.Options{Events: wild}, "tcp://127.0.0.1:5557", 32, manner{model: "tiny", context: 4096, priority: 1, thought: -1, metrics: true}},
		{"pages of a token", fake.Options{Events: small}, "", 0, manner{model: "tiny", context: 4096, priority: 1, thought: -1, metrics: true}},
		{"connects out", fake.Options{Events: out}, "", 16, manner{model: "tiny", context: 4096, priority: 1, thought: -1, metrics: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := newClient(engine.Endpoint{URL: fake.SGLang(t, c.o, nil).URL})
			seen, err := cl.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if seen.Events != c.events || seen.Caps.BlockSize != c.block || *cl.manner.Load() != c.m {
				t.Errorf("events %q, block %d, %+v", seen.Events, seen.Caps.BlockSize, *cl.manner.Load())
			}
		})
	}
	cl := newClient(engine.Endpoint{URL: fake.SGLang(t, fake.Options{Reasons: true}, nil).URL})
	if _, err := cl.Probe(t.Context()); err != nil || cl.manner.Load().thought < 0 {
		t.Errorf("the end of a thought is %d, error %v", cl.manner.Load().thought, err)
	}
}

// Another engine is none of this kind, and the error is no reason to wait.
func TestProbeOfAnother(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	c := newClient(engine.Endpoint{URL: s.URL})
	var r *turn.Refused
	if _, err := c.Probe(t.Context()); !errors.As(err, &r) || errors.Is(err, turn.ErrLost) {
		t.Errorf("error is %v", err)
	}
}
