package trtllm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/prompt/bpe"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

func ptr[T any](v T) *T { return &v }

// tokenizer is that of the model that faces play.
func tokenizer(t testing.TB) *bpe.Tokenizer {
	t.Helper()
	tok, err := bpe.Open(os.DirFS(fake.ModelDir(t)))
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// serve answers /v1/completions with the events, and keeps its last request.
func serve(t *testing.T, m manner, events ...string) (*client, *map[string]any) {
	t.Helper()
	var got map[string]any
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = nil
		_ = json.NewDecoder(r.Body).Decode(&got)
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	c := newClient(engine.Endpoint{URL: s.URL})
	m.model = "tiny"
	c.manner.Store(&m)
	t.Cleanup(func() { c.Close(); s.CloseClientConnections(); s.Close() })
	return c, &got
}

type answer struct {
	text string
	ids  []uint32
	end  *turn.End
	err  error
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
		if d.End != nil {
			a.end = d.End
			return a
		}
	}
}

// Only fields that every server knows go out; the others when the probe has
// seen them taken.
func TestRequest(t *testing.T) {
	j := turn.Job{
		ID: "t1", Prompt: turn.IDsOf(1, 2), MaxTokens: 7, Stop: []string{"x"}, StopIDs: []uint32{9},
		Sampling: turn.Sampling{
			Temperature: ptr(0.5), TopK: ptr(-1), Seed: ptr(int64(3)), MinTokens: 2, StopIDs: []uint32{9, 8},
			Bias: json.RawMessage(`{"5":-100}`), Logprobs: true, TopLogprobs: 2,
		},
		Format: turn.Format{Kind: turn.JSONObject}, Priority: 50,
	}
	c, got := serve(t, manner{tok: tokenizer(t), priority: true, form: named})
	_ = readAll(c.Generate(t.Context(), j))
	want := `map[detokenize:false include_stop_str_in_output:true logit_bias:map[5:-100] max_tokens:7 min_tokens:2 model:tiny priority:0.75 ` +
		`prompt:[1 2] response_format:map[json_schema:map[name:answer schema:map[type:object]] type:json_schema] seed:3 ` +
		`skip_special_tokens:false spaces_between_special_tokens:false stop_token_ids:[9 8] stream:true ` +
		`stream_options:map[include_usage:true] temperature:0.5 top_k:0]`
	if fmt.Sprint(*got) != want {
		t.Errorf("got  %v\nwant %v", *got, want)
	}
	c, got = serve(t, manner{form: inLine})
	_ = readAll(c.Generate(t.Context(), j))
	if m := *got; m["priority"] != nil || m["detokenize"] != true || m["skip_special_tokens"] != true ||
		fmt.Sprint(m["response_format"]) != "map[schema:map[type:object] type:json]" {
		t.Errorf("got %v", m)
	}
}

func TestShare(t *testing.T) {
	for p, want := range map[int]float64{0: 0.5, 10: 0.55, -60: 0.2, 1000: 1, -1000: 0} {
		if got := share(p); got != want {
			t.Errorf("%d is %v, want %v", p, got, want)
		}
	}
}

// A server that cannot keep prefixes apart gets no turn that asks for it.
func TestSaltIsRefused(t *testing.T) {
	for alone, refused := range map[bool]bool{false: true, true: false} {
		c := newClient(engine.Endpoint{URL: fake.TRTLLM(t, fake.Options{Alone: alone}).URL, ModelDir: fake.ModelDir(t)})
		if _, err := c.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 1, Salt: "s"}))
		var r *turn.Refused
		if errors.As(a.err, &r) != refused || refused && (r.Status != 400 || !strings.Contains(r.Message, "salt")) || !refused && a.err != nil {
			t.Errorf("without reuse %v: error is %v", alone, a.err)
		}
	}
}

func event(ids []uint32, finish, stop string) string {
	b, _ := json.Marshal(ids)
	return fmt.Sprintf(`{"choices":[{"index":0,"text":"","token_ids":%s,"finish_reason":%s,"stop_reason":%s}],"usage":null}`, b, finish, stop)
}

const usageEvent = `{"choices":[],"usage":{"prompt_tokens":4,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":99}}}`

