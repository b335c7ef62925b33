//go:build race

package bpe_test

// spare is how many allocations Encode may make under the race detector,
// which makes sync.Pool forget at random.
const spare = 64
