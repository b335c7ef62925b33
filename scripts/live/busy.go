package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// cpu are the ticks of all cores since the machine started.
type cpu struct{ busy, all uint64 }

// look reads how busy the machine has been.
func look() (cpu, error) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cpu{}, err
	}
	return ticks(string(b))
}

// ticks reads the first line of /proc/stat: user, nice, system, idle, iowait,
// irq, softirq, steal; what follows is counted in user and nice already.
func ticks(stat string) (c cpu, err error) {
	first, _, _ := strings.Cut(stat, "\n")
	words := strings.Fields(first)
	if len(words) < 9 || words[0] != "cpu" {
		return c, fmt.Errorf("/proc/stat begins with %q", first)
	}
	for i, w := range words[1:9] {
		n, err := strconv.ParseUint(w, 10, 64)
		if err != nil {
			return c, fmt.Errorf("/proc/stat: %w", err)
		}
		if c.all += n; i != 3 && i != 4 {
			c.busy += n
		}
	}
	return c, nil
}

// since is the share of all cores that was in use since then, -1 where no time
// has passed.
func (c cpu) since(then cpu) float64 {
	if c.all <= then.all {
		return -1
	}
	return float64(c.busy-then.busy) / float64(c.all-then.all)
}
