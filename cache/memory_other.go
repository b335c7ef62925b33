//go:build !linux

package cache

// regions are on the Go heap here.
type regions struct{ mapped *[][]byte }

func (r *regions) region(n int) []uint64 { return make([]uint64, n) }

func unmap(*[][]byte) {}
