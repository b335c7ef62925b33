package llamacpp

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/turn"
)

// Whatever a server answers, the answer ends, with an end or an error, and the
// mirror stays whole.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte(stepA+"\n"+stepB+"\n"+ending), true)
	f.Add([]byte(`{"stop":true,"id_slot":-9,"tokens_predicted":-3,"tokens_cached":-1,"timings":{"cache_n":-5}}`), true)
	f.Add([]byte(`{"content":"x","tokens":[1e30,-1,"a",{}],"tokens_predicted":1e18}`+"\n"+`{"stop":true,"id_slot":1e9}`), true)
	f.Add([]byte(`{"prompt_progress":{"cache":1e18,"processed":-1}}`+"\n"+`{"error":{"code":-1}}`), true)
	f.Add([]byte(`{"error":5}`+"\n[]\nnull\n\"x\""), true)
	f.Add([]byte("HTTP/1.1 500 x\r\n\r\n{\"error\":{\"message\":{}}}"), false)
	f.Fuzz(func(t *testing.T, data []byte, events bool) {
		if events {
			var all bytes.Buffer
			io.WriteString(&all, "HTTP/1.1 200 OK\r\n\r\n")
			for line := range bytes.Lines(data) {
				all.WriteString("data: ")
				all.Write(line)
			}
			all.WriteString("\n\n")
			data = all.Bytes()
		}
		c := knowing(t, fake.Replay(t, 1<<16, fake.Same(data)))
		c.listen()
		for range 2 {
			h := listen(t, c, turn.Job{Prompt: said(0, 40), MaxTokens: 3, StopIDs: []uint32{11}})
			var refused *turn.Refused
			if h.end == nil && !errors.Is(h.err, turn.ErrLost) && !errors.As(h.err, &refused) && !errors.Is(h.err, errors.ErrUnsupported) {
				t.Errorf("no end, and %v", h.err)
			}
			if u := h.end; u != nil && (u.Usage.Cached > u.Usage.Prompt || u.Usage.Cached < 0) {
				t.Errorf("usage is %+v", u.Usage)
			}
			c.events()
		}
		for i, s := range c.mirror.slots {
			if s.busy != nil {
				t.Errorf("slot %d stays busy", i)
			}
		}
	})
}
