package trtllm

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
	f.Add(event([]uint32{1}, "null", "null") + "\n\ndata: " + event([]uint32{2}, `"stop"`, "2"))
	f.Add(`{"choices":[{"token_ids":{"a":-1},"finish_reason":{}}]}`)
	f.Add(`{"choices":[{"token_ids":[-5,1e99,"x"],"finish_reason":"stop","stop_reason":1e99}],"usage":{"prompt_tokens":-3}}`)
	f.Add("[DONE]")
	var said atomic.Value
	at := fake.Replay(f, 1<<20, func(*http.Request, []byte) []byte {
		return []byte("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: " + said.Load().(string) + "\n\n")
	})
	c := newClient(engine.Endpoint{URL: at})
	c.manner.Store(&manner{model: "m", tok: tokenizer(f)})
	f.Fuzz(func(t *testing.T, text string) {
		said.Store(strings.ToValidUTF8(text, "?"))
		a := readAll(c.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(1), MaxTokens: 4, Stop: []string{"b"}}))
		var r *turn.Refused
		if a.end == nil && (errors.Is(a.err, io.EOF) || !errors.As(a.err, &r) && !errors.Is(a.err, turn.ErrLost)) {
			t.Errorf("error is %v", a.err)
		}
	})
}
