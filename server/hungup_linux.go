package server

import "golang.org/x/sys/unix"

// hungUp says whether a socket's peer has closed its side, also while bytes of
// it wait unread.
func hungUp(fd int) bool {
	p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
	n, err := unix.Poll(p, 0)
	return err == nil && n > 0
}
