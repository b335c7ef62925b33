// Package fake holds servers that stand in for engines in tests. It is for
// tests only.
//
// There are two kinds. A replay answers with recorded bytes, as they came, in
// writes of any size, and hangs up: what an engine once said. A face is a
// server with the HTTP side of an engine that cannot run here, built on the
// core of the simulated one (engine/sim/core), so that it computes, caches,
// queues, cancels and tells KV events as an engine does: SGLang and TRTLLM.
// Faces say what the reference says of those engines; they were never compared
// with the engines themselves.
//
// VLLM and Llama read recordings; each becomes an Exchange with raw bytes.
package fake
