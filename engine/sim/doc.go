// Package sim is the simulated engine, `dyn worker sim`: a process that a
// router cannot tell from a vLLM server. It is what runs where there is no
// GPU, and the double that other tests run against.
//
// What it has of vLLM 0.32: the routes /health, /ping, /version, /load,
// /metrics, /v1/models, /v1/completions (token ids or text in; stream or
// document out), /v1/chat/completions (the model folder's template; tools, and
// with --vision images, which are known by their content), /tokenize (of
// both), /detokenize, /kv_event_sources and, with VLLM_SERVER_DEV_MODE=1,
// /reset_prefix_cache; KV events with replay; admission limits; priorities; the
// behaviour of a server that is told to stop. Errors have vLLM's words and
// codes. What it has not (logprobs, n > 1, batches, structured output) it
// refuses with a 400 or a 404.
//
// The rooms inside: kv is the block pool, sched the scheduler, pace the time
// that a step takes, brain what is said, voice how the model's family writes
// it, core the engine's loop, wire the KV events, model the folder with the
// tokenizer of its own. This package holds the flags, the HTTP side and the
// life of the process.
//
// The way of a request: completions.go reads and checks the body, asks the
// brain what to say, and submits to the engine; then it writes what the
// answer brings, one chunk for all that came since the last write. A client
// that does not read holds up its own handler and nothing else. A client that
// goes away ends the answer at the next step.
//
// Told to stop (SIGTERM, or the end of Run's context): with
// --shutdown-timeout 0 all answers end with finish_reason "abort". With N
// seconds they are let to their end while /health stays 200 and new requests
// get an empty 200; what is not done by then gets no further byte, and the
// process waits for its clients to leave, as the real one does. A second
// signal ends it at once.
//
// Limits: a body of 32 MiB nested 512 deep, headers of 64 KiB, one minute to
// read a request; the brain's and the replay buffer's are told in their own
// packages. Kept connections are closed after five idle seconds.
package sim
