// Command engines runs dyn with engines that others wrote: two workers each of
// llama-server and vLLM, a real model on the CPU, the real frontend before
// them. It checks what clients and dyn's own screens then say against what the
// engines say of themselves, and writes the table in docs/engines.md.
//
//	engines [-only llamacpp,vllm,first] [-scenes hits,cancel] [-doc docs/engines.md]
//
// Engines and the model come by `dyn engine install` and `dyn up tiny`, into a
// folder that is kept from run to run; nothing else of the machine is used or
// changed. vLLM gets the same weights, which tools/gguf_to_safetensors.py of
// the fixtures writes for it. Without a network there is nothing to run, and
// that is a failure.
//
// The nouns: a kind is an engine with all that the scenes must know of it; a
// lab is a daemon with its own folders and two workers of a kind; a scene is
// something that is done in a lab, and adds rows; a row is one line of the
// table: what was looked at, what was seen, whether that is right. A scene that
// cannot run adds a row that says why. What fails does not stop the others; the
// program ends with 1.
//
// An engine is asked directly by what its run file says, which is its user's.
// llama-server is asked nothing while it is timed: each question delays when it
// notices that a client is gone. Whether it computes is told by its CPU time.
// vLLM tells of a step when it is over, and its processes spin for a second
// after the last; so it is asked for one token, which takes what it still does.
package main
