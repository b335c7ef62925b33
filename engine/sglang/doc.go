// Package sglang drives SGLang servers over their own HTTP: token ids go in by
// POST /generate, text and ids come out as server-sent events.
//
// NOT RUN: no SGLang server was there to try it with. It is built from the
// reference (SGLang's source of August 2026 and its threads) and tested
// against a server of ours that does what the reference says.
//
// The nouns: the Adapter makes command lines and clients. A client is one
// server's address and key, and its manner: what its probe found out. A stream
// is one answer. A chunk is one event of it.
//
// What is probed: /model_info tells that this is SGLang at all; /server_info
// the page size, the capacity, whether priorities are honoured and which way,
// the reasoning parser, and where KV events are; token ids, cached tokens,
// forms and log probabilities are seen in real answers. Whether a stream tells
// all from its start each time, or only what is new, is seen in each answer.
//
// Stop strings are looked for here (package stops), never by the server: it
// sends the beginning of one before it knows that it is one.
//
// To cancel is to abort first and close then, in that order, because builds
// about 0.5.18 lose track of a request whose connection has ended. The id that
// is aborted is ours, 32 hex digits of chance: the server takes ids for
// prefixes. It takes up to half a second on a server that does not answer.
//
// How an answer ends: "stop" and "length" make an End. "abort" that we did not
// ask for is turn.ErrLost, unless it tells the status of a request at fault;
// so are a connection that ends before a finish reason, an answer without a
// token, an error with a 5xx or one that calls itself retryable. An error
// without a code is the request's fault before the first token.
//
// A salt goes out as cache_salt and as extra_key: older builds know only the
// latter, and tell no salt in their events then.
//
// A server with a reasoning parser holds an answer to a form behind the
// thought only if it is told that there is one: require_reasoning is set where
// the prompt does not end with the token of </think>. Where that is no single
// token, the form counts from the first token on.
//
// Turns for the chat API (Job.Chat) go to /v1/chat/completions, under an id of
// ours too, and come back by package openai. A server without a parser of
// calls takes tools all the same, and leaves the calls in the text.
//
// Events of pages of fewer than eight tokens are not read; see leastPage.
//
// Left out: ranks of data parallel servers, of which the events of the first
// are read; streaming sessions, which a cancel corrupts; the flag that makes
// low priorities go first, since it does not turn the cache's; split prefill.
package sglang
