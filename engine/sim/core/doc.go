// Package core is the simulated engine without its HTTP side: it takes asks
// (token ids in) and gives answers (text and ids out), one step at a time.
//
// Nouns:
//
//   - ask: a prompt with its limits, its stop rules and the script of what
//     will be said.
//   - answer: the stream that an ask gets. Its reader takes pieces: all text
//     and ids that came since the last one.
//   - step: plan, tell the KV events, let the modelled time pass, commit.
//
// One goroutine, Run, owns the scheduler, the block pool and the state of all
// answers, so none of that needs a lock. Others leave commands in an inbox
// that is emptied between two steps: an abort takes effect at the next step,
// as in a real engine. Finished pieces go through a small lock of each answer;
// no lock is held while anybody does I/O, and a reader that sleeps holds back
// nobody. What waits for it is merged into one piece and bounded by the
// answer's own length: at most the context, a few bytes a token.
//
// Text is made of ids as vLLM makes it: bytes that form no whole character
// are held back, and dropped at the end of the answer; where stop strings are
// given, as many characters as the longest of them could still need are held
// too, and let go at the end. Special tokens are left out unless asked for.
//
// Asks are bounded by Config.MaxOpen where it is set; without it every ask
// that fits the context is taken and waits. Nothing is lost: an answer ends
// with an End, or with an error that says that the engine died or that a
// scripted fault cut it.
package core
