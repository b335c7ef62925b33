package check

import (
	"os"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/llamacpp"
	"github.com/agentinfer/dyn/engine/vllm"
	"github.com/agentinfer/dyn/prompt"
)

// TestLive checks the real servers that DYN_CHECK names, each with its model
// folder, and prints the reports:
//
//	DYN_CHECK="vllm=http://127.0.0.1:8000=/models/qwen3 llamacpp=http://127.0.0.1:8080=/models/smol" \
//	  go test -run TestLive -v ./engine/check
func TestLive(t *testing.T) {
	servers := strings.Fields(os.Getenv("DYN_CHECK"))
	if len(servers) == 0 {
		t.Skip("SKIPPED: no DYN_CHECK, the addresses of real servers and their model folders")
	}
	adapters := map[string]engine.Adapter{"vllm": vllm.Adapter{}, "llamacpp": llamacpp.Adapter{}}
	for _, server := range servers {
		t.Run(server, func(t *testing.T) {
			parts := strings.SplitN(server, "=", 3)
			if len(parts) != 3 || adapters[parts[0]] == nil {
				t.Fatal("this is not adapter=url=folder")
			}
			m, err := prompt.Open(parts[2], prompt.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := adapters[parts[0]].Open(engine.Endpoint{URL: parts[1], ModelDir: parts[2]})
			defer c.Close()
			if _, err := c.Probe(t.Context()); err != nil {
				t.Fatal(err)
			}
			r := Run(t.Context(), c, m)
			t.Log(r)
			if why := r.Reason(); why != "" {
				t.Error(why)
			}
		})
	}
}
