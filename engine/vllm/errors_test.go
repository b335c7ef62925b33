package vllm

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// A prompt that does not fit is told with numbers, however the server says it.
func TestTooLong(t *testing.T) {
	const told = 4096
	for _, c := range []struct {
		name, message        string
		prompt, known, limit int // limit 0: it is no such error
	}{
		{"over", "This model's maximum context length is 4096 tokens. However, your prompt contains at least 4097 input tokens.", 5000, told, 4095},
		{"full to the last token", "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)", 4096, told, 4095},
		{"full, context not known", "max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)", 4096, 0, 4095},
		{"other route", "The decoder prompt (length 4097) is longer than the maximum model length of 4096. Make sure that …", 4097, 0, 4095},
		{"prompt and answer", "'max_tokens' is too large: 900. This model's maximum context length is 4096 tokens and your request has 4000 input tokens", 4000, told, 0},
		{"another limit", "min_tokens must be at least 1, got 0.", 10, told, 0},
		{"no number", "maximum context length is unknown", 10, told, 0},
		{"none", "Token id 999999 is out of vocabulary", 5000, told, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := asked{c.prompt, c.known}.explain(remote.Fault(400, c.message))
			var r *turn.Refused
			if !errors.As(err, &r) || r.Limit != c.limit || (r.Prompt == c.prompt) != (c.limit > 0) {
				t.Errorf("got %+v of %v, want limit %d", r, err, c.limit)
			}
		})
	}
}

func TestRecordedTooLong(t *testing.T) {
	for _, name := range []string{"completion-prompt-too-long", "completion-prompt-exactly-max"} {
		c := replay(t, recorded(t)[name].Response, 1<<20)
		c.most.Store(4096)
		got := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(make([]uint32, 4097)...), MaxTokens: 1}))
		var r *turn.Refused
		if !errors.As(got.err, &r) || r.Prompt != 4097 || r.Limit != 4095 {
			t.Errorf("%s: %+v of %v", name, r, got.err)
		}
	}
}

// vLLM tells some faults of a request in a stream that began well.
func TestRefusedInStream(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `data: {"error": {"message": "Requested sample logprobs of 21, which is greater than max allowed: 20 (parameter=logprobs, value=21)", `+
			`"type": "BadRequestError", "param": "logprobs", "code": 400}}`+"\n\ndata: [DONE]\n\n")
	})
	got := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1}))
	var r *turn.Refused
	if !errors.As(got.err, &r) || r.Status != 400 || errors.Is(got.err, turn.ErrLost) {
		t.Errorf("error is %v", got.err)
	}
	if !limitsLogprobs(got.err) {
		t.Error("its limit is not seen")
	}
}

func TestPlain(t *testing.T) {
	for _, c := range []struct{ name, message, want string }{
		{"one line", "no such thing", "no such thing"},
		{"grammar", "Grammar error: at 1(8): invalid regex:\n    (((\n      ^", "Grammar error: at 1(8): invalid regex: ((( ^"},
		{"validator", "2 validation errors:\n  {'type': 'x', 'loc': 'body.prompt.2', 'msg': \"It's wrong\", 'input': '-5'}\n  {'msg': 'y'}", "prompt.2: It's wrong"},
		{"nowhere", "1 validation error:\n  {'type': 'x', 'msg': 'wrong'}", "wrong"},
		{"no list", "1 validation error:\n  Unsupported", "1 validation error: Unsupported"},
		{"cut", "1 validation error:\n  {'msg': ", "1 validation error: {'msg':"},
		{"open", "1 validation error:\n  {'msg': 'a\nb", "1 validation error: {'msg': 'a b"},
		{"long", strings.Repeat("ä", maxMessage), strings.Repeat("ä", maxMessage/2) + "…"},
		{"nothing", "", ""},
	} {
		if got := plain(c.message); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// After blocks were lost to the index, so many turns ask for theirs to be
// announced again; they and no others.
func TestRelearn(t *testing.T) {
	var mu sync.Mutex
	var modes []string
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var q json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&q)
		mu.Lock()
		defer mu.Unlock()
		modes = append(modes, gjson.GetBytes(q, "vllm_xargs.kv_cache_report_mode").Str)
		io.WriteString(w, `data: {"choices":[{"text":"x","finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
	})
	ask := func() {
		if a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1})); a.err != nil {
			t.Fatal(a.err)
		}
	}
	ask()
	c.Relearn()
	for range relearnTurns + 2 {
		ask()
	}
	mu.Lock()
	defer mu.Unlock()
	for i, mode := range modes {
		want := ""
		if i > 0 && i <= relearnTurns {
			want = "full"
		}
		if mode != want {
			t.Fatalf("turn %d: %q, want %q", i, mode, want)
		}
	}
}

// What is asked for fits the context: some releases refuse more.
func TestRoom(t *testing.T) {
	var most atomic.Int64
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var q json.RawMessage
		_ = json.NewDecoder(r.Body).Decode(&q)
		most.Store(gjson.GetBytes(q, "max_tokens").Int())
		io.WriteString(w, `data: {"choices":[{"text":"x","finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n")
	})
	for _, k := range []struct{ context, prompt, asked, want int64 }{
		{0, 3, 9999, 9999}, {10, 3, 9999, 7}, {10, 3, 5, 5}, {10, 9, 5, 1}, {10, 10, 5, 5}, {10, 12, 5, 5},
	} {
		c.most.Store(k.context)
		readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(make([]uint32, k.prompt)...), MaxTokens: int(k.asked)}))
		if got := most.Load(); got != k.want {
			t.Errorf("%+v: asked for %d", k, got)
		}
	}
}
