package port

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
)

const (
	floor = 10000 // services that people know by number are mostly below
	tries = 1000
)

// Free returns a port of 127.0.0.1 that nobody listens on now, chosen at
// random, so that two who look at the same moment hardly get the same one. It
// belongs to nobody: whoever binds it has to be ready to choose again.
func Free() (int, error) {
	low := lowest()
	for range tries {
		p := floor + rand.IntN(low-floor)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p))
		if err == nil {
			return p, l.Close()
		}
	}
	return 0, fmt.Errorf("no free port on 127.0.0.1: %d between %d and %d were tried", tries, floor, low-1)
}

// lowest is the first of the kernel's own ports: what Linux says, or else
// where RFC 6335 lets them begin.
func lowest() int {
	var low int
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err == nil {
		_, err = fmt.Sscan(string(text), &low)
	}
	if err != nil || low < floor+tries {
		return 49152
	}
	return low
}
