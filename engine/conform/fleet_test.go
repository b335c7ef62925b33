package conform_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/conform/fake"
	"github.com/agentinfer/dyn/engine/llamacpp"
	"github.com/agentinfer/dyn/engine/sglang"
	"github.com/agentinfer/dyn/engine/sim/kv"
	"github.com/agentinfer/dyn/engine/sim/wire"
	"github.com/agentinfer/dyn/engine/trtllm"
	"github.com/agentinfer/dyn/engine/vllm"
	"github.com/agentinfer/dyn/turn"
)

// publisher tells KV events as SGLang does, and says where. What is told before
// somebody listens is lost, since SGLang does not say where it can be asked
// for again.
func publisher(t *testing.T, o *fake.Options) (tell func([]kv.Event), listeners func() int) {
	t.Helper()
	cfg, err := wire.Parse(`{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":"tcp://*:0","topic":"kv"}`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := wire.Open(cfg, 16, wire.Short)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	at := p.Config().Endpoint
	o.Events = map[string]any{
		"publisher": "zmq", "endpoint_host": "*", "endpoint_port_base": at[strings.LastIndexByte(at, ':')+1:], "block_size": 16,
	}
	return func(events []kv.Event) { _ = p.Publish(events) }, p.Subscribers
}

// Each engine that is attached is known for what it is, takes turns, and tells
// what it holds.
func TestAttach(t *testing.T) {
	var told sync.Map // KV tokens by worker
	f := engine.NewFleet(engine.Options{
		Adapters: []engine.Adapter{llamacpp.Adapter{}, sglang.Adapter{}, trtllm.Adapter{}, vllm.Adapter{}},
		Poll:     20 * time.Millisecond,
		OnKV: func(b turn.KVBatch) {
			for _, ev := range b.Events {
				before, _ := told.LoadOrStore(b.Worker, []uint32(nil))
				told.Store(b.Worker, append(slices.Clip(before.([]uint32)), ev.Tokens...))
			}
		},
	})
	t.Cleanup(func() { _ = f.Stop(context.Background(), 0) })
	var o fake.Options
	tell, listeners := publisher(t, &o)
	for _, c := range []struct {
		name string
		at   turn.Attach
	}{
		{"sglang", turn.Attach{URL: fake.SGLang(t, o, tell).URL}},
		{"trtllm", turn.Attach{URL: fake.TRTLLM(t, fake.Options{Buffer: 1000}).URL, ModelDir: fake.ModelDir(t)}},
		{"llama.cpp", turn.Attach{URL: fake.LlamaServer(t, fake.Options{}).URL}},
		{"vllm", turn.Attach{URL: simulated(t).URL, Key: "secret"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := f.Attach(t.Context(), c.at)
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := strings.Cut(w.Info().Caps.Engine, " "); got != c.name {
				t.Errorf("it is taken for %s", got)
			}
			if c.name == "sglang" {
				until(t, "somebody listens", func() bool { return listeners() > 0 })
			}
			prompt := make([]uint32, 40)
			for i := range prompt {
				prompt[i] = uint32(400 + i)
			}
			s, err := w.Generate(t.Context(), turn.Job{Prompt: turn.IDsOf(prompt...), MaxTokens: 3})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for d := (turn.Delta{}); d.End == nil; {
				if d, err = s.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if c.name == "vllm" { // this one has no event sockets
				return
			}
			until(t, "its blocks are known", func() bool {
				all, _ := told.LoadOrStore(w.Name(), []uint32(nil))
				return within(prompt[:32], all.([]uint32))
			})
			if !w.Info().Caps.Events {
				t.Error("its events are not known to come")
			}
		})
	}
}

// within reports whether ids stand in all, one behind the other.
func within(ids, all []uint32) bool {
	for i := range all {
		if len(all)-i >= len(ids) && slices.Equal(all[i:i+len(ids)], ids) {
			return true
		}
	}
	return false
}

// until polls a condition.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); <-time.After(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
