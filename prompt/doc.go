// Package prompt makes token ids of a conversation, incrementally.
//
// A Model is what a model folder says: tokenizer (package bpe), chat template
// (package template), stop ids, context.
//
// The way of a turn: Steady puts what clients vary at will into one form;
// Rolling hashes each message with all before it, so that histories can be
// told apart and raw turns be found; Build renders the turn with the model's
// template, keeps the ids of the text that did not change since the agent's
// turn before, puts the model's own ids in place of the answers that it gave,
// and tokenises the rest.
//
// Raw turns: rendering an answer again loses what the model really wrote
// (white space, number spelling, dropped reasoning), and with it the engine's
// cache. A Raw store keeps the ids of each answer, and those of the
// generation prompt before it, under the rolling hash of the history that
// ends with it, so that the next prompt begins with the previous prompt and
// its answer, exactly. An answer counts as the model's when the client's copy
// says the same: text, calls, arguments as JSON values, and no reasoning but
// the model's. Reasoning that the client left out is handed to the template
// with the message: where the template prints it the answer stays as it was,
// where the template drops it the answer is rendered without. An answer that
// the client changed is rendered as it now is, and counted as edited. A Raw is
// bounded in memory; behind it lies a Shelf, so that a restart changes no
// prompt. The answer that comes first under a history stays: the same said
// again in other ids changes no prompt. A turn that is asked before the answer
// before it has landed, as right after an interrupt, is rendered without its
// raw turn, and so are the turns after it.
//
// Pieces: the text is cut where the tokenizer cannot join across, which is
// where added tokens begin or end, and around an answer's own ids. So the ids
// are those of the whole text, but for the answers, which are as the engine
// saw them; and a change in the text costs the pieces behind it.
//
// A State belongs to one agent and one goroutine at a time. It holds the text
// of the last prompt and what its rendering can reuse (in the Page), its ids,
// and some 100 bytes a message; at rest, the ids and those only. Bytes counts
// it. Ids and hashes that were handed out are never written: a prompt that goes
// on from the last one, or leaves it, shares what they have in common. Of a
// State that is awake the ids that stayed hold their text too, as engines get it.
//
// A Model and a Raw are safe for concurrent use. Arguments nested deeper than
// 512 levels are compared as text. docs/prefix.md tells for which templates a
// prompt does not go on from the one before.
//
// Cost: BenchmarkAppend500. Old messages are hashed once (some 20 GB/s) and
// their text is compared with the text before; nothing of them is tokenised
// or put through the template's expressions, and no rolling hash is made anew.
package prompt
