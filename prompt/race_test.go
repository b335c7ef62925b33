//go:build race

package prompt

// slow is set where a test of one goroutine takes ten times as long and finds
// no more.
const slow = true
