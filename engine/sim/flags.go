package sim

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"github.com/agentinfer/dyn/engine/sim/pace"
	"github.com/agentinfer/dyn/engine/sim/wire"
)

// maxBlocks is the largest KV cache: each block takes memory here too.
const maxBlocks = 4 << 20

// options are the flags of `dyn worker sim`; vLLM's names where vLLM has one.
type options struct {
	host, name, apiKey   string
	port                 int
	modelDir, writeModel string
	brain, profile       string
	speed                float64

	context   int // tokens; 0 is the model's own
	blockSize int
	kvTokens  int
	blocks    int // instead of kvTokens
	slots     int
	budget    int
	maxOpen   int
	grace     time.Duration
	echoIDs   bool

	vision       bool // images are seen
	autoTools    bool
	toolParser   string // "" reads no calls out of chats
	reasonParser string
	policy       string
	events       wire.Config
}

// parse reads the flags. Asked for help it writes that to help, with
// flag.ErrHelp in the error's chain.
func parse(args []string, help io.Writer) (options, error) {
	var (
		o     options
		kv    string
		grace float64
	)
	f := flag.NewFlagSet("dyn worker sim", flag.ContinueOnError)
	f.SetOutput(io.Discard) // errors are returned, not printed too
	f.StringVar(&o.host, "host", "127.0.0.1", "address to listen on")
	f.IntVar(&o.port, "port", 0, "port to listen on; 0 is a free one")
	f.StringVar(&o.name, "served-model-name", "sim", "name of the model")
	f.StringVar(&o.apiKey, "api-key", "", "key that /v1 routes ask for; default $VLLM_API_KEY")
	f.StringVar(&o.modelDir, "model-dir", "", "model folder; its tokenizer is used instead of our own")
	f.StringVar(&o.writeModel, "write-model", "", "write the model folder here and end")
	f.StringVar(&o.brain, "brain", "", "YAML file that says what to answer")
	f.StringVar(&o.profile, "profile", pace.Default, "whose step times are modelled")
	f.Float64Var(&o.speed, "speed", 1, "1 takes the modelled time, 2 half of it, 0 none")
	f.IntVar(&o.context, "max-model-len", 0, "tokens of prompt and answer; 0 is the model's own, at most 262144")
	f.IntVar(&o.blockSize, "block-size", 16, "tokens of a KV block")
	f.IntVar(&o.kvTokens, "kv-tokens", 400_000, "tokens of the KV cache, the reserved block included")
	f.IntVar(&o.blocks, "num-gpu-blocks-override", 0, "blocks of the KV cache, instead of --kv-tokens")
	f.IntVar(&o.slots, "max-num-seqs", 256, "requests that run at once")
	f.IntVar(&o.budget, "max-num-batched-tokens", 8192, "tokens computed in one step")
	f.IntVar(&o.maxOpen, "max-num-queued-reqs", 0, "requests that run and wait; 0 is no limit")
	f.Float64Var(&grace, "shutdown-timeout", 0, "seconds that running requests have after SIGTERM")
	f.StringVar(&kv, "kv-events-config", "", "JSON, as vLLM's")
	f.BoolVar(&o.echoIDs, "enable-request-id-headers", false, "answer with X-Request-Id")
	f.StringVar(&o.policy, "scheduling-policy", "fcfs", "fcfs or priority")
	f.BoolVar(&o.vision, "vision", false, "chats may have images, as those of a model that sees them")
	f.BoolVar(&o.autoTools, "enable-auto-tool-choice", false, "chats let the model choose among tools")
	f.StringVar(&o.toolParser, "tool-call-parser", "", "format of calls that chats read out of answers, and that brains write")
	f.StringVar(&o.reasonParser, "reasoning-parser", "", "format of reasoning that chats read out of answers, and that brains write")
	ignore(f)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			f.SetOutput(help)
			f.PrintDefaults()
		}
		return o, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("%w: unexpected argument %q", ErrUsage, f.Arg(0))
	}
	if o.apiKey == "" {
		o.apiKey = os.Getenv("VLLM_API_KEY")
	}
	o.grace = time.Duration(grace * float64(time.Second))
	var err error
	if o.events, err = wire.Parse(kv); err != nil {
		return o, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	if err := o.check(); err != nil {
		return o, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return o, nil
}

// ignore accepts flags of a vLLM launch line that change nothing here.
func ignore(f *flag.FlagSet) {
	for _, name := range []string{
		"enable-prefix-caching", "enable-prompt-tokens-details", "enforce-eager", "enable-chunked-prefill",
	} {
		f.Bool(name, true, "accepted; always on")
	}
	for _, name := range []string{"trust-remote-code", "enable-server-load-tracking", "enable-scale-out", "async-scheduling"} {
		f.Bool(name, false, "accepted; changes nothing")
	}
	for _, name := range []string{
		"generation-config", "prefix-caching-hash-algo", "dtype", "load-format", "quantization", "kv-cache-dtype",
		"gpu-memory-utilization", "kv-cache-memory-bytes", "tensor-parallel-size", "stream-interval", "seed",
	} {
		f.String(name, "", "accepted; changes nothing")
	}
}

func (o *options) check() error {
	for _, c := range []struct {
		name string
		n    int
	}{
		{"block-size", o.blockSize},
		{"kv-tokens", o.kvTokens},
		{"max-num-seqs", o.slots},
		{"max-num-batched-tokens", o.budget},
	} {
		if c.n < 1 {
			return fmt.Errorf("--%s must be at least 1, not %d", c.name, c.n)
		}
	}
	switch {
	case o.context < 0 || o.blocks < 0 || o.maxOpen < 0:
		return fmt.Errorf("a limit is negative")
	case o.speed < 0 || math.IsNaN(o.speed) || o.grace < 0:
		return fmt.Errorf("--speed and --shutdown-timeout must be numbers that are not negative")
	case o.policy != "fcfs" && o.policy != "priority":
		return fmt.Errorf("--scheduling-policy %q is unknown; known are fcfs, priority", o.policy)
	case o.port < 0 || o.port > 65535:
		return fmt.Errorf("--port %d is no port", o.port)
	}
	if o.blocks == 0 {
		o.blocks = o.kvTokens / o.blockSize
	}
	switch {
	case o.blocks < 2:
		return fmt.Errorf("a KV cache of %d blocks is too small; one is reserved", o.blocks)
	case o.blocks > maxBlocks:
		return fmt.Errorf("a KV cache of %d blocks is too large; %d are the most", o.blocks, maxBlocks)
	}
	return nil
}
