// Program index makes docs/index.md: the index's bars, and the index beside
// Dynamo's on the same keys in the same run.
//
// With -run it does with cache.Index what the peer's program (kvindex-rs) does
// with the indexes of the crate dynamo-kv-router: it stores conversations of
// 2,048 blocks, asks for them, and prints lines of the same form. Each case is
// a process of its own, so that memory is what the system counts. Without, it
// reads the lines of both and the output of go test -bench, and prints the
// page: medians of the rounds, a figure that misses its bar and a row that is
// lost in bold.
package main
