package server

import (
	"bytes"
	"os"
	"strconv"
)

// rss is the resident memory of this process in bytes; -1 when it is not
// known.
func rss() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return -1
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return -1
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return -1
	}
	return pages * int64(os.Getpagesize())
}
