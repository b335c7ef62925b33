package vllm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/turn"
)

func serve(t *testing.T, h http.HandlerFunc) *client {
	t.Helper()
	s := httptest.NewServer(h)
	c := newClient(engine.Endpoint{URL: s.URL, Key: "secret"})
	name := `ti"ny`
	c.model.Store(&name)
	t.Cleanup(func() { c.Close(); s.CloseClientConnections(); s.Close() })
	return c
}

// eventually polls until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if ok() {
			return
		}
		select {
		case <-t.Context().Done():
		case <-time.After(2 * time.Millisecond):
		}
	}
	t.Fatalf("never: %s", what)
}

func ptr[T any](v T) *T { return &v }

func TestRequest(t *testing.T) {
	var got map[string]any
	var head http.Header
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		head = r.Header.Clone()
		_ = json.NewDecoder(r.Body).Decode(&got)
		io.WriteString(w, `data: {"choices":[{"text":"x","finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
	})
	a := readAll(c.Generate(t.Context(), turn.Job{
		ID: "t1", Prompt: turn.IDsOf(1, 4294967295), MaxTokens: 7, Stop: []string{"a\"b", "\n"}, StopIDs: []uint32{9},
		Sampling: turn.Sampling{
			Temperature: ptr(0.5), TopK: ptr(3), Seed: ptr(int64(-1)), Presence: ptr(0.0), MinP: ptr(0.25), Repetition: ptr(1.5),
			MinTokens: 2, StopIDs: []uint32{9, 8}, IgnoreEnd: true, Bias: json.RawMessage(`{"5":-100}`), Logprobs: true, TopLogprobs: 3,
		},
		Salt: "s", Priority: 10,
	}))
	if a.err != nil || a.end.Reason != turn.Cut || a.end.Usage.Output != 1 || a.end.Usage.Prompt != 2 {
		t.Fatalf("answer is %+v", a)
	}
	want := `map[cache_salt:s ignore_eos:true logit_bias:map[5:-100] logprobs:3 max_tokens:7 min_p:0.25 min_tokens:2 ` +
		`model:ti"ny presence_penalty:0 priority:-10 prompt:[1 4.294967295e+09] repetition_penalty:1.5 ` +
		`return_token_ids:true seed:-1 skip_special_tokens:false spaces_between_special_tokens:false ` +
		"stop:[a\"b \n] stop_token_ids:[9 8] stream:true stream_options:map[include_usage:true] temperature:0.5 top_k:3]"
	if fmt.Sprint(got) != want {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	if head.Get("X-Request-Id") != "t1" || head.Get("Authorization") != "Bearer secret" || head["Idempotency-Key"] != nil {
		t.Errorf("headers are %v", head)
	}
}

func TestEnds(t *testing.T) {
	const end = "data: [DONE]\n\n"
	for _, c := range []struct {
		name, body string
		reason     turn.Reason // "" is a lost worker
		text       string
		ids        int
	}{
		{"nothing at all", "", "", "", 0},
		{"only done", end, "", "", 0},
		{"usage of none", `data: {"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":0}}` + "\n\n" + end, "", "", 0},
		{"abort without a token", `data: {"choices":[{"text":"","token_ids":[],"finish_reason":"abort"}]}` + "\n\n" + end, "", "", 0},
		{"abort after tokens", `data: {"choices":[{"text":"a","token_ids":[1]}]}` + "\n\n" +
			`data: {"choices":[{"text":"b","token_ids":[2],"finish_reason":"abort"}]}` + "\n\n" + end, "", "ab", 2},
		{"done without a reason", `data: {"choices":[{"text":"a"}]}` + "\n\n" + end, turn.Ended, "a", 0},
		{"done at the limit", `data: {"choices":[{"text":"a","token_ids":[1,2,3,4]}]}` + "\n\n" + end, turn.Cut, "a", 4},
		{"finish without done", `data: {"choices":[{"text":"a","finish_reason":"length"}]}` + "\n\n", turn.Cut, "a", 0},
		{"cut", `data: {"choices":[{"text":"a"}]}` + "\n\n", "", "a", 0},
		{"garbage", "data: {{{\n\n", "", "", 0},
		{"no events", `{"choices":[]}`, "", "", 0},
		{"stop id alone", `data: {"choices":[{"text":"","token_ids":[9],"finish_reason":"stop","stop_reason":9}]}` + "\n\n" + end, turn.Ended, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := readAll(serve(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, c.body) }).
				Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4}))
			if a.text != c.text || len(a.ids) != c.ids {
				t.Errorf("got %q %v", a.text, a.ids)
			}
			if c.reason == "" {
				if !errors.Is(a.err, turn.ErrLost) {
					t.Errorf("error is %v", a.err)
				}
				return
			}
			if a.err != nil || a.end.Reason != c.reason {
				t.Errorf("end is %+v, error %v", a.end, a.err)
			}
		})
	}
}

