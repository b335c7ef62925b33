// Package policy decides what a full KV cache gives up: the classic rules, what
// leases and the value of a run would say, and what nobody can know in advance.
//
// The nouns: a Run is blocks in a row of which a turn has all or none, and that
// begin where another Run ends. A leaf is a Run behind which nothing is held. A
// Policy names the Run that is to go. The cache that asks takes tokens from the
// named run's end, or from what lies behind it first: a block behind a hole is
// worth nothing.
//
// A Policy is pure: it sees runs and a time that its caller gives, and answers.
// Most are a score of leaves (see scored), so a policy is a few lines in a file
// of its own and a line in All; SIEVE and S3-FIFO keep queues.
//
// These are policies of an evictor. No engine that runs as released lets anybody
// be one, so what they reach is a ceiling; what a router gets from an engine
// that evicts by LRU is another matter (see package replay and docs/cache.md).
//
// Libraries of caches (otter, golang-lru, ristretto, golang-fifo) are not used:
// they evict whole entries by their own clock and number, and neither cut a run
// at its end nor know what lies behind it.
//
// A Policy belongs to one cache and one goroutine. Cost: a victim by score
// looks at every leaf once, tens of nanoseconds each; queues cost a constant.
package policy
