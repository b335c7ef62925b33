package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentinfer/dyn/internal/fixtures"
	"github.com/agentinfer/dyn/turn"
)

// body is an answer as it comes.
type body struct {
	io.Reader
	closed, done bool
}

func (b *body) Close() error { b.closed = true; return nil }
func (b *body) Done() error  { b.done = true; return nil }

// hear reads an answer and tells it in a line.
func hear(s *Stream) (said string, end *turn.End, err error) {
	var b strings.Builder
	for {
		d, err := s.Next()
		if err != nil {
			return b.String(), nil, err
		}
		for _, e := range d.Events {
			switch e.Kind {
			case turn.Reasoning:
				fmt.Fprintf(&b, "(%s)", e.Text)
			case turn.CallStart:
				fmt.Fprintf(&b, "<%d %s ", e.Call.Index, e.Call.Name)
			case turn.CallArgs:
				fmt.Fprintf(&b, "%d:%s", e.Call.Index, e.Text)
			case turn.CallEnd:
				b.WriteString(">")
			}
		}
		b.WriteString(d.Text)
		for _, p := range d.Logprobs {
			fmt.Fprintf(&b, "{%s %g %d}", p.Token, p.Value, len(p.Top))
		}
		if d.End != nil {
			if _, err := s.Next(); !errors.Is(err, io.EOF) {
				return "", nil, fmt.Errorf("after the end comes %w", err)
			}
			return b.String(), d.End, nil
		}
	}
}

// deltas makes an answer of deltas and a reason.
func deltas(finish string, ds ...string) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", d)
	}
	if finish != "" {
		fmt.Fprintf(&b, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%s}]}\n\n", finish)
	}
	b.WriteString("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":8}}}\n\ndata: [DONE]\n\n")
	return b.String()
}

func TestStream(t *testing.T) {
	call := func(s string) string { return `{"tool_calls":[` + s + `]}` }
	for name, c := range map[string]struct {
		sent string
		want string
		end  turn.End
	}{
		"text": {deltas(`"stop"`, `{"role":"assistant","content":""}`, `{"content":"a"}`, `{"content":"b"}`), "ab", turn.End{Reason: turn.Ended}},
		"null": {deltas(`"stop"`, `{"role":"assistant","content":null}`, `{"content":"a"}`), "a", turn.End{Reason: turn.Ended}},
		"cut":  {deltas(`"length"`, `{"content":"a"}`), "a", turn.End{Reason: turn.Cut}},
		"stop": {deltas(`"stop","stop_reason":"END"`, `{"content":"a"}`), "a", turn.End{Reason: turn.Stopped, StopText: "END"}},
		"id":   {deltas(`"stop","stop_reason":151645`, `{"content":"a"}`), "a", turn.End{Reason: turn.Ended}},
		"thought": {
			deltas(`"stop"`, `{"reasoning":"h"}`, `{"reasoning_content":"m"}`, `{"reasoning":"!","content":"a"}`),
			"(h)(m)(!)a",
			turn.End{Reason: turn.Ended},
		},
		"calls": {
			deltas(`"tool_calls"`, `{"content":"so"}`,
				call(`{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":""}}`),
				call(`{"index":0,"function":{"arguments":"{\"a\""}}`), call(`{"index":0,"function":{"arguments":":1}"}}`),
				call(`{"index":1,"id":"y","function":{"name":"g","arguments":"{}"}},{"index":2,"function":{"name":"h","arguments":"{}"}}`)),
			`so<0 f 0:{"a"0::1}><1 g 1:{}><2 h 2:{}>`,
			turn.End{Reason: turn.Ended},
		},
		"a name again": {
			deltas(`"tool_calls"`, call(`{"index":0,"function":{"name":"f","arguments":"{"}}`), call(`{"index":0,"function":{"name":"f","arguments":"}"}}`)),
			`<0 f 0:{0:}>`,
			turn.End{Reason: turn.Ended},
		},
		"text behind a call": {
			deltas(`"stop"`, call(`{"index":0,"function":{"name":"f","arguments":"{}"}}`), `{"content":"done"}`),
			`<0 f 0:{}>done`,
			turn.End{Reason: turn.Ended},
		},
		"nulls": {
			"data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":null},\"logprobs\":{\"content\":null},\"finish_reason\":null}]}\n\n" + deltas(`"stop"`),
			"a",
			turn.End{Reason: turn.Ended},
		},
		"likely": {
			"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"logprobs\":{\"content\":[{\"token\":\"a\",\"logprob\":-1.5,\"top_logprobs\":[{\"token\":\"b\",\"logprob\":-2}]}]},\"finish_reason\":null}]}\n\n" + deltas(`"stop"`),
			"a{a -1.5 1}",
			turn.End{Reason: turn.Ended},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := &body{Reader: iotest.OneByteReader(strings.NewReader(c.sent))}
			s := NewStream(t.Context(), b, nil)
			got, end, err := hear(s)
			c.end.Usage = turn.Usage{Prompt: 9, Output: 3, Cached: 8}
			if err != nil || got != c.want || *end != c.end {
				t.Errorf("got %q, %+v, %v; want %q, %+v", got, end, err, c.want, c.end)
			}
			if s.Close(); !b.done || b.closed {
				t.Error("the connection of a whole answer is not kept")
			}
		})
	}
}

