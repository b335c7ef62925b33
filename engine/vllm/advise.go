package vllm

import (
	"slices"
	"strings"

	"github.com/agentinfer/dyn/engine"
)

// causes are what vLLM's log says when it cannot start, and what to do then;
// the first that is found is taken. A block size, a context and memory can be
// refused a minute or two after the start.
var causes = []struct{ says, try string }{
	{"No common block size for", "set block-size in the recipe to a multiple of 32 (on a CPU), or leave it out"},
	{"Max num batched tokens", "raise max-num-batched-tokens in the recipe, or lower max-model-len"},
	{"larger than the maximum number of tokens that can be stored in KV cache", "lower max-model-len in the recipe, or give the cache more memory (gpu-memory-utilization; VLLM_CPU_KVCACHE_SPACE on a CPU)"},
	{"larger than the available KV cache memory", "lower max-model-len in the recipe, or give the cache more memory (gpu-memory-utilization; VLLM_CPU_KVCACHE_SPACE on a CPU)"},
	{"No available memory for the cache blocks", "raise gpu-memory-utilization in the recipe, or take a smaller model"},
	{"is less than desired GPU memory utilization", "free the GPU, or lower gpu-memory-utilization in the recipe"},
	{"CUDA out of memory", "free the GPU, spread the model over more of them (tensor-parallel-size), or take a smaller one"},
	{"No package metadata was found for vllm", "dyn engine install vllm"},
	{"no working C++ compiler", "install g++, or put TORCH_COMPILE_DISABLE: \"1\" into the recipe's env"},
	{"is greater than the derived max_model_len", "lower max-model-len in the recipe"},
	{"trust_remote_code=True", "if you trust the code in the model's folder: trust_remote_code: true in the recipe"},
	{"is not a local folder and is not a valid model identifier", "set model_dir in the recipe to the model's folder"},
}

// unknownFlags is how Python's parser begins its word on flags that a server
// does not know.
const unknownFlags = "unrecognized arguments: "

// Advise says what can be done about a server that ended before its first
// token.
func (Adapter) Advise(log []string) engine.Advice {
	for i := len(log) - 1; i >= 0; i-- {
		if _, rest, ok := strings.Cut(log[i], unknownFlags); ok {
			return adviseFlags(rest)
		}
	}
	for _, c := range causes {
		if slices.ContainsFunc(log, func(line string) bool { return strings.Contains(line, c.says) }) {
			return engine.Advice{Try: c.try}
		}
	}
	return engine.Advice{}
}

// adviseFlags sorts flags that are not known into those of ours that need not
// be and those that only a person can take away.
func adviseFlags(words string) engine.Advice {
	var a engine.Advice
	var names []string
	for _, word := range strings.Fields(words) {
		name, ok := strings.CutPrefix(word, "--")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(name, "=")
		names = append(names, name)
		if slices.Contains(dispensable, name) {
			a.Without = append(a.Without, name)
		}
	}
	if len(names) > 0 {
		a.Try = "this vLLM does not know --" + strings.Join(names, ", --") +
			": take it out of the recipe's flags (" + names[0] + ": \"false\"), or take a newer one: dyn engine install vllm"
	}
	return a
}
