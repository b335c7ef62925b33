package vllm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agentinfer/dyn/engine"
)

// cpuMark begins the names of settings that only a server on a CPU has.
const cpuMark = "VLLM_CPU_"

// cpuBlock is what block sizes are a multiple of there.
const cpuBlock = 32

// cpuEnvironment is what a server on a CPU wants. Without the first line its
// first request for log probabilities compiles for 20 s, and kills it where
// there is no C++ compiler; nothing is gained by that, since it computes
// eagerly anyway. The cache takes 1 GiB unless somebody says otherwise: by
// itself the server takes a share of the memory that suits one of a machine.
var cpuEnvironment = []string{
	"TORCH_COMPILE_DISABLE=1",
	"VLLM_CPU_KVCACHE_SPACE=1",
	"VLLM_CPU_KVCACHE_SPACE={env.VLLM_CPU_KVCACHE_SPACE}",
}

// onCPU reports whether the recipe or the program says that the server computes
// on a CPU. A server cannot be asked before it runs.
func onCPU(s engine.Spec) bool {
	says := func(entry string) bool { return strings.HasPrefix(entry, cpuMark) }
	return slices.ContainsFunc(s.Env, says) || slices.ContainsFunc(slices.Collect(maps.Keys(s.Recipe.Env)), says)
}

// checkCPU refuses what a server on a CPU dies of after a minute or two.
func checkCPU(s engine.Spec, flags map[string]string) error {
	size, err := strconv.Atoi(flags["block-size"])
	if !onCPU(s) || err != nil || size%cpuBlock == 0 {
		return nil
	}
	return fmt.Errorf("block-size %d: on a CPU vLLM takes multiples of %d only; say %d", size, cpuBlock,
		(size+cpuBlock-1)/cpuBlock*cpuBlock)
}
