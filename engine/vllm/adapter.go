package vllm

import (
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// Adapter launches and reaches vLLM servers. The zero value is ready.
type Adapter struct{}

// Name is "vllm".
func (Adapter) Name() string { return "vllm" }

// usual are the flags of every launch; recipes and users go over them.
// Priorities and cached tokens are off in vLLM unless asked for. The event
// sockets take free ports and report them, see /kv_event_sources.
var usual = map[string]string{
	"enable-prompt-tokens-details": "true",
	"enable-request-id-headers":    "true",
	"scheduling-policy":            "priority",
	"kv-events-config": `{"enable_kv_cache_events":true,"publisher":"zmq",` +
		`"endpoint":"tcp://*:0","replay_endpoint":"tcp://*:0","topic":"kv"}`,
}

// Launch is the command line: the recipe's command, then its flags, with the
// address, the key and the public name of the model.
func (Adapter) Launch(s engine.Spec, at engine.Place) (engine.Launch, error) {
	flags := s.Settings(at, usual)
	flags["host"] = "127.0.0.1"
	flags["port"] = strconv.Itoa(at.Port)
	flags["served-model-name"] = s.Recipe.Model
	delete(flags, "api-key") // a command line can be read by everybody on the machine

	l := engine.Launch{
		Args: append(s.Command(at), engine.Args(flags)...),
		Env: []string{
			"PYTHONHASHSEED=0",
			"VLLM_HOST_IP=127.0.0.1", // what tcp://* binds
			"VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES=1",
			"VLLM_NO_USAGE_STATS=1",
			"VLLM_API_KEY=" + at.Key,
		},
		Known: known(flags),
	}
	for name, value := range s.Recipe.Env {
		l.Env = append(l.Env, name+"="+value)
	}
	if len(s.GPUs) > 0 {
		var list []string
		for _, i := range s.GPUs {
			list = append(list, strconv.Itoa(i))
		}
		l.Env = append(l.Env, "CUDA_DEVICE_ORDER=PCI_BUS_ID", "CUDA_VISIBLE_DEVICES="+strings.Join(list, ","))
	}
	return l, nil
}

// known is what the flags say and the server does not tell.
func known(flags map[string]string) turn.Capabilities {
	number := func(flag string) int {
		n, _ := strconv.Atoi(flags[flag]) // 0 is unknown
		return n
	}
	return turn.Capabilities{
		Context:    number("max-model-len"),
		BlockSize:  number("block-size"),
		MaxSeqs:    number("max-num-seqs"),
		MaxBatched: number("max-num-batched-tokens"),
		Priority:   flags["scheduling-policy"] == "priority",
	}
}

// Open makes a client for the server at that address.
func (Adapter) Open(at engine.Endpoint) engine.Client { return newClient(at) }