// TestBroken: what is no whole answer loses the worker, but for a request that
// is at fault.
func TestBroken(t *testing.T) {
	for name, c := range map[string]struct {
		sent    string
		refused bool
	}{
		"nothing":      {"", false},
		"no reason":    {deltas("", `{"content":"a"}`), false},
		"aborted":      {deltas(`"abort"`, `{"content":"a"}`), false},
		"an early end": {"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n", false},
		"no token":     {"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", false},
		"no JSON":      {"data: {\"choices\"\n\n", false},
		"no object":    {"data: 5\n\n", false},
		"crossed calls": {
			deltas(`"tool_calls"`, `{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{"}},{"index":1,"function":{"name":"g","arguments":"{"}}]}`,
				`{"tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":1,"function":{"arguments":"}"}}]}`),
			false,
		},
		"a call without a name": {deltas(`"tool_calls"`, `{"tool_calls":[{"index":1000000000,"function":{"arguments":"{}"}}]}`), false},
		"it died":               {"data: {\"error\":{\"message\":\"dead\",\"code\":500}}\n\n", false},
		"a bare error":          {"data: {\"error\":\"dead\"}\n\n", false},
		"a fault of ask":        {"data: {\"error\":{\"message\":\"bad schema\",\"code\":400}}\n\n", true},
	} {
		t.Run(name, func(t *testing.T) {
			b := &body{Reader: strings.NewReader(c.sent)}
			s := NewStream(t.Context(), b, nil)
			_, _, err := hear(s)
			var refused *turn.Refused
			if errors.As(err, &refused) != c.refused || errors.Is(err, turn.ErrLost) == c.refused {
				t.Errorf("error is %v", err)
			}
			if _, again := s.Next(); !errors.Is(again, err) || !b.closed && !b.done {
				t.Errorf("then comes %v, closed %v", again, b.closed)
			}
		})
	}
}

// TestCancel: our own end is no fault of the worker's.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("mine")
	cancel(mine)
	s := NewStream(ctx, &body{Reader: iotest.ErrReader(errors.New("closed"))}, nil)
	if _, err := s.Next(); !errors.Is(err, mine) || errors.Is(err, turn.ErrLost) {
		t.Errorf("error is %v", err)
	}
}

// TestRecordedVLLM reads the chat answers of a real vLLM server, without and
// with its parsers.
func TestRecordedVLLM(t *testing.T) {
	want := map[string]string{
		"chat-stream":                           ".YES fabulous.YES",
		"toolparser-chat-stream":                "(.YES)( fabulous)(.YES)",
		"toolparser-chat-tools-required-stream": strings.Repeat("(.YES)( fabulous)", 5),
	}
	lines := fixtures.Read(t, fixtures.Dir(t, "engines/vllm"), "http.jsonl")
	for line := range strings.Lines(string(lines)) {
		var x struct{ Name, Response string }
		if err := json.Unmarshal([]byte(line), &x); err != nil || want[x.Name] == "" {
			continue
		}
		r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(x.Response)), nil)
		if err != nil {
			t.Fatal(err)
		}
		got, end, err := hear(NewStream(t.Context(), &body{Reader: r.Body}, nil))
		if err != nil || got != want[x.Name] || end.Reason != turn.Cut {
			t.Errorf("%s: %q, %+v, %v", x.Name, got, end, err)
		}
		if x.Name == "chat-stream" && end.Usage != (turn.Usage{Prompt: 20, Output: 3}) {
			t.Errorf("usage %+v", end.Usage)
		}
		delete(want, x.Name)
	}
	if len(want) > 0 {
		t.Errorf("not recorded: %v", want)
	}
}

// TestRecordedLlama reads those of a real llama-server.
func TestRecordedLlama(t *testing.T) {
	dir := fixtures.Dir(t, "engines/llamacpp")
	n := 0
	for _, name := range []string{"chat.json", "chat-tools.json", "tools-chat.json"} {
		var x struct {
			Exchanges []struct {
				Response struct{ Chunks []struct{ Data string } }
			}
		}
		if err := json.Unmarshal(fixtures.Read(t, dir, name), &x); err != nil {
			t.Fatal(err)
		}
		for _, e := range x.Exchanges {
			var b strings.Builder
			for _, c := range e.Response.Chunks {
				b.WriteString(c.Data)
			}
			if b.Len() == 0 {
				continue
			}
			n++
			got, end, err := hear(NewStream(t.Context(), &body{Reader: strings.NewReader(b.String())}, nil))
			if err != nil || len(got) < 20 || end.Reason != turn.Cut {
				t.Errorf("%s: %q, %+v, %v", name, got, end, err)
			}
			if name == "chat.json" && (got != "Paris, the City of Light, the capital of art and" || end.Usage.Output != 12 || end.Usage.Prompt != 27) {
				t.Errorf("%s: %q, %+v", name, got, end)
			}
		}
	}
	if n < 4 {
		t.Errorf("%d answers", n)
	}
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(deltas(`"stop"`, `{"content":"a"}`, `{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{}"}}]}`)))
	f.Fuzz(func(t *testing.T, sent []byte) {
		s := NewStream(t.Context(), &body{Reader: strings.NewReader(string(sent))}, nil)
		open, n := false, 0
		for {
			d, err := s.Next()
			for _, e := range d.Events {
				switch e.Kind {
				case turn.CallStart:
					if open || e.Call.Index != n {
						t.Fatalf("call %d begins, %d came, open %v", e.Call.Index, n, open)
					}
					open, n = true, n+1
				case turn.CallArgs:
					if !open {
						t.Fatal("arguments of no call")
					}
				case turn.CallEnd:
					open = false
				}
			}
			if err != nil || d.End != nil {
				if d.End != nil && open {
					t.Fatal("a call is left open")
				}
				return
			}
		}
	})
}
