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
// 503 and 429 are turn.ErrBusy, other 4xx turn.Refused, with numbers when the
// prompt is too long; but a key that the server does not take, and a model that
// it does not have, are the worker's fault.
//
// Events: an engine that we launch connects to Place.Events. What it held and
// told to somebody else is told again for the turns after Relearn. See
// docs/vllm.md for what real servers did, and which test holds us to it.
//
// Priorities: higher is more important in a Job, lower in vLLM; the sign is
// turned here.
//
// Memory: what a stream holds is told in package remote, through which all
// requests go. The echo of the prompt's ids, which comes with the first chunk,
// is dropped while it is read. Answers come on the goroutine that asks for them.
package vllm
