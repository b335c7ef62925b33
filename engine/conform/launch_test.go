package conform_test

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/engine/sglang"
	"github.com/agentinfer/dyn/engine/sim/kv"
	"github.com/agentinfer/dyn/engine/sim/wire"
	"github.com/agentinfer/dyn/engine/trtllm"
	"github.com/agentinfer/dyn/recipes"
	"github.com/agentinfer/dyn/turn"
)

// faceRole names the engine whose face a launched copy of this test is.
const faceRole = "DYN_TEST_FACE"

// TestFace is no test: it is what TestLaunched launches. It reads the command
// line as the engine would, and serves until it is told to stop.
func TestFace(t *testing.T) {
	role := os.Getenv(faceRole)
	if role == "" {
		t.Skip("it is for TestLaunched")
	}
	args := os.Args[slices.Index(os.Args, "--")+1:]
	flag := func(name string) string {
		if i := slices.Index(args, "--"+name); i >= 0 && i+1 < len(args) {
			return args[i+1]
		}
		return ""
	}
	port, err := strconv.Atoi(flag("port"))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(flag("config"))
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Key   string `json:"api-key"`
		Cache struct {
			Block  int `json:"tokens_per_block"`
			Buffer int `json:"event_buffer_max_size"`
		} `json:"kv_cache_config"`
	}
	if err := json.Unmarshal(file, &c); err != nil {
		t.Fatal(err)
	}
	switch role {
	case "sglang":
		block, _ := strconv.Atoi(flag("page-size"))
		fake.SGLang(t, fake.Options{Port: port, Key: c.Key, BlockSize: block}, connected(t, flag("kv-events-config"), block))
	case "trtllm":
		fake.TRTLLM(t, fake.Options{Port: port, BlockSize: c.Cache.Block, Buffer: c.Cache.Buffer})
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	<-told
}

// connected publishes events to who listens for them.
func connected(t *testing.T, config string, block int) func([]kv.Event) {
	cfg, err := wire.Parse(config)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Enable = true
	p, err := wire.Open(cfg, block, wire.Short)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return func(events []kv.Event) { _ = p.Publish(events) }
}

// An engine that dyn starts gets its line, its key and its file, becomes
// ready, and tells what it holds from its first turn on.
func TestLaunched(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		adapter engine.Adapter
		block   int
	}{
		"sglang": {sglang.Adapter{}, 16},
		"trtllm": {trtllm.Adapter{}, 32},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var tokens []uint32
			f := engine.NewFleet(engine.Options{
				Logs: t.TempDir(), Self: self, Adapters: []engine.Adapter{c.adapter}, Poll: 20 * time.Millisecond,
				OnKV: func(b turn.KVBatch) {
					mu.Lock()
					defer mu.Unlock()
					for _, ev := range b.Events {
						tokens = append(tokens, ev.Tokens...)
					}
				},
			})
			t.Cleanup(func() { _ = f.Stop(context.Background(), 0) })
			w, err := f.Start(t.Context(), engine.Spec{
				Recipe: &recipes.Recipe{
					Name: "face", Model: "tiny", Engine: name, Command: []string{"{self}", "-test.run=^TestFace$", "--"},
					Env: map[string]string{faceRole: name}, Vision: true,
				},
				ModelDir: fake.ModelDir(t),
			})
			if err != nil {
				t.Fatal(err)
			}
			if i := w.Info(); i.Caps.BlockSize != c.block || !i.Caps.TokenIDs || !i.Caps.Priority || !i.Caps.Events || !i.Caps.Vision {
				t.Errorf("capabilities are %+v", i.Caps)
			}
			prompt := make([]uint32, 70)
			for i := range prompt {
				prompt[i] = uint32(500 + i)
			}
			s, err := w.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(prompt...), MaxTokens: 3, Priority: 5})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for d := (turn.Delta{}); d.End == nil; {
				if d, err = s.Next(); err != nil {
					t.Fatal(err)
				}
			}
			until(t, "its first blocks are known", func() bool {
				mu.Lock()
				defer mu.Unlock()
				return within(prompt[:64], tokens)
			})
		})
	}
}
