// Package llamacpp drives llama-server of llama.cpp over its own HTTP: token
// ids go in by POST /completion, text and ids come out as server-sent events.
//
// The nouns: the Adapter makes command lines and clients. A client is one
// server's address and what a probe saw of it. A stream is one answer, an event
// one step of it. A slot is the server's place for a running turn; what its last
// turn left there can be gone on from. A saved state is what was in a slot
// before, in the machine's memory. The mirror is what the server holds.
//
// What a server can do is probed, never taken from its build: slots and their
// context from /props, ids, cached tokens and life itself from a real token,
// forms and log probabilities from a few more. Rules that a server does not
// tell, such as when a slot's content is saved, are read from the command line
// that launched it; one that others launched is taken to have the defaults.
//
// How an answer ends: only an event with stop true is an end. The server knows
// no stop ids but its model's own, so that ours are watched for here, and such
// an end is made here: the connection is closed. A stream leaves out the ids of
// a character that took several tokens, all but the last; that delta has text
// and no ids, and those who need some make them from the text. Ids come with the
// text that they are, so that this is never text whose ids were told before.
// Special tokens are text only where the request names them. Settings of
// sampling that a turn leaves unsaid are the server's: a launch sets them as our
// APIs mean them, an attached server has its operator's.
//
// Errors: 503 while the model loads is a worker that is not ready and had
// nothing; a 500 that speaks of JSON is the request's fault; a prompt beyond the
// context is turn.Refused with both numbers. The end of a connection before the
// end of an answer is turn.ErrLost.
//
// Cancel: the server notices that we hung up when it next writes, that is with
// a token or, because progress is asked for, after a batch of the prompt; while
// a turn waits for a slot, by a timer of one second that any question to its
// engine starts anew. So /metrics is read every three seconds at most, and
// /slots never.
//
// Several salts: llama-server shares prefixes with whoever comes. While all
// turns have one salt it may; with a second one, a turn uses only what the last
// turn of its own salt left in a slot, and where states are saved, only if it
// goes on from all of that or repeats it: the server might load another's state.
// So for several tenants a slot for each conversation is worth most, and
// "cache-ram" 0 loses nothing. Which salts a launched server has had is noted
// in its folder, for the daemon that adopts it, and with several of them a sum
// of what each idle slot holds: conversations that go on find their slot by it,
// but for the slot in which the server is probed, which was used longest ago.
//
// KV events are made from the mirror, see Client.Mirror: level "gpu" is the
// slots, level "host" what is saved. What a running turn has is in neither: a
// slot is of use to others when its turn has ended.
package llamacpp
