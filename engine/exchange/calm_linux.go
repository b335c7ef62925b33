package exchange

import (
	"io"
	"net"
	"os"
	"syscall"
)

// calmAfter is how many reads in a row find bytes at once before a connection
// is calm, and calmBytes how much may then come before it wakes anybody.
const (
	calmAfter = 2
	calmBytes = 16 << 10
)

// calm reads a socket so that what comes while nobody reads wakes nobody. Go's
// poller is woken by every packet of every connection, also when no goroutine
// waits for it: of tokens that gather in the socket for a while the wakes are
// a fifth of the cost. So once reads find bytes without a wait, the system is
// told to report no fewer than calmBytes; before a read waits, every byte.
type calm struct {
	net.Conn
	raw  syscall.RawConn
	look func(fd uintptr) bool // is once, for all reads

	b     []byte // of the read that runs
	n     int
	err   error
	found int // reads in a row that did not wait
	calm  bool
}

// calmly returns a reader of the connection; only one goroutine may read.
func calmly(n net.Conn, raw syscall.RawConn) io.Reader {
	if _, ok := n.(*net.TCPConn); !ok || raw == nil {
		return n
	}
	c := &calm{Conn: n, raw: raw}
	c.look = c.once
	return c
}

func (c *calm) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	c.b, c.n, c.err = b, 0, nil
	err := c.raw.Read(c.look)
	c.b = nil
	if op, ok := err.(*net.OpError); ok {
		op.Op = "read"
	}
	switch {
	case err != nil:
		return 0, err
	case c.err != nil:
		return 0, &net.OpError{Op: "read", Net: "tcp", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: os.NewSyscallError("read", c.err)}
	case c.n == 0:
		return 0, io.EOF
	}
	return c.n, nil
}

// once reads without a wait; false is that there is nothing yet.
func (c *calm) once(fd uintptr) bool {
	for {
		n, err := syscall.Read(int(fd), c.b)
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			c.found = -1 // the next one that finds bytes has waited for them
			if c.calm {
				c.report(fd, 1)
				c.calm = false
			}
			return false
		case err != nil:
			c.err = err
			return true
		}
		c.n = n
		if c.found++; c.found == calmAfter && n > 0 {
			c.calm = c.report(fd, calmBytes)
		}
		return true
	}
}

// report says how many bytes are worth a wake. What is there already counts at
// once.
func (c *calm) report(fd uintptr, least int) bool {
	return syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVLOWAT, least) == nil
}
