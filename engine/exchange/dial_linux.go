package exchange

import (
	"time"

	"golang.org/x/sys/unix"
)

// giveUpAfter sets for how long data that was sent may go unacknowledged.
func giveUpAfter(fd int, wait time.Duration) {
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(wait.Milliseconds())) // at worst it is waited for longer
}
