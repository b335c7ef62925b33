package memory

import (
	"bufio"
	"bytes"
	"os"
	"strconv"
)

// Host is the machine's memory in bytes, and how much of it programs can still
// have; 0 is not known.
func Host() (total, available uint64) {
	data, _ := os.ReadFile("/proc/meminfo") // one that is not there tells nothing
	return read(data)
}

// read reads meminfo.
func read(meminfo []byte) (total, available uint64) {
	lines := bufio.NewScanner(bytes.NewReader(meminfo))
	for lines.Scan() {
		name, rest, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		kib, _ := strconv.ParseUint(string(bytes.TrimSpace(bytes.TrimSuffix(rest, []byte("kB")))), 10, 64)
		switch string(name) {
		case "MemTotal":
			total = kib << 10
		case "MemAvailable":
			available = kib << 10
		}
	}
	return total, available
}
