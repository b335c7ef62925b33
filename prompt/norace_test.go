//go:build !race

package prompt

const slow = false
