package llamacpp

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// A real server, named by DYN_LLAMA, does what was recorded of others.
func TestLive(t *testing.T) {
	url := os.Getenv("DYN_LLAMA")
	if url == "" {
		t.Skip("no DYN_LLAMA, the address of a llama-server")
	}
	c := newClient(engine.Endpoint{URL: url, Args: []string{"--cache-ram", "512", "-sps", "0.9", "--slot-save-path", "x"}})
	defer c.Close()
	seen, err := c.Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(seen)
	t.Logf("%s; %d bytes a token", b, c.mirror.rules.perToken)
	prompt := turn.IDsOf(1, 9690, 198, 2683, 359, 253, 5356, 5646, 11173, 3365, 3511, 308, 34519, 28, 7018)
	h := listen(t, c, turn.Job{Prompt: prompt, MaxTokens: 16, Sampling: turn.Sampling{Temperature: new(float64)}})
	t.Logf("%q %v %+v %v", h.text, h.ids, h.end, h.err)
	h = listen(t, c, turn.Job{Prompt: prompt, MaxTokens: 64, StopIDs: h.ids[3:4], Sampling: turn.Sampling{Temperature: new(float64), Logprobs: true}})
	t.Logf("%q %v %+v %v %v", h.text, h.ids, h.end, h.err, h.likely)
	l, err := c.Load(t.Context())
	t.Logf("%+v %v", l, err)
}
