//go:build !race

package bpe_test

// spare is how many allocations Encode may make beyond its result.
const spare = 0
