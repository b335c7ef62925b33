package main

import (
	"github.com/agentinfer/dyn/engine"
	"github.com/agentinfer/dyn/engine/llamacpp"
	"github.com/agentinfer/dyn/engine/sglang"
	"github.com/agentinfer/dyn/engine/trtllm"
	"github.com/agentinfer/dyn/engine/vllm"
)

// adapters are the kinds of engines that this program can drive. A new one is
// a line here. An attached engine is probed in this order, so those that know
// their own kind from others come before the one that takes any.
func adapters() []engine.Adapter {
	return []engine.Adapter{llamacpp.Adapter{}, sglang.Adapter{}, trtllm.Adapter{}, vllm.Adapter{}}
}

// adapterNames are the words by which recipes ask for them.
func adapterNames() []string {
	var names []string
	for _, a := range adapters() {
		names = append(names, a.Name())
	}
	return names
}
