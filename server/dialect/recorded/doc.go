// Package recorded holds what tests need to replay the requests that real
// clients were recorded to send, and to change them at random.
//
// The recordings are data beside the repository: Dir says where, and what is
// not there is skipped. Load reads all of them; their long texts are cut, and
// Full makes texts of the right length again. A Mutator puts other values in
// the place of some, so that bodies stay JSON for the most part and reach what
// lies behind the parser; it also cuts and overwrites bytes. It is driven by a
// seed, so a failure can be repeated.
package recorded
