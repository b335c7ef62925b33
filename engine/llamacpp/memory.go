package llamacpp

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/agentinfer/dyn/engine/memory"
)

// Bounds of what a server may save, in MiB: its own, the least with which
// saving is of any use, and what is taken where the machine's memory is not
// known.
const (
	savedMost    = 8192
	savedFloor   = 256
	savedUnknown = 1024
)

// savedRoom is how many MiB of states each of some servers may save: together
// a quarter of what the model's weights leave of the machine's memory. Servers
// of one machine map the same file, so it counts once. What is not known of
// either is 0.
func savedRoom(memory, weights, workers int) int {
	if memory == 0 {
		return savedUnknown
	}
	return min(max((memory-weights)/4/max(workers, 1), savedFloor), savedMost)
}

// threads is how many of a machine's cores each of some servers computes with.
// Threads wait for each other by spinning, so all together must be fewer than
// there are cores.
func threads(cores, workers int) int {
	return max(min(cores/2, (cores-1)/max(workers, 1)), 1)
}

// machineMemory is that of this machine in MiB; 0 is not known.
func machineMemory() int {
	total, _ := memory.Host()
	return int(total >> 20)
}

// weightsOf is how long a model's file is in MiB, with all its parts.
func weightsOf(file string) int {
	parts := []string{file}
	if end := partNumber.FindString(strings.ToLower(file)); end != "" {
		of := end[strings.Index(end, "-of-"):]
		parts, _ = filepath.Glob(globQuote(file[:len(file)-len(end)]) + "-*" + of) // the pattern is a good one
	}
	var bytes int64
	for _, p := range parts {
		if at, err := os.Stat(p); err == nil {
			bytes += at.Size()
		}
	}
	return int(bytes >> 20)
}

// partNumber is how the name of a part of a model ends.
var partNumber = regexp.MustCompile(`-\d+-of-\d+\.gguf$`)

// globQuote has a pattern match what it is and nothing else.
func globQuote(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}
