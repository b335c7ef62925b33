// Package kvevent reads the KV cache events that engines publish: msgpack
// batches as vLLM and SGLang send them, in the map form of today and the
// positional form of before, with hashes as integers or as bytes.
//
// The nouns: a batch is one message's payload, [time, [event, …], rank] or the
// same as a map. An event tells that blocks were stored, removed, or that all
// were dropped; it becomes a turn.KVEvent. A group is one of several caches of
// a model that mixes kinds of attention.
//
// What is kept out, and counted in Stats:
//
//   - Unknown: events of a type that this version does not know.
//   - Malformed: events whose fields do not fit each other: no hashes, token
//     ids that are not hashes × block size, pairs instead of ids. Of them those
//     are Blind that may have told that blocks are gone: whoever believes in
//     blocks has to forget them all then.
//   - Foreign: stores that say nothing about a text prefix of the base model:
//     of a LoRA adapter, of a group with sliding windows or states, and blocks
//     whose extra keys are more than a salt (an image, say) with all that
//     follows them in the event. Their children meet no parent in the index.
//
// Unknown fields and trailing elements are ignored: engines add some in every
// other release. One bad event never costs the others of its batch; only
// bytes that are no msgpack, or a batch over the limits, end the reading.
//
// The salt stands with the first block of a chain only; whoever keeps the
// blocks hands it down from parent to child. Media become tiers: GPU is "gpu",
// CPU is "host", disk and storage are "disk", what is elsewhere is "remote".
//
// Limits: 65,536 events, 1 Mi hashes and 8 Mi token ids a batch, nesting as
// msgp bounds it. Events own their memory; the payload may be reused.
//
// Cost: about 15 ns for a token id on a slow core; three allocations for a
// store, two for a removal, whatever their size.
package kvevent
