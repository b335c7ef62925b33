package zmtp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

const (
	handshake = 5 * time.Second
	readSize  = 64 << 10
)

// wire is one connection after the handshake. One goroutine reads; writes are
// serialised by mu.
type wire struct {
	c      net.Conn
	r      *bufio.Reader
	head   [8]byte
	buf    []byte   // frames of the message being read
	ends   []int    // where each frame ends in buf
	out    [][]byte // the frames handed out
	broken error    // what ended reading
	limit  int      // bytes of a message

	mu     sync.Mutex // guards writing to c
	peer   string     // the peer's socket type
	onWord func(name string, body []byte) error
}

// newWire greets the peer on c and agrees on socket types. It closes c when
// that fails. until is the latest time it may take.
func newWire(c net.Conn, kind string, fits []string, until time.Time) (*wire, error) {
	w := &wire{c: c, r: bufio.NewReaderSize(c, readSize), limit: maxMessage}
	c.SetDeadline(until)
	err := w.greet(kind)
	if err == nil {
		err = w.ready(fits)
	}
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("handshake with %s: %w", c.RemoteAddr(), err)
	}
	c.SetDeadline(time.Time{})
	return w, nil
}

// dial connects and shakes hands. ctx bounds both, not the life after.
func dial(ctx context.Context, addr, kind string, fits ...string) (*wire, error) {
	to, err := dialAddr(addr)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", to)
	if err != nil {
		return nil, err
	}
	until := time.Now().Add(handshake)
	if t, ok := ctx.Deadline(); ok && t.Before(until) {
		until = t
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	w, err := newWire(c, kind, fits, until)
	if !stop() {
		return nil, context.Cause(ctx) // which also closed c
	}
	return w, err
}

// greet sends our greeting and READY and reads the peer's greeting. We say
// version 3.0, so that peers subscribe by messages, which all of them can.
func (w *wire) greet(kind string) error {
	var g [64]byte
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:32], "NULL")
	word := appendProperty([]byte("\x05READY"), "Socket-Type", kind)
	if kind == "DEALER" {
		word = appendProperty(word, "Identity", "")
	}
	if _, err := w.c.Write(appendFrame(g[:], flagCommand, word)); err != nil {
		return err
	}
	var in []byte
	in, err := w.fill(make([]byte, 0, 64), 64)
	if err != nil {
		return fmt.Errorf("greeting: %w", noEOF(err, true))
	}
	switch {
	case in[0] != 0xff || in[9] != 0x7f:
		return fmt.Errorf("greeting: %w", ErrProtocol)
	case in[10] < 3:
		return fmt.Errorf("greeting: version %d: %w", in[10], ErrProtocol)
	case !bytes.Equal(in[12:32], g[12:32]):
		return fmt.Errorf("greeting: mechanism %q: %w", bytes.TrimRight(in[12:32], "\x00"), ErrProtocol)
	}
	return nil
}

// ready reads the peer's READY and checks its socket type.
func (w *wire) ready(fits []string) error {
	flags, n, err := w.header()
	if err != nil {
		return fmt.Errorf("ready: %w", noEOF(err, true))
	}
	if flags&flagCommand == 0 {
		return fmt.Errorf("ready: a message came instead: %w", ErrProtocol)
	}
	w.onWord = func(name string, body []byte) error {
		if name != "READY" {
			return fmt.Errorf("ready: %s came instead: %w", name, ErrProtocol)
		}
		w.peer, err = property(body, "Socket-Type")
		return err
	}
	if err := w.takeCommand(n); err != nil {
		return err
	}
	w.onWord = nil
	for _, f := range fits {
		if f == w.peer {
			return nil
		}
	}
	return fmt.Errorf("peer is %.16q: %w", w.peer, ErrSocket)
}

// takeCommand reads a command of n bytes and does what it says.
func (w *wire) takeCommand(n uint64) error {
	if n > maxCommand {
		return fmt.Errorf("command of %d bytes: %w", n, ErrTooLarge)
	}
	body, err := w.fill(make([]byte, 0, n), int(n))
	if err != nil {
		return noEOF(err, true)
	}
	if len(body) == 0 || int(body[0]) > len(body)-1 {
		return fmt.Errorf("command: %w", ErrProtocol)
	}
	name, rest := string(body[1:1+body[0]]), body[1+body[0]:]
	switch {
	case name == "ERROR":
		return fmt.Errorf("peer says %.200q: %w", rest, ErrProtocol)
	case name == "PING":
		return w.pong(rest)
	case w.onWord != nil:
		return w.onWord(name, rest)
	}
	return nil
}

// pong answers a PING: two bytes of time to live, then a context to repeat.
func (w *wire) pong(body []byte) error {
	if len(body) < 2 {
		return fmt.Errorf("ping: %w", ErrProtocol)
	}
	word := append([]byte("\x04PONG"), body[2:min(len(body), 18)]...)
	return w.write(appendFrame(nil, flagCommand, word))
}

func (w *wire) write(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.c.Write(b)
	return err
}

func appendProperty(dst []byte, name, value string) []byte {
	dst = append(dst, byte(len(name)))
	dst = append(dst, name...)
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(value)))
	return append(dst, value...)
}

// property finds a property of a READY command; names have no case.
func property(b []byte, want string) (string, error) {
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < 1+n+4 {
			break
		}
		name := string(b[1 : 1+n])
		size := binary.BigEndian.Uint32(b[1+n:])
		b = b[1+n+4:]
		if uint64(size) > uint64(len(b)) {
			break
		}
		if strings.EqualFold(name, want) {
			return string(b[:size]), nil
		}
		b = b[size:]
	}
	return "", fmt.Errorf("ready: no %s: %w", want, ErrProtocol)
}