func TestEnds(t *testing.T) {
	tok := tokenizer(t)
	end, _ := tok.ID("<|im_end|>")
	word := tok.Encode(nil, "größe is two")
	text := string(tok.Decode(nil, word))
	one := event(word, "null", "null")
	for _, c := range []struct {
		name   string
		events []string
		stops  []string
		reason turn.Reason // "" is an error
		stopID bool
		text   string
		status int // of a refusal; 0 is a lost worker
	}{
		{"length", []string{one, event(word[:1], `"length"`, "null"), usageEvent, "[DONE]"}, nil, turn.Cut, false, text + string(tok.Decode(nil, word[:1])), 0},
		{"the model's end", []string{one, event([]uint32{end}, `"stop"`, "null"), usageEvent, "[DONE]"}, nil, turn.Ended, true, text, 0},
		{"a last id that ends nothing", []string{one, event(word[:1], `"stop"`, "null"), "[DONE]"}, nil, turn.Ended, false, text + string(tok.Decode(nil, word[:1])), 0},
		{"a stop id", []string{one, event(word[:1], `"stop"`, fmt.Sprint(word[0])), "[DONE]"}, nil, turn.Ended, true, text, 0},
		{"an end id told late", []string{event(append(slices.Clone(word), 7), "null", "null"), event(nil, `"stop"`, "null"), "[DONE]"}, nil, turn.Ended, true, text, 0},
		{"no usage", []string{event(word, `"length"`, "null")}, nil, turn.Cut, false, text, 0},
		{"a stop string", []string{one, one, one}, []string{"is t"}, turn.Stopped, false, text[:strings.Index(text, "is t")], 0},
		{"nothing", nil, nil, "", false, "", 0},
		{"only usage", []string{usageEvent, "[DONE]"}, nil, "", false, "", 0},
		{"the mark without a reason", []string{one, "[DONE]"}, nil, "", false, text, 0},
		{"cut", []string{one}, nil, "", false, text, 0},
		{"no token", []string{event(nil, `"length"`, "null"), "[DONE]"}, nil, "", false, "", 0},
		{"cancelled", []string{one, event(nil, `"cancelled"`, "null"), "[DONE]"}, nil, "", false, text, 0},
		{"timeout", []string{one, event(nil, `"timeout"`, "null"), "[DONE]"}, nil, "", false, text, 0},
		{"error", []string{one, `{"error":{"message":"x","code":500}}`}, nil, "", false, text, 0},
		{"error without a code", []string{`{"error":"x"}`}, nil, "", false, "", 0},
		{"error of the request", []string{`{"object":"error","message":"x","code":400}`}, nil, "", false, "", 400},
		{"garbage", []string{"{{{"}, nil, "", false, "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl, _ := serve(t, manner{tok: tok}, c.events...)
			a := readAll(cl.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 90, Stop: c.stops, StopIDs: []uint32{7, end}}))
			if a.text != c.text {
				t.Errorf("text is %q, want %q", a.text, c.text)
			}
			if c.reason != "" {
				if a.err != nil || a.end.Reason != c.reason || a.end.StopID != c.stopID || a.end.Usage.Output != len(a.ids) {
					t.Fatalf("end is %+v, error %v", a.end, a.err)
				}
				if slices.Contains(c.events, usageEvent) && (a.end.Usage.Prompt != 4 || a.end.Usage.Cached != 4) {
					t.Errorf("usage is %+v", a.end.Usage)
				}
				return
			}
			var r *turn.Refused
			if errors.As(a.err, &r) != (c.status != 0) || errors.Is(a.err, turn.ErrLost) != (c.status == 0) {
				t.Errorf("error is %v", a.err)
			}
		})
	}
}

// Text made here is the text of the ids, however they come.
func TestSpeller(t *testing.T) {
	tok := tokenizer(t)
	const text = "größer 日本語 🏔 <tool_call> end"
	ids := tok.Encode(nil, text)
	for size := 1; size <= len(ids); size++ {
		s := newSpeller(tok, turn.Job{Prompt: turn.IDsOf(tok.Encode(nil, "so it")...), StopIDs: ids[3:4]})
		got := ""
		for part := range slices.Chunk(ids, size) {
			got += s.push(part, nil)
		}
		if got += s.push(nil, &turn.End{Reason: turn.Cut}); got != text {
			t.Fatalf("in parts of %d: %q", size, got)
		}
	}
}

