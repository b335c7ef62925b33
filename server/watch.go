package server

import (
	"net"
	"syscall"
	"time"
)

// watchAfter is how long a turn takes before its client is watched: most of
// what ends sooner ends before anybody could hang up, and a watch costs as
// much as a twentieth of a short turn.
const watchAfter = 20 * time.Millisecond

// watch calls gone once when the client of c hangs up, by FIN or RST; a
// half-closed connection counts as gone. fasthttp itself tells nothing while
// a handler waits, so a goroutine looks at the socket without taking bytes
// from it (MSG_PEEK). It begins after watchAfter.
//
// The caller must call stop, once, before fasthttp reads from the connection
// again, that is before the handler or its body writer returns. stop waits
// for the watcher to end. Bytes that wait unread, such as a next request that
// was sent early, do not hide a FIN behind them (on Linux).
func watch(c net.Conn, gone func()) (stop func()) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return func() {}
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return func() {}
	}
	// ReadTimeout left a deadline that would end the watch.
	c.SetReadDeadline(time.Time{})
	done := make(chan struct{})
	begin := time.AfterFunc(watchAfter, func() {
		defer close(done)
		if hangs(raw) {
			gone()
		}
	})
	return func() {
		if begin.Stop() {
			return
		}
		c.SetReadDeadline(time.Unix(1, 0))
		<-done
		c.SetReadDeadline(time.Time{})
	}
}

// hangs waits until the other end hangs up, or until the connection's read
// deadline, and reports which.
func hangs(raw syscall.RawConn) (closed bool) {
	raw.Read(func(fd uintptr) bool {
		var b [1]byte
		n, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		if err == syscall.EAGAIN || err == syscall.EINTR {
			return false
		}
		closed = n == 0 || err != nil || hungUp(int(fd))
		return closed
	})
	return closed
}