// More cached tokens than prompt tokens are not believed.
func TestCachedIsClamped(t *testing.T) {
	a := readAll(serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `data: {"choices":[{"text":"a","token_ids":[1],"finish_reason":"length"}]}`+"\n\n"+
			`data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":9}}}`+"\n\ndata: [DONE]\n\n")
	}).Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1, 2, 3), MaxTokens: 1}))
	if a.err != nil || a.end.Usage.Cached != 3 {
		t.Errorf("ended as %+v, %v", a.end, a.err)
	}
}

func TestNobodyListens(t *testing.T) {
	free, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(engine.Endpoint{URL: fmt.Sprintf("http://127.0.0.1:%d", free)})
	c.model.Store(ptr("m"))
	if _, err := c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1}); !errors.Is(err, turn.ErrLost) {
		t.Errorf("error is %v", err)
	}
	if err := c.Health(t.Context()); !errors.Is(err, turn.ErrLost) {
		t.Errorf("health: %v", err)
	}
}

// flood answers with tokens as fast as they are taken and counts them.
func flood(t *testing.T) (c *client, sent *atomic.Int64, gone chan struct{}) {
	sent, gone = new(atomic.Int64), make(chan struct{})
	c = serve(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, "data: "+sample+"\n\n"); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			sent.Add(1)
		}
	})
	return c, sent, gone
}

func TestCloseAborts(t *testing.T) {
	for name, abort := range map[string]func(turn.Stream, context.CancelFunc){
		"close":  func(s turn.Stream, _ context.CancelFunc) { s.Close() },
		"cancel": func(_ turn.Stream, cancel context.CancelFunc) { cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			c, _, gone := flood(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := c.Generate(ctx, turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Next(); err != nil {
				t.Fatal(err)
			}
			abort(s, cancel)
			select {
			case <-gone:
			case <-time.After(time.Minute):
				t.Fatal("the engine goes on")
			}
			for err == nil { // what had been read may still be given out
				_, err = s.Next()
			}
			if errors.Is(err, turn.ErrLost) || !errors.Is(err, context.Canceled) {
				t.Errorf("error is %v: our own cancel loses no worker", err)
			}
			s.Close()
		})
	}
}

// A reader that stops holds the engine back.
func TestBackpressure(t *testing.T) {
	c, sent, _ := flood(t)
	s, err := c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	before, since := int64(-1), time.Now()
	eventually(t, "the engine is held", func() bool {
		if now := sent.Load(); now != before {
			before, since = now, time.Now()
		}
		return time.Since(since) > 300*time.Millisecond
	})
	t.Logf("%d chunks of %d bytes went ahead", before, len(sample))
	if before > 40000 {
		t.Errorf("%d chunks went ahead of the reader", before)
	}
}

func TestMetrics(t *testing.T) {
	m := readMetrics([]byte(`# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a b"} 2.0
vllm:num_requests_running{engine="1",model_name="a}b"} 1.0 1795977773000
vllm:num_requests_waiting 4
vllm:num_requests_waiting_by_reason{reason="capacity"} 9
vllm:kv_cache_usage_perc{engine="0"} 0.5
vllm:prefix_cache_hits_total{engine="0"} 1.5e+03
vllm:prefix_cache_queries_total{engine="0"} 2000
vllm:cache_config_info{_block_size_resolved="True",hash_block_size="None",num_gpu_blocks="161",block_size="16"} 1.0
vllm:broken{
vllm:num_requests_running
`))
	l := m.load(time.Unix(5, 0))
	if l.Running != 3 || l.Waiting != 4 || l.KVUsed != 0.5 || l.Hits != 1500 || l.Queries != 2000 {
		t.Errorf("load is %+v", l)
	}
	want := turn.Tier{Name: "gpu", Used: 1280, Cached: -1, Capacity: 2576}
	if len(l.Tiers) != 1 || l.Tiers[0] != want {
		t.Errorf("tiers are %+v, want %+v", l.Tiers, want)
	}
}

func TestRecordedMetrics(t *testing.T) {
	data := recordedPage(t)
	m := readMetrics([]byte(data))
	if m.blockSize != 32 || m.kvTokens != 2097152 || m.queries != 3920 || m.hits != 256 {
		t.Errorf("read %+v", m)
	}
}

func TestReach(t *testing.T) {
	c := newClient(engine.Endpoint{URL: "http://gpu7:8000"})
	for addr, want := range map[string]string{
		"tcp://*:5557": "tcp://gpu7:5557", "tcp://0.0.0.0:1": "tcp://gpu7:1", "tcp://127.0.0.1:9": "tcp://127.0.0.1:9",
		"ipc:///tmp/x": "", "": "", "tcp://x": "",
	} {
		if got := c.reach(addr); got != want {
			t.Errorf("%q is reached at %q, want %q", addr, got, want)
		}
	}
}

// A server that is too slow is lost, and the error says what was waited for.
func TestSlowDocument(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "{")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Millisecond,
		fmt.Errorf("no models: %w", context.DeadlineExceeded))
	defer cancel()
	if _, err := c.server.Get(ctx, "/v1/models"); !errors.Is(err, turn.ErrLost) || !strings.Contains(err.Error(), "no models") {
		t.Errorf("error is %v", err)
	}
}
