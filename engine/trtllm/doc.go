// Package trtllm drives TensorRT-LLM servers (trtllm-serve) over their HTTP:
// token ids go in by POST /v1/completions, token ids come out as server-sent
// events, and what the cache holds is polled.
//
// NOT RUN: no TensorRT-LLM server was there to try it with, which takes its
// container and a GPU. It is built from the reference (TensorRT-LLM's source
// about 1.4.0rc4 and its threads) and tested against a server of ours that
// does what the reference says.
//
// The nouns: the Adapter makes command lines, files of settings and clients. A
// client is one server, its manner what the probe found out. A stream is one
// answer; a speller makes its text. A mirror is what the server holds.
//
// Text. The server tells either text or ids, never both. Ids are what a router
// needs, so it is asked for those, and the text is made here with the
// tokenizer of the model folder (prompt/bpe), begun with the prompt's last ids
// so that spaces stay. An end token is no part of the text: one that the server
// or the job calls so, or a special one where the job lists none. Without a folder
// that can be read the server makes the text, no ids come back, and special
// tokens are not in it. Stop strings are looked for here either way: the
// server compares tokens, and a string has many spellings in those.
//
// A field that a server does not know is a 400 there. What only newer ones
// know is tried by the probe and left out then: priority, and the spelling of
// a form. A turn's id is in no field. Log probabilities are not asked for: a
// cancel in an answer with them ended the process of some builds.
//
// Salts. The completions API has none, so a server that finds prefixes again
// shares those of all users: it gets no turn with a salt, and the words of the
// refusal say why. Whether it does is probed, by asking the same twice.
//
// Turns for the chat API (Job.Chat) go to /v1/chat/completions and come back by
// package openai. That one has salts. Stop strings are the server's there, and
// are found only where they are tokenised as they are by themselves.
//
// How an answer ends: "stop" and "length" make an End, once the usage behind
// them came. "cancelled", "timeout" and what else there is are turn.ErrLost;
// so are an answer without a token and a connection that ends before its
// time. A cancel closes the connection; the server looks about once a second.
//
// Events: the server keeps them in a ring, and reading takes them out, so one
// client alone may read. A number that is missing, or a smaller one than
// before, makes the mirror forget all. Where a model has several windows of
// attention only the largest is followed. A block that is not full, that holds
// an image, or belongs to another group of layers is left out.
//
// There is no key: whoever reaches the port uses the server, so it is launched
// on loopback only.
package trtllm
