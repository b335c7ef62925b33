// Package worth says what it is worth to hold a run of KV blocks for a while:
// the time that is expected to be saved, per token that it takes.
//
// The nouns: a Run is blocks that come back together, of one Class; a Cost is
// what computing a token again takes, less what it takes to load it from a
// lower tier. Of multiplies both with the probability that somebody comes back.
//
// Of a prefix the tail has to give way first, since nothing can be used without
// what lies before it: callers rank runs that nothing is held behind.
//
// All of it is pure. Attention makes deep tokens dearer than the first ones
// (two to three times at 100,000 tokens of a dense model), which is why a Run
// says how deep it lies.
package worth
