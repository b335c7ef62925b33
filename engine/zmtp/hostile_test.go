package zmtp

import (
	"bytes"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// greeting is what a well-behaved publisher sends, cut or bent by tests.
func greeting() []byte {
	g := make([]byte, 64)
	g[0], g[9], g[10] = 0xff, 0x7f, 3
	copy(g[12:], "NULL")
	return g
}

func readyOf(kind string) []byte {
	return appendFrame(nil, flagCommand, appendProperty([]byte("\x05READY"), "socket-type", kind))
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// say listens and sends b to whoever comes; with hangUp nothing comes after.
func say(t *testing.T, b []byte, hangUp bool) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		t.Cleanup(func() { c.Close() })
		c.Write(b)
		if hangUp {
			c.(*net.TCPConn).CloseWrite()
		}
	}()
	return "tcp://" + l.Addr().String()
}

func bend(at int, to byte) []byte {
	g := greeting()
	g[at] = to
	return g
}

func TestHostilePublisher(t *testing.T) {
	hello := join(greeting(), readyOf("PUB"))
	many := bytes.Repeat([]byte{flagMore, 0}, maxFrames+1)
	for _, c := range []struct {
		name string
		says []byte
		want error // nil: any
	}{
		{"nothing", nil, nil},
		{"short greeting", greeting()[:20], nil},
		{"http", []byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), ErrProtocol},
		{"version 2", bend(10, 1), ErrProtocol},
		{"curve", bend(12, 'C'), ErrProtocol},
		{"message before ready", join(greeting(), []byte{0, 1, 1}), ErrProtocol},
		{"endless ready", join(greeting(), []byte{flagCommand | flagLong, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), ErrTooLarge},
		{"empty command", join(greeting(), []byte{flagCommand, 0}), ErrProtocol},
		{"name longer than command", join(greeting(), []byte{flagCommand, 2, 200, 'R'}), ErrProtocol},
		{"ready without type", join(greeting(), appendFrame(nil, flagCommand, []byte("\x05READY"))), ErrProtocol},
		{"broken property", join(greeting(), appendFrame(nil, flagCommand, []byte("\x05READY\x0bSocket-Type\xff\xff\xff\xff"))), ErrProtocol},
		{"router", join(greeting(), readyOf("ROUTER")), ErrSocket},
		{"error", join(greeting(), appendFrame(nil, flagCommand, []byte("\x05ERROR\x02no"))), ErrProtocol},
		{"frame of 2^64-1", join(hello, []byte{flagLong, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}), ErrTooLarge},
		{"frame of 33 MiB", join(hello, []byte{flagLong, 0, 0, 0, 0, 0x02, 0x10, 0, 0}), ErrTooLarge},
		{"too many frames", join(hello, many), ErrTooLarge},
		{"unknown flag", join(hello, []byte{0x40, 0}), ErrProtocol},
		{"cut frame", join(hello, []byte{0, 9, 1}), nil},
		{"ping without body", join(hello, appendFrame(nil, flagCommand, []byte("\x04PING"))), ErrProtocol},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := DialSub(t.Context(), say(t, c.says, true))
			if err == nil {
				defer s.Close()
				_, err = s.Recv()
				if _, again := s.Recv(); again == nil || again.Error() != err.Error() {
					t.Fatalf("then %v, first %v", again, err)
				}
			}
			if err == nil || (c.want != nil && !errors.Is(err, c.want)) {
				t.Fatalf("err = %v, want %v", err, c.want)
			}
		})
	}
}

func TestSilentPeerIsGivenUp(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := DialSub(ctx, say(t, greeting(), false)); err == nil {
		t.Fatal("a handshake without end")
	}
}

// A long frame is only promised: memory must not be taken for it.
func TestPromisedFrameTakesNoMemory(t *testing.T) {
	hello := join(greeting(), readyOf("PUB"), []byte{flagLong, 0, 0, 0, 0, 0x01, 0, 0, 0}, []byte("few"))
	s, err := DialSub(t.Context(), say(t, hello, true))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Recv(); err == nil {
		t.Fatal("a message came of it")
	}
	if cap(s.w.buf) > 2*step {
		t.Fatalf("took %d bytes", cap(s.w.buf))
	}
}

func TestPingIsAnswered(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		ping := appendFrame(nil, flagCommand, []byte("\x04PING\x00\x01ctx"))
		c.Write(join(greeting(), readyOf("PUB"), []byte{flagMore, 1, 'a'}, ping, []byte{0, 1, 'b'}))
		var all []byte
		for b := make([]byte, 512); !strings.Contains(string(all), "PONG"); {
			n, err := c.Read(b)
			if err != nil {
				break
			}
			all = append(all, b[:n]...)
		}
		got <- string(all[max(0, len(all)-10):])
	}()
	s, err := DialSub(t.Context(), "tcp://"+l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if m, err := s.Recv(); err != nil || string(m[0])+string(m[1]) != "ab" {
		t.Fatalf("message around a ping: %q, %v", m, err)
	}
	if g := <-got; g != "\x04\x08\x04PONGctx" {
		t.Fatalf("answer to ping: %q", g)
	}
}

func TestHostileSubscribers(t *testing.T) {
	p := newPub(t)
	good := newSub(t, p.Addr())
	hello := join(greeting(), readyOf("SUB"))
	for _, says := range [][]byte{
		nil,
		{0xff},
		bytes.Repeat([]byte{0xff}, 200),
		join(hello, []byte{flagLong, 0, 0, 0, 0, 0, 2, 0, 0}),
		join(hello, bytes.Repeat([]byte{0, 1, 1}, maxTopics+1)),
		join(hello, appendFrame(nil, 0, append([]byte{1}, make([]byte, maxTopic+1)...))),
		join(hello, []byte{0, 0}, []byte{0, 3, 9, 9, 9}),
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.Addr(), "tcp://"))
		if err != nil {
			t.Fatal(err)
		}
		c.Write(says)
		c.Close()
	}
	eventually(t, "only the good one", func() bool { return p.Subscribers() == 1 })
	p.Send([]byte("still here"))
	if m, err := good.Recv(); err != nil || string(m[0]) != "still here" {
		t.Fatalf("the good one got %q, %v", m, err)
	}
	p.Close() // returns though the bad ones never read
}

// A deadline inside a message ends the connection, and does not look like one
// between messages, after which a reader would go on.
func TestDeadlineInsideAMessage(t *testing.T) {
	hello := join(greeting(), readyOf("PUB"), []byte{flagMore, 1, 'a', 0, 200, 'b'})
	s, err := DialSub(t.Context(), say(t, hello, false))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 2 {
		s.SetDeadline(time.Now().Add(20 * time.Millisecond))
		if _, err := s.Recv(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("error is %v", err)
		}
	}
}
