package exchange

import (
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pair is a connection from both its ends.
func pair(t *testing.T) (ours, theirs *net.TCPConn) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a.(*net.TCPConn), b.(*net.TCPConn)
}

// least is how many bytes the system tells of.
func least(t *testing.T, raw syscall.RawConn) (n int) {
	t.Helper()
	var err error
	if e := raw.Control(func(fd uintptr) { n, err = unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT) }); e != nil || err != nil {
		t.Fatal(e, err)
	}
	return n
}

// TestCalm: a connection grows calm when reads find bytes, and no read that
// waits misses one.
func TestCalm(t *testing.T) {
	ours, theirs := pair(t)
	k := newConn(ours)
	arrived := func(text string) { // in the socket
		t.Helper()
		if _, err := theirs.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		for n := 0; n < len(text); {
			k.raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.TIOCINQ) })
		}
	}
	read := func(want string) {
		t.Helper()
		b := make([]byte, len(want))
		if _, err := io.ReadFull(k.in, b); err != nil || string(b) != want {
			t.Fatalf("%q is read, want %q: %v", b, want, err)
		}
	}
	for range 3 {
		for _, text := range []string{"one", "two", "three"} {
			arrived(text)
			read(text)
		}
		if n := least(t, k.raw); n != calmBytes {
			t.Errorf("of a calm connection every %d bytes are told, want %d", n, calmBytes)
		}
		for _, late := range []string{"x", "y"} {
			go func() {
				for least(t, k.raw) != 1 { // the reader waits
				}
				theirs.Write([]byte(late))
			}()
			read(late)
		}
		if n := least(t, k.raw); n != 1 {
			t.Errorf("while reads wait every %d bytes are told, want every one", n)
		}
	}
}

// TestCalmEnds: however a calm connection ends, a read says so.
func TestCalmEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(ours, theirs *net.TCPConn)
		want error
	}{
		{"their end", func(_, theirs *net.TCPConn) { theirs.CloseWrite() }, io.EOF},
		{"a reset", func(_, theirs *net.TCPConn) { theirs.SetLinger(0); theirs.Close() }, syscall.ECONNRESET},
		{"our end", func(ours, _ *net.TCPConn) { ours.Close() }, net.ErrClosed},
		{"a deadline", func(ours, _ *net.TCPConn) { ours.SetReadDeadline(time.Unix(1, 0)) }, os.ErrDeadlineExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			ours, theirs := pair(t)
			k := newConn(ours)
			if err := k.raw.Control(func(fd uintptr) {
				r := k.socket.(*calm)
				r.calm = r.report(fd, calmBytes)
			}); err != nil {
				t.Fatal(err)
			}
			go func() {
				for least(t, k.raw) != 1 { // the reader waits
				}
				c.end(ours, theirs)
			}()
			_, err := k.in.ReadByte()
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if err != io.EOF && !strings.HasPrefix(err.Error(), "read tcp 127.0.0.1:") {
				t.Errorf("the error is %q", err)
			}
		})
	}
}
