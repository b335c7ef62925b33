package sim

import (
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/vllm"
)

// A probe finds what this engine does, and that it holds answers to no form
// and tells no log probabilities: it refuses those, since a router that
// believed otherwise would promise what nobody keeps.
func TestProbeFindsWhatIsThere(t *testing.T) {
	r := start(t, nil)
	seen, err := vllm.Adapter{}.Open(engine.Endpoint{URL: "http://" + r.addr}).Probe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c := seen.Caps; c.Formats || c.Logprobs || !c.TokenIDs || !c.Cached || c.Model == "" {
		t.Errorf("capabilities are %+v", c)
	}
}
