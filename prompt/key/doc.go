// Package key hashes messages: a Key is the hash of all that rendering a
// message, or prompt.Rolling, may read of it, so that messages with equal keys
// are the same message, to the letter.
//
// A conversation comes whole with every turn. Who knows that a part of it is
// what another turn had, as a dialect.Recall does, hands out the same messages
// again, and with Note their keys: then only what is new is hashed. What is
// noted stands for the very blocks that were hashed; a message that was given
// others, as by prompt.Steady, is hashed again.
//
// Cost: BenchmarkOf, some 28 GB/s of text that lies in the processor's
// cache, 3 ns a message whose key is noted.
package key
