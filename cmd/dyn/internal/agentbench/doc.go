// Package agentbench lets agents work against a daemon, once for each of two or
// more routing strategies, and says what the strategy changed.
//
// The nouns: a Load is what the agents of one round do. A session is one agent:
// a prefix that all of its round share (who it is, four tools), a task, and turns
// of a loop of thought, action and observation with pauses between. A Round is a
// load under one strategy, its arm. A Turn is what one turn cost. A Tally sums
// turns; a Contrast is the difference of two arms with its interval.
//
// The experiment is the one of a published reproduction: about 6,000 tokens that
// all share, several steps, 1, 20 and 40 sessions, round robin against a router
// that knows the cache, several repeats.
//
// What makes the arms comparable. Both get the same sessions: lengths, pauses and
// starts come from the seed, the round and the session alone. Rounds alternate
// (A B, B A, …), so that what drifts, drifts for both. The first words of the
// prefix differ between any two rounds, so that no arm finds what another left,
// and nothing has to be cleared; what is left of earlier rounds is in the way of
// both alike. A session waits for its answer before it pauses: a slow arm is
// asked less often, as agents do.
//
// The interval is a bootstrap over pairs of sessions (the same session under both
// strategies), widened for their small number. It is honest about sessions, not
// about what all sessions of a round have in common: where the first turns went,
// and what another program did to the machine meanwhile. So there is a verdict
// only when every round has the difference too, each in another order of the
// arms; with fewer than MinPairs pairs, or when the interval crosses zero, there
// is none either. The same strategy twice shows what is left of chance.
//
// The package sends nothing itself: who runs a round gives it a way to ask.
package agentbench
