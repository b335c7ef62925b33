//go:build !linux

package server

import "syscall"

// hungUp returns those of the clients that have closed their side, unless
// bytes of them wait unread.
func hungUp(list []*watched) (gone []*watched) {
	for _, w := range list {
		var b [1]byte
		n, _, err := syscall.Recvfrom(w.fd, b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if n == 0 && err == nil || err != nil && err != syscall.EAGAIN && err != syscall.EINTR {
			gone = append(gone, w)
		}
	}
	return gone
}
