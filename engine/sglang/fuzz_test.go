package sglang

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/turn"
)

// Whatever a server says, an answer ends: with its end, or with an error that
// says whose fault it is.
func FuzzAnswer(f *testing.F) {
	f.Add(event("a", []uint32{1}, 1, going) + "\n\ndata: " + event("ab", []uint32{1, 2}, 2, cutOff))
	f.Add(`{"text":5,"output_ids":{"a":-1},"meta_info":[]}`)
	f.Add(`{"output_ids":[1],"meta_info":{"output_token_logprobs":[1],"output_top_logprobs":[[[]]],"finish_reason":{"type":"stop","matched":1e99}}}`)
	f.Add("[DONE]")
	var said atomic.Value
	at := fake.Replay(f, 1<<20, func(*http.Request, []byte) []byte {
		return []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + said.Load().(string) + "\n\n")
	})
	c := newClient(engine.Endpoint{URL: at})
	c.manner.Store(&manner{thought: -1})
	f.Fuzz(func(t *testing.T, text string) {
		said.Store(strings.ToValidUTF8(text, "?"))
		a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4, Stop: []string{"b"}}))
		var r *turn.Refused
		if a.end == nil && (errors.Is(a.err, io.EOF) || !errors.As(a.err, &r) && !errors.Is(a.err, turn.ErrLost)) {
			t.Errorf("error is %v", a.err)
		}
	})
}