func TestLaunch(t *testing.T) {
	r := &recipes.Recipe{
		Model: "m", Command: []string{"{engine}", "{model_dir}"}, ModelDir: "/models/m",
		Flags: map[string]string{"max_seq_len": "4096", "config.kv_cache_config.host_cache_size": "1000", "config.kv_cache_config.enable_block_reuse": "off"},
	}
	s := engine.Spec{Recipe: r, Program: []string{"trtllm-serve"}, GPUs: []int{1}, Flags: map[string]string{"config.return_perf_metrics": "false"}}
	at := engine.Place{Port: 8101, Key: "k", Dir: t.TempDir()}
	l, err := Adapter{}.Launch(s, at)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(at.Dir, "trtllm.yaml")
	want := "trtllm-serve /models/m --backend pytorch --config " + path + " --host 127.0.0.1 --max_seq_len 4096 --port 8101 --served_model_name m"
	if got := strings.Join(l.Args, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	file := `{"guided_decoding_backend":"xgrammar","kv_cache_config":{"copy_on_partial_reuse":true,"enable_block_reuse":false,` +
		`"enable_partial_reuse":true,"event_buffer_max_size":65536,"host_cache_size":1000,"tokens_per_block":32},` +
		`"scheduler_config":{"waiting_queue_policy":"priority"}}`
	if got, err := os.ReadFile(path); err != nil || string(got) != file {
		t.Errorf("the file is %s, %v", got, err)
	}
	if l.Known.Context != 4096 || l.Known.BlockSize != 32 || !l.Known.Priority {
		t.Errorf("known is %+v", l.Known)
	}
	// A plan writes nothing and shows what would be in the file.
	if l, err = (Adapter{}).Launch(s, engine.Place{}); err != nil || !slices.Contains(l.Args, file) {
		t.Errorf("the plan is %q, %v", l.Args, err)
	}
	s.Flags["config.kv_cache_config"] = "1"
	if _, err = (Adapter{}).Launch(s, at); err == nil || !strings.Contains(err.Error(), "kv_cache_config") {
		t.Errorf("error is %v", err)
	}
}

func TestProbe(t *testing.T) {
	dir := fake.ModelDir(t)
	for _, c := range []struct {
		name string
		o    fake.Options
		dir  string
		want turn.Capabilities
	}{
		{"all", fake.Options{Held: true, Buffer: 100}, dir, turn.Capabilities{TokenIDs: true, Cached: true, Events: true, Formats: true}},
		{"no events, no forms", fake.Options{NoPriority: true}, dir, turn.Capabilities{TokenIDs: true, Cached: true}},
		{"no tokenizer", fake.Options{}, "", turn.Capabilities{Cached: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cl := newClient(engine.Endpoint{URL: fake.TRTLLM(t, c.o).URL, ModelDir: c.dir})
			seen, err := cl.Probe(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c.want.Chat, c.want.Vision = true, true
			c.want.Model, c.want.Engine, c.want.BlockSize, c.want.KVTokens, c.want.MaxSeqs = "tiny", "trtllm 1.4.0rc4", 16, 262144, 16
			if seen.Caps != c.want || cl.manner.Load().priority == c.o.NoPriority {
				t.Errorf("got  %+v\nwant %+v", seen.Caps, c.want)
			}
		})
	}
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	var r *turn.Refused
	if _, err := newClient(engine.Endpoint{URL: s.URL}).Probe(t.Context()); !errors.As(err, &r) {
		t.Errorf("another engine is %v", err)
	}
}

// What the server tells of its cache becomes blocks with the prompt's tokens,
// and what did not fit its buffer makes the mirror forget.
func TestMirrorOfAServer(t *testing.T) {
	for buffer, restarts := range map[int]bool{1000: false, 2: true} {
		e := fake.TRTLLM(t, fake.Options{Buffer: buffer})
		cl := newClient(engine.Endpoint{URL: e.URL, ModelDir: fake.ModelDir(t)})
		if _, err := cl.Probe(t.Context()); err != nil {
			t.Fatal(err)
		}
		var prompts [][]uint32
		for i := range 4 {
			var ids []uint32
			for k := range 40 {
				ids = append(ids, uint32(300+100*i+k))
			}
			prompts = append(prompts, ids)
			if a := readAll(cl.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(ids...), MaxTokens: 2})); a.err != nil {
				t.Fatal(a.err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		forgot := false
		var tokens [][]uint32
		cl.Mirror(ctx, func(events []turn.KVEvent) {
			for _, ev := range events {
				switch ev.Kind {
				case turn.KVRestart:
					forgot, tokens = true, nil
				case turn.KVStored:
					if ev.Tier != "gpu" || ev.BlockSize != 16 || len(ev.Tokens) != 16*len(ev.Hashes) {
						t.Errorf("%+v", ev)
					}
					tokens = append(tokens, ev.Tokens)
				}
			}
			cancel()
		})
		cancel()
		if forgot != restarts {
			t.Errorf("a buffer of %d: forgot is %v", buffer, forgot)
		}
		if !restarts && !slices.ContainsFunc(tokens, func(ids []uint32) bool { return slices.Equal(ids, prompts[3][:32]) }) {
			t.Errorf("a buffer of %d: blocks are %v", buffer, tokens)
		}
	}
}

// A chat asks for nothing that the server does not know, and has salts.
func TestChatRequest(t *testing.T) {
	c, got := serve(t, manner{shares: true})
	_ = readAll(c.Generate(t.Context(), turn.Job{
		ID: "t1", MaxTokens: 7, Salt: "s", Sampling: turn.Sampling{Temperature: ptr(0.5), StopIDs: []uint32{5}, Logprobs: true, IgnoreEnd: true, MinTokens: 2},
		Chat: &turn.Turn{
			OneCall: true, Tools: []turn.Tool{{Name: "ls", Schema: json.RawMessage(`{}`)}},
			Messages: []turn.Message{{Role: turn.User, Blocks: []turn.Block{{Kind: turn.Text, Text: "hi"}}}},
		},
	}))
	want := `map[cache_salt:s ignore_eos:true max_tokens:7 messages:[map[content:hi role:user]] min_tokens:2 model:tiny skip_special_tokens:false ` +
		`spaces_between_special_tokens:false stop_token_ids:[5] stream:true stream_options:map[include_usage:true] temperature:0.5 tool_choice:auto ` +
		`tools:[map[function:map[name:ls parameters:map[]] type:function]]]`
	if fmt.Sprint(*got) != want {
		t.Errorf("got  %v\nwant %v", *got, want)
	}
}
