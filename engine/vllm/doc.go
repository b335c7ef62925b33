// Package vllm drives vLLM servers, and whatever speaks like one, over their
// OpenAI-shaped HTTP: token ids go in by POST /v1/completions, text and ids
// come out as server-sent events.
//
// The nouns: the Adapter makes command lines and clients. A client is one
// server's address, key and model name. A stream is one answer. A chunk is one
// event of it, read by hand, because it is the hot path: about half a
// microsecond, and its text and ids are cut from larger pieces of memory. A
// parcel is a request's body: what the prompt holds as text already, as it lies,
// and the rest in memory that is used again. The ids of a long prompt are most
// of it, and cost some 3 ns each to write.
//
// What a server can do is probed, never taken from its version: the model's
// name and context from /v1/models, block size and capacity from /metrics, the
// addresses of KV events from /kv_event_sources, and token ids, cached tokens
// and life itself from a real token. A server that lacks a route works without
// what the route tells. Whether and how answers can be held to a form is seen
// by asking, in each spelling there has been, for a text that no model says by
// itself; log probabilities are asked for once. Fields that a server does not
// know are ignored by it, so that a 200 alone would tell nothing.
//
// How an answer ends. A finish reason and, when the server sends them, usage
// and [DONE] make an End. No token at all, an abort that we did not ask for, an
// error event with a 5xx, or a connection that ends before the finish are
// turn.ErrLost: a draining vLLM answers 200 with nothing in it, and ends what
// it cuts with finish_reason "abort". The deltas before such an error are real.
// 503 and 429 are turn.ErrBusy, other 4xx turn.Refused, except that a key
// which the server does not take is the worker's fault.
//
// Priorities: higher is more important in a Job, lower in vLLM; the sign is
// turned here.
//
// Memory: a stream holds one buffer of 8 KiB. It grows for an event that does
// not fit, up to 16 MiB, and shrinks again. The echo of the prompt's ids, which
// comes with the first chunk, is dropped while it is read. Nothing is read
// ahead of Next but what one read returned and the socket's 64 KiB.
//
// Answers come through engine/exchange, on the goroutine that asks for them;
// documents through net/http.
package vllm
