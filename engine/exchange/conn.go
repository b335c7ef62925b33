package exchange

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// conn is a connection with what was read from it and not used yet.
type conn struct {
	net.Conn
	in     *bufio.Reader
	socket io.Reader       // what in reads
	raw    syscall.RawConn // its socket; nil where there is none to be looked at
	out    []byte          // room for a request's head
	since  time.Time

	room, parts net.Buffers // what is being written, and what of it is left
}

const readBuffer = 4 << 10 // enough for the head of an answer and for a few events

func newConn(n net.Conn) *conn {
	k := &conn{Conn: n}
	under := n
	if s, ok := n.(*tls.Conn); ok {
		under = s.NetConn()
	}
	if sc, ok := under.(syscall.Conn); ok {
		k.raw, _ = sc.SyscallConn()
	}
	k.socket = calmly(n, k.raw)
	k.in = bufio.NewReaderSize(k.socket, readBuffer)
	return k
}

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

// quiet reports whether nothing has come since the last answer, neither bytes
// nor the end: what a server says without being asked would be taken for the
// answer to the next request.
func (k *conn) quiet() bool {
	if k.in.Buffered() > 0 {
		return false
	}
	if s, ok := k.Conn.(*tls.Conn); ok {
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
	}
	if k.raw == nil {
		return true
	}
	silent := false
	err := k.raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		silent = err == syscall.EAGAIN
		return true
	})
	return err == nil && silent
}
