package server

import "golang.org/x/sys/unix"

// hungUp returns those of the clients that have closed their side, also while
// bytes of them wait unread. It is one call to the system.
func hungUp(list []*watched) (gone []*watched) {
	polls := make([]unix.PollFd, len(list))
	for i, w := range list {
		polls[i] = unix.PollFd{Fd: int32(w.fd), Events: unix.POLLRDHUP}
	}
	if n, err := unix.Poll(polls, 0); err != nil || n == 0 {
		return nil
	}
	for i := range polls {
		if polls[i].Revents != 0 {
			gone = append(gone, list[i])
		}
	}
	return gone
}
