// Package reuse judges, by the rows of the ledger, whether turns computed only
// what was new.
//
// The measure is the engine's own: prompt tokens less cached tokens is what it
// computed. New is what the prompt has beyond the turn before of the same agent
// and that turn's answer. Slack of two blocks is granted, since caches hold
// whole blocks and the last token is always computed.
//
// A client that drops the last answer (some do when they compact) sends one
// message more instead of two; then the answer is no part of what was there.
//
// Side requests (titles, classifiers, probes) have prompts of their own: they
// are neither judged nor taken as the turn before. A turn that never reached an
// engine, or whose engine broke off before it told what was cached, has no
// figures and is not judged. An agent whose prompt becomes shorter, or who
// computes more than what is new right after a compaction, began its history
// anew; such a turn is counted as a restart, and is the measure for the next
// one. A compaction is judged where it goes on from the agent's turns, not
// where the client has a prompt of its own for it.
package reuse
