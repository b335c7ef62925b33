package sglang

import (
	"cmp"

	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/advise"
)

var _ engine.Adviser = Adapter{}

// dispensable are those of our flags that older servers do not know, and can
// do without.
var dispensable = []string{
	"enable-cache-report", "incremental-streaming-output", "enable-priority-scheduling", "radix-eviction-policy", "kv-events-config",
}

// causes are what the log says when a server cannot start, and what to do
// then.
var causes = []advise.Cause{
	{Says: "Not enough memory", Try: "raise mem-fraction-static in the recipe, lower context-length, or take a smaller model"},
	{Says: "CUDA out of memory", Try: "free the GPU, lower mem-fraction-static, or spread the model over more GPUs (tp-size)"},
	{Says: "invalid device ordinal", Try: "the recipe names a GPU that is not there: see --gpus and the recipe's flags"},
	{Says: "trust_remote_code=True", Try: "if you trust the code in the model's folder: trust_remote_code: true in the recipe"},
}

// Advise says what can be done about a server that ended before its first
// token.
func (Adapter) Advise(log []string) engine.Advice {
	a := advise.Unknown("SGLang", advise.Unrecognized(log), dispensable)
	a.Try = cmp.Or(a.Try, advise.Causes(log, causes).Try)
	return a
}
