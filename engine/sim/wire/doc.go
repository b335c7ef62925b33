// Package wire tells the world about the simulated engine's KV cache as vLLM
// does: a ZeroMQ PUB socket with one message for each step that changed
// something, and a ROUTER socket where lost messages can be asked for again.
//
// A message has three frames: topic, sequence number (8 bytes, big endian,
// from 0) and a msgpack array [time, [events], 0]. Events are maps tagged with
// their type; BlockStored carries its keys in vLLM's order, nil ones included.
// Hashes are 64-bit numbers, or 32 raw bytes when asked for.
//
// A replay request is [empty, first sequence number]. The answers are
// [empty, topic, seq, payload], then [empty, empty, -1, empty]. A request
// without its empty frame gets no answer.
//
// What may be lost: what a subscriber does not read in time is dropped and
// counted by package zmtp. The replay buffer keeps the newest batches, at most
// `buffer_steps` of them and 64 MiB of payload; older ones are gone for good,
// and a replay then starts above the number asked for.
//
// The event socket binds when its endpoint holds "*" or "::", on loopback here;
// any other endpoint is one where somebody else listens: it connects there, and
// again when that ends, and loses nothing in between. The replay socket binds
// always.
//
// Publish belongs to one goroutine; Sources and Close may come from any.
package wire
