package trtllm

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/advise"
)

var _ engine.Adviser = Adapter{}

// dispensable are those of our flags and settings that older servers do not
// know, and can do without.
var dispensable = []string{
	"served_model_name", inFile + waiting, inFile + "return_perf_metrics", inFile + "kv_cache_config.copy_on_partial_reuse",
}

// causes are what the log says when a server cannot start, and what to do
// then.
var causes = []advise.Cause{
	{Says: "CUDA out of memory", Try: "free the GPU, lower config.kv_cache_config.free_gpu_memory_fraction, or spread the model over more GPUs (tp_size)"},
	{Says: "trust_remote_code=True", Try: "if you trust the code in the model's folder: trust_remote_code: true in the recipe"},
}

// The words on a flag and on a setting that the server does not know. The
// setting's name is on the line before.
const (
	noOption = "No such option"
	noExtra  = "Extra inputs are not permitted"
)

// Advise says what can be done about a server that ended before its first
// token.
func (Adapter) Advise(log []string) engine.Advice {
	var names []string
	for i, line := range log {
		name := ""
		if _, rest, ok := strings.Cut(line, noOption); ok {
			_, rest, _ = strings.Cut(rest, "--")
			name = strings.TrimRight(strings.Fields(rest + " ")[0], ".'\"")
		}
		if strings.Contains(line, noExtra) && i > 0 {
			name = inFile + strings.TrimSpace(log[i-1])
		}
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	a := advise.Unknown("TensorRT-LLM", names, dispensable)
	a.Try = cmp.Or(a.Try, advise.Causes(log, causes).Try)
	return a
}
