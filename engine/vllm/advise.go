package vllm

import (
	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/advise"
)

// causes are what vLLM's log says when it cannot start, and what to do then. A
// block size, a context and memory can be refused a minute or two after the
// start.
var causes = []advise.Cause{
	{Says: "No common block size for", Try: "set block-size in the recipe to a multiple of 32 (on a CPU), or leave it out"},
	{Says: "larger than the maximum number of tokens that can be stored in KV cache", Try: moreCache},
	{Says: "larger than the available KV cache memory", Try: moreCache},
	{Says: "No available memory for the cache blocks", Try: "raise gpu-memory-utilization in the recipe, or take a smaller model"},
	{Says: "is less than desired GPU memory utilization", Try: "free the GPU, or lower gpu-memory-utilization in the recipe"},
	{Says: "CUDA out of memory", Try: "free the GPU, spread the model over more of them (tensor-parallel-size), or take a smaller one"},
	{Says: "No package metadata was found for vllm", Try: "dyn engine install vllm"},
	{Says: "no working C++ compiler", Try: "install g++, or put TORCH_COMPILE_DISABLE: \"1\" into the recipe's env"},
	{Says: "is greater than the derived max_model_len", Try: "lower max-model-len in the recipe"},
	{Says: "trust_remote_code=True", Try: "if you trust the code in the model's folder: trust_remote_code: true in the recipe"},
	{Says: "is not a local folder and is not a valid model identifier", Try: "set model_dir in the recipe to the model's folder"},
}

const moreCache = "lower max-model-len in the recipe, or give the cache more memory (gpu-memory-utilization; VLLM_CPU_KVCACHE_SPACE on a CPU)"

// Advise says what can be done about a server that ended before its first
// token.
func (Adapter) Advise(log []string) engine.Advice {
	if names := advise.Unrecognized(log); len(names) > 0 {
		return advise.Unknown("vLLM", names, dispensable)
	}
	return advise.Causes(log, causes)
}
