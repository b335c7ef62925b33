package llamacpp

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
)

// savedMost is the server's own bound for saved states, in MiB, and savedLeast
// the one where the machine's memory is not known.
const (
	savedMost  = 8192
	savedLeast = 1024
)

// savedRoom is how many MiB of states a server may save: a quarter of the
// machine's memory, up to the server's own bound.
func savedRoom() int {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return savedLeast
	}
	return roomIn(data)
}

// roomIn reads meminfo.
func roomIn(meminfo []byte) int {
	lines := bufio.NewScanner(bytes.NewReader(meminfo))
	for lines.Scan() {
		rest, ok := bytes.CutPrefix(lines.Bytes(), []byte("MemTotal:"))
		if !ok {
			continue
		}
		kib, err := strconv.Atoi(string(bytes.TrimSpace(bytes.TrimSuffix(rest, []byte("kB")))))
		if err != nil {
			break
		}
		return min(kib/1024/4, savedMost)
	}
	return savedLeast
}
