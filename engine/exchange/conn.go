package exchange

import (
	"bufio"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"os"
	"syscall"
	"time"
)

// conn is a connection with what was read from it and not used yet.
type conn struct {
	net.Conn
	in    *bufio.Reader
	left  int64  // bytes that may still be read
	out   []byte // room for a request's head
	since time.Time

	room, parts net.Buffers // what is being written, and what of it is left
}

const (
	readBuffer = 4 << 10   // enough for the head of an answer and for a few events
	headMost   = 256 << 10 // bytes of an answer's head, and of those before it
	unlimited  = math.MaxInt64
)

func newConn(n net.Conn) *conn {
	k := &conn{Conn: n, left: unlimited}
	k.in = bufio.NewReaderSize(k, readBuffer)
	return k
}

var errHead = errors.New("the head of the answer is over 256 KiB")

// limit sets how much may be read from now on.
func (k *conn) limit(n int64) { k.left = n }

// send writes a head and the pieces of a body, in one call to the system where
// the connection can. The head's memory is the connection's from then on.
func (k *conn) send(head []byte, body [][]byte) error {
	k.out = head
	k.room = append(append(k.room[:0], head), body...) // WriteTo eats what it is given
	k.parts = k.room
	_, err := k.parts.WriteTo(k.Conn)
	clear(k.room)
	k.parts = nil
	return err
}

// Read reads what comes, up to the limit.
func (k *conn) Read(b []byte) (int, error) {
	if k.left <= 0 {
		return 0, errHead
	}
	n, err := k.Conn.Read(b[:min(int64(len(b)), k.left)])
	k.left -= int64(n)
	return n, err
}

// quiet reports whether nothing has come since the last answer, neither bytes
// nor the end: what a server says without being asked would be taken for the
// answer to the next request.
func (k *conn) quiet() bool {
	if k.in.Buffered() > 0 {
		return false
	}
	below := k.Conn
	if s, ok := below.(*tls.Conn); ok {
		// It may hold bytes that it has taken from the socket. With its time
		// over it gives these and reads no others.
		if s.SetReadDeadline(time.Unix(1, 0)) != nil {
			return false
		}
		if _, err := k.in.Peek(1); !errors.Is(err, os.ErrDeadlineExceeded) {
			return false
		}
		if s.SetReadDeadline(time.Time{}) != nil {
			return false
		}
		below = s.NetConn()
	}
	sc, ok := below.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	silent := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		silent = err == syscall.EAGAIN
		return true
	})
	return err == nil && silent
}
