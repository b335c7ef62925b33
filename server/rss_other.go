//go:build !linux

package server

// rss is not known here.
func rss() int64 { return -1 }
