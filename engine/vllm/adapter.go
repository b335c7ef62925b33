package vllm

import (
	"cmp"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// Adapter launches and reaches vLLM servers. The zero value is ready.
type Adapter struct{}

// Name is "vllm".
func (Adapter) Name() string { return "vllm" }

// grace is the flag for the seconds that running answers have after SIGTERM.
const grace = "shutdown-timeout"

// usual are the flags of every launch; recipes and users go over them.
// Priorities and cached tokens are off in vLLM unless asked for, and a model's
// own sampling would change what clients leave unsaid.
var usual = map[string]string{
	"enable-prompt-tokens-details": "true",
	"enable-request-id-headers":    "true",
	"generation-config":            "vllm",
	"scheduling-policy":            "priority",
	grace:                          "5",
}

// dispensable are those of our flags that older servers do not know, and can
// do without.
var dispensable = []string{"enable-request-id-headers", "generation-config", grace, queueLimit}

// Launch is the command line: the recipe's command, then its flags, with the
// address and the public name of the model. The key is in the environment.
func (Adapter) Launch(s engine.Spec, at engine.Place) (engine.Launch, error) {
	flags := s.Settings(at, ours(s, at))
	if err := checkCPU(s, flags); err != nil {
		return engine.Launch{}, err
	}
	flags["host"] = "127.0.0.1"
	flags["port"] = strconv.Itoa(at.Port)
	flags["served-model-name"] = s.Recipe.Model
	delete(flags, "api-key") // a command line can be read by everybody on the machine

	return engine.Launch{
		Args:     append(s.Command(at), engine.Args(flags)...),
		Env:      environment(s, at),
		Known:    known(s, flags),
		TermWait: termWait(flags),
	}, nil
}

// ours are the flags that recipes and users go over.
func ours(s engine.Spec, at engine.Place) map[string]string {
	flags := maps.Clone(usual)
	own := s.Settings(at, nil)
	if max(engine.Number(own[parallel]), engine.Number(own[strings.ReplaceAll(parallel, "-", "_")])) < 2 {
		flags["kv-events-config"] = eventsConfig(at)
	}
	if seqs := engine.Number(own["max-num-seqs"]); seqs > 0 {
		flags[queueLimit] = strconv.Itoa(seqs + max(seqs/4, 4))
	}
	return flags
}

// queueLimit lets a few more requests wait in the engine than run there: an
// engine that is fuller says so, and the turn goes elsewhere. The router keeps
// to max-num-seqs by itself; what it counts lags a little behind.
const queueLimit = "max-num-queued-reqs"

// parallel is the flag for several data-parallel ranks in one server. Each of
// them publishes at a port of its own, counted up from the one that is said, and
// only the first is listened to: see Capabilities.Ranks.
const parallel = "data-parallel-size"

// eventsConfig has the engine connect to who listens for its events, so that
// not even the first is lost; where nobody does it takes a free port. What was
// lost can be asked for at a free port, too. See /kv_event_sources for both.
func eventsConfig(at engine.Place) string {
	return fmt.Sprintf(`{"enable_kv_cache_events":true,"publisher":"zmq","endpoint":%q,"replay_endpoint":"tcp://*:0","topic":"kv"}`,
		cmp.Or(at.Events, "tcp://*:0"))
}

// termWait is how long after SIGTERM the process may live. A server with open
// answers may hang for ever when its grace is over: nothing more comes of it.
func termWait(flags map[string]string) time.Duration {
	n, err := strconv.Atoi(flags[grace])
	if err != nil {
		return 0 // the fleet's
	}
	return time.Duration(n+2) * time.Second
}

// environment is what the engine sees besides what it may see of ours.
func environment(s engine.Spec, at engine.Place) []string {
	env := []string{
		"PYTHONHASHSEED=0",
		"VLLM_HOST_IP=127.0.0.1",          // what tcp://* binds
		"VLLM_HTTP_TIMEOUT_KEEP_ALIVE=60", // more than remote.IdleLimit
		"VLLM_KV_EVENTS_USE_INT_BLOCK_HASHES=1",
		"VLLM_NO_USAGE_STATS=1",
		"VLLM_API_KEY=" + at.Key,
	}
	if onCPU(s) {
		env = append(env, cpuEnvironment...)
	}
	return s.Variables(env...)
}

// known is what the flags say and the server does not tell.
func known(s engine.Spec, flags map[string]string) turn.Capabilities {
	return turn.Capabilities{
		Context:    engine.Number(flags["max-model-len"]),
		BlockSize:  engine.Number(flags["block-size"]),
		MaxSeqs:    engine.Number(flags["max-num-seqs"]),
		MaxBatched: engine.Number(flags["max-num-batched-tokens"]),
		Priority:   flags["scheduling-policy"] == "priority",
	}
}

// Open makes a client for the server at that address.
func (Adapter) Open(at engine.Endpoint) engine.Client { return newClient(at) }
