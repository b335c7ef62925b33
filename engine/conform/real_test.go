package conform_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform"
	"github.com/agentinfer/dyn/engine/llamacpp"
	"github.com/agentinfer/dyn/engine/sglang"
	"github.com/agentinfer/dyn/engine/trtllm"
	"github.com/agentinfer/dyn/engine/vllm"
)

// TestReal applies the suite to the servers that DYN_ENGINES names.
func TestReal(t *testing.T) {
	list := strings.Fields(os.Getenv("DYN_ENGINES"))
	if len(list) == 0 {
		t.Skip("SKIPPED: no DYN_ENGINES, the addresses of real servers")
	}
	all := map[string]engine.Adapter{}
	for _, a := range []engine.Adapter{llamacpp.Adapter{}, sglang.Adapter{}, trtllm.Adapter{}, vllm.Adapter{}} {
		all[a.Name()] = a
	}
	for _, word := range list {
		name, rest, _ := strings.Cut(word, "=")
		t.Run(name, func(t *testing.T) {
			parts := strings.Split(rest, ",")
			target := conform.Target{
				Adapter: all[name], Endpoint: engine.Endpoint{URL: parts[0], Key: os.Getenv("DYN_ENGINES_KEY")},
				Lacks: map[string]string{}, Limit: time.Minute, Look: 100 * time.Millisecond, Seed: uint32(time.Now().UnixNano()),
			}
			if target.Adapter == nil {
				t.Fatalf("no adapter is called %q", name)
			}
			for _, lacks := range parts[1:] {
				if n, ok := strings.CutPrefix(lacks, "slots="); ok {
					target.Slots, _ = strconv.Atoi(n) // 0 leaves "order" out
					continue
				}
				target.Lacks[strings.ReplaceAll(lacks, "_", " ")] = "DYN_ENGINES says so"
			}
			if name == "llamacpp" { // to be asked delays what it does
				target.Look = 3 * time.Second
				target.Running = func() int { return busySlots(t, target.Endpoint) }
			}
			conform.Run(t, target)
		})
	}
}

// busySlots is how many slots of a llama-server compute.
func busySlots(t *testing.T, at engine.Endpoint) (n int) {
	q, err := http.NewRequest(http.MethodGet, at.URL+"/slots", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+at.Key)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var slots []struct {
		Busy bool `json:"is_processing"`
	}
	if err := json.NewDecoder(r.Body).Decode(&slots); err != nil {
		t.Fatal(err)
	}
	for _, s := range slots {
		if s.Busy {
			n++
		}
	}
	return n
}
