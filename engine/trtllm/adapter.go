package trtllm

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/turn"
)

// Adapter launches and reaches TensorRT-LLM servers. The zero value is ready.
type Adapter struct{}

// Name is "trtllm".
func (Adapter) Name() string { return "trtllm" }

// inFile is how the flags begin that are no flags of the server but settings
// in its file: config.kv_cache_config.tokens_per_block is tokens_per_block in
// kv_cache_config. There "off" is false, since a flag that is "false" is left
// out.
const inFile = "config."

// usual are the flags of every launch; recipes and users go over them. With
// the server's own buffer of 1024 events a long prompt loses some; without a
// back-end for forms they are ignored and nobody told.
var usual = map[string]string{
	"backend":           "pytorch",
	"served_model_name": "true",
	inFile + "kv_cache_config.enable_block_reuse":    "true",
	inFile + "kv_cache_config.enable_partial_reuse":  "true",
	inFile + "kv_cache_config.copy_on_partial_reuse": "true",
	inFile + "kv_cache_config.tokens_per_block":      "32",
	inFile + "kv_cache_config.event_buffer_max_size": "65536",
	inFile + "guided_decoding_backend":               "xgrammar",
	inFile + waiting:                                 "priority",
	inFile + "return_perf_metrics":                   "true",
}

const waiting = "scheduler_config.waiting_queue_policy"

// termWait is how long a server has to end by itself; it ends its children
// within ten seconds.
const termWait = 15 * time.Second

// Launch is the command line: the recipe's command, then its flags, with the
// address and the public name of the model, and a file of settings.
func (Adapter) Launch(s engine.Spec, at engine.Place) (engine.Launch, error) {
	flags := s.Settings(at, usual)
	flags["host"] = "127.0.0.1"
	flags["port"] = strconv.Itoa(at.Port)
	if flags["served_model_name"] != "" {
		flags["served_model_name"] = s.Recipe.Model
	}
	delete(flags, "trust_remote_code") // only the recipe's own word sets it
	if flags["trust-remote-code"] != "" {
		delete(flags, "trust-remote-code")
		flags["trust_remote_code"] = "true"
	}
	l := engine.Launch{Env: s.Variables(), Known: known(s, flags), TermWait: termWait}
	file, err := settings(flags)
	if err != nil {
		return l, err
	}
	flags["config"] = string(file) // a plan shows what is in the file
	if at.Dir != "" {
		flags["config"] = filepath.Join(at.Dir, "trtllm.yaml")
		if err := os.WriteFile(flags["config"], file, 0o600); err != nil {
			return l, fmt.Errorf("write the engine's settings: %w", err)
		}
	}
	l.Args = append(s.Command(at), engine.Args(flags)...)
	return l, nil
}

// settings takes out of flags what belongs into the file, and returns that as
// JSON, which is YAML too.
func settings(flags map[string]string) ([]byte, error) {
	root := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		path, ok := strings.CutPrefix(name, inFile)
		if !ok {
			continue
		}
		words := strings.Split(path, ".")
		in := root
		for _, w := range words[:len(words)-1] {
			inner, ok := in[w].(map[string]any)
			if !ok && in[w] != nil {
				return nil, fmt.Errorf("flag %s: %s is set to a value and has settings inside", name, w)
			}
			if !ok {
				inner = map[string]any{}
				in[w] = inner
			}
			in = inner
		}
		in[words[len(words)-1]] = value(flags[name])
		delete(flags, name)
	}
	return json.Marshal(root)
}

// value is what a flag says, as JSON has it.
func value(s string) any {
	if s == "off" {
		return false
	}
	var v any
	if json.Unmarshal([]byte(s), &v) == nil {
		return v
	}
	return s
}

// known is what the flags say and the server does not tell.
func known(s engine.Spec, flags map[string]string) turn.Capabilities {
	return turn.Capabilities{
		Context:    engine.Number(flags["max_seq_len"]),
		BlockSize:  engine.Number(flags[inFile+"kv_cache_config.tokens_per_block"]),
		MaxSeqs:    engine.Number(flags["max_batch_size"]),
		MaxBatched: engine.Number(flags["max_num_tokens"]),
		Priority:   flags[inFile+waiting] == "priority",
	}
}

// Open makes a client for the server at that address.
func (Adapter) Open(at engine.Endpoint) engine.Client { return newClient(at) }
