package sglang

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// Adapter launches and reaches SGLang servers. The zero value is ready.
type Adapter struct{}

// Name is "sglang".
func (Adapter) Name() string { return "sglang" }

// usual are the flags of every launch; recipes and users go over them. A page
// of one token, the default of many back-ends, would make an event entry of
// each token.
var usual = map[string]string{
	"model-path":                   "{model_dir}",
	"page-size":                    "16",
	"enable-metrics":               "true",
	"enable-cache-report":          "true",
	"incremental-streaming-output": "true",
	"enable-priority-scheduling":   "true",
	"radix-eviction-policy":        "priority",
}

// lowFirst turns the order of turns, and not that of the cache.
const lowFirst = "schedule-low-priority-values-first"

// Launch is the command line: the recipe's command, then its flags, with the
// address and the public name of the model. The key is in a file, since a
// command line can be read by everybody on the machine; it is on the command
// line where a recipe has a file of flags of its own, for there can be one.
func (Adapter) Launch(s engine.Spec, at engine.Place) (engine.Launch, error) {
	flags := s.Settings(at, ours(at))
	if _, set := flags[lowFirst]; set {
		return engine.Launch{}, errors.New("flag " + lowFirst + ": low priorities would run first and be kept longest in the cache; " +
			"take it away: dyn turns the sign where it must")
	}
	flags["host"] = "127.0.0.1"
	flags["port"] = strconv.Itoa(at.Port)
	flags["served-model-name"] = s.Recipe.Model
	if err := key(flags, at); err != nil {
		return engine.Launch{}, err
	}
	delete(flags, "base-gpu-id") // counts inside of what it is shown, from 0
	l := engine.Launch{
		Args: append(s.Command(at), engine.Args(flags)...),
		Env: s.Variables(
			"PYTHONHASHSEED=0",
			"SGLANG_TIMEOUT_KEEP_ALIVE=120",
			"SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION=false",
		),
		Known:    known(s, flags),
		TermWait: termWait,
	}
	return l, nil
}

// ours are the flags that recipes and users go over. The server connects to who
// listens for its events, so that not even the first is lost; it publishes
// none where nobody does, since the other form is open to everybody.
func ours(at engine.Place) map[string]string {
	flags := maps.Clone(usual)
	if at.Events != "" {
		c, _ := json.Marshal(map[string]string{"publisher": "zmq", "endpoint": at.Events, "topic": "kv"}) // strings can be written
		flags["kv-events-config"] = string(c)
	}
	return flags
}

// termWait is how long a server has to end by itself: it lets running turns
// end without any bound of its own, and looks every five seconds whether they
// have.
const termWait = 15 * time.Second

// key puts the key where the server finds it.
func key(flags map[string]string, at engine.Place) error {
	delete(flags, "api-key")
	if at.Key == "" {
		return nil
	}
	if _, set := flags["config"]; set {
		flags["api-key"] = at.Key
		return nil
	}
	flags["config"] = filepath.Join(at.Dir, "sglang.yaml")
	if at.Dir == "" { // a plan
		return nil
	}
	text, _ := json.Marshal(map[string]string{"api-key": at.Key}) // JSON is YAML, and strings can be written
	if err := os.WriteFile(flags["config"], text, 0o600); err != nil {
		return fmt.Errorf("write the file with the engine's key: %w", err)
	}
	return nil
}

// known is what the flags say, should the server not tell.
func known(s engine.Spec, flags map[string]string) turn.Capabilities {
	page := engine.Number(flags["page-size"])
	if page < leastPage {
		page = 0
	}
	return turn.Capabilities{
		Context:    engine.Number(flags["context-length"]),
		BlockSize:  page,
		KVTokens:   engine.Number(flags["max-total-tokens"]),
		MaxSeqs:    engine.Number(flags["max-running-requests"]),
		MaxBatched: engine.Number(flags["chunked-prefill-size"]),
	}
}

// Open makes a client for the server at that address.
func (Adapter) Open(at engine.Endpoint) engine.Client { return newClient(at) }
