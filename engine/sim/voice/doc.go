// Package voice writes what a model's family writes for an answer: reasoning,
// text and calls, with the family's own markers around them.
//
// The text is not made by rules about families. The folder's chat template
// renders a conversation that holds the answer, and the answer is cut out
// again: what a template prints for an answer is what the model was trained to
// write. So white space, the way numbers are spelt and the order of text and
// calls are the family's.
//
// What a template leaves out is put in by the family's spec (package parsers):
// reasoning, which many templates print for no answer, or only for the last
// one, and the end token, where the next message's head stands for it.
//
// Reasoning is written as the prompt wants it: where the prompt has opened it,
// the answer goes on in it and closes it; where the prompt has closed it, or
// the family has none, the answer has none.
//
// Text beside calls is left out where the template does: some families do not
// write it.
//
// A Voice is safe for concurrent use. Writing renders a conversation of three
// messages, some 0.1 ms.
package voice
