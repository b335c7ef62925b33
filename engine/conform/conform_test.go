package conform_test

import (
	"bufio"
	"context"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/engine/llamacpp"
	"github.com/agentinfer/dyn/engine/sglang"
	"github.com/agentinfer/dyn/engine/sim"
	"github.com/agentinfer/dyn/engine/trtllm"
	"github.com/agentinfer/dyn/engine/vllm"
)

// simulated runs the simulated engine inside the test.
func simulated(t *testing.T, flags ...string) engine.Endpoint {
	t.Helper()
	brain := filepath.Join(t.TempDir(), "brain.yaml")
	say := "rules:\n  - say: \"Lines: größer, 日本語, 🏔.\\n\\nA call of a tool may follow, and the end of it is near.\"\n"
	if err := os.WriteFile(brain, []byte(say), 0o600); err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		args := append([]string{"--max-model-len", "4096", "--speed", "8", "--api-key", "secret", "--brain", brain}, flags...)
		done <- sim.Run(ctx, args, w, io.Discard)
		w.Close()
	}()
	t.Cleanup(func() { cancel(); <-done })
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("the simulated engine does not start: %v", <-done)
	}
	go func() { _, _ = io.Copy(io.Discard, r) }()
	_, url, _ := strings.Cut(strings.TrimSpace(line), "listening on ")
	return engine.Endpoint{URL: url, Key: "secret"}
}

func TestSimulated(t *testing.T) {
	t.Parallel()
	conform.Run(t, conform.Target{
		Adapter: vllm.Adapter{}, Endpoint: simulated(t, "--max-model-len", "16384", "--scheduling-policy", "priority", "--max-num-seqs", "2"), Ends: true, Slots: 2,
	})
}

func TestSGLang(t *testing.T) {
	for name, o := range map[string]fake.Options{
		"as launched":    {Key: "secret", Held: true},
		"cumulative":     {Cumulative: true, NoPriority: true},
		"loses cancels":  {Zombie: true},
		"with reasoning": {Reasons: true, Held: true, Cumulative: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Speed, o.Slots, o.Context = 8, 2, 16384
			e := fake.SGLang(t, o, nil)
			slots := o.Slots
			if o.NoPriority {
				slots = 0
			}
			conform.Run(t, conform.Target{
				Adapter: sglang.Adapter{}, Endpoint: engine.Endpoint{URL: e.URL, Key: o.Key}, Ends: true, Running: e.Running, Slots: slots,
			})
		})
	}
}

func TestTRTLLM(t *testing.T) {
	dir := fake.ModelDir(t)
	for name, c := range map[string]struct {
		o    fake.Options
		dir  string
		more map[string]string
	}{
		"as launched":         {fake.Options{Held: true, Buffer: 65536}, dir, nil},
		"before priorities":   {fake.Options{NoPriority: true}, dir, nil},
		"without a tokenizer": {fake.Options{}, "", map[string]string{"own end": "its text has end tokens in it"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.o.Speed = 8
			e := fake.TRTLLM(t, c.o)
			lacks := map[string]string{"salt": "the completions API has none; such turns are refused"}
			maps.Copy(lacks, c.more)
			conform.Run(t, conform.Target{
				Adapter: trtllm.Adapter{}, Endpoint: engine.Endpoint{URL: e.URL, ModelDir: c.dir}, Ends: true, Running: e.Running, Lacks: lacks, Context: 4096,
			})
		})
	}
}

func TestLlama(t *testing.T) {
	for name, o := range map[string]fake.Options{
		"with a key and forms": {Key: "secret", Held: true},
		"plain":                {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o.Speed = 8
			e := fake.LlamaServer(t, o)
			conform.Run(t, conform.Target{
				Adapter: llamacpp.Adapter{}, Endpoint: engine.Endpoint{URL: e.URL, Key: o.Key}, Ends: true, Running: e.Running,
				Lacks: map[string]string{"salt": "the adapter keeps salts apart by slots, which the face does not have"},
			})
		})
	}
}
