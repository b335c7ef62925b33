package zmtp

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/agentinfer/dyn/engine/port"
)

func newInbox(t *testing.T, addr string, topics ...string) *Inbox {
	t.Helper()
	b, err := ListenSub(addr, topics...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// fixedInbox listens at an address at which another one can listen later: the
// kernel gives its port to no other connection meanwhile.
func fixedInbox(t *testing.T, topics ...string) *Inbox {
	t.Helper()
	p, err := port.Free()
	if err != nil {
		t.Fatal(err)
	}
	return newInbox(t, fmt.Sprintf("tcp://127.0.0.1:%d", p), topics...)
}

func newDialed(t *testing.T, addr string) *Pub {
	t.Helper()
	p, err := DialPub(addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// next waits for a publisher.
func next(t *testing.T, b *Inbox) *Sub {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := b.Next(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.SetDeadline(time.Now().Add(time.Minute))
	return s
}

func recvNumber(t *testing.T, s *Sub) uint64 {
	t.Helper()
	m, err := s.Recv()
	if err != nil {
		t.Fatal(err)
	}
	return binary.BigEndian.Uint64(m[len(m)-1])
}

func counted(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// A publisher that finds the inbox there loses nothing, however late it is
// read; one after another is a Sub of its own.
func TestInboxHearsAllFromTheFirst(t *testing.T) {
	b := newInbox(t, "tcp://*:0", "kv")
	for life := range 2 {
		p := newDialed(t, b.Addr())
		eventually(t, "a subscription", func() bool { return p.Subscribers() == 1 })
		for i := range uint64(1000) {
			p.Send([]byte("kv"), counted(i))
			p.Send([]byte("other"), counted(i))
		}
		p.Send([]byte("kv"), counted(1000), make([]byte, 1<<20), counted(1000)) // larger than what a listener takes of others
		s := next(t, b)
		for i := range uint64(1001) {
			if got := recvNumber(t, s); got != i {
				t.Fatalf("life %d: got %d, want %d", life, got, i)
			}
		}
		p.Close()
		if _, err := s.Recv(); !errors.Is(err, io.EOF) {
			t.Fatalf("after the publisher: %v, want EOF", err)
		}
		s.Close()
	}
}

// What is sent while nobody listens waits for the one who listens there next.
func TestDialedPubWaitsForTheNextInbox(t *testing.T) {
	b := fixedInbox(t)
	addr := b.Addr()
	p := newDialed(t, addr)
	s := next(t, b)
	eventually(t, "a subscription", func() bool { return p.Subscribers() == 1 })
	p.Send([]byte("kv"), counted(0))
	if got := recvNumber(t, s); got != 0 {
		t.Fatal(got)
	}
	s.Close()
	b.Close()
	eventually(t, "the loss is seen", func() bool { p.line.mu.Lock(); defer p.line.mu.Unlock(); return p.line.w == nil })
	for i := range uint64(3) {
		p.Send([]byte("kv"), counted(1+i))
	}
	again := next(t, newInbox(t, addr, "kv"))
	for i := range uint64(3) {
		if got := recvNumber(t, again); got != 1+i {
			t.Fatalf("got %d, want %d", got, 1+i)
		}
	}
	eventually(t, "the new subscription alone", func() bool { return !p.wants(1, []byte("other")) && p.wants(1, []byte("kv")) })
	if p.Dropped() != 0 {
		t.Errorf("%d dropped", p.Dropped())
	}
}

func TestInboxEnds(t *testing.T) {
	b := newInbox(t, "tcp://*:0")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := b.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	newDialed(t, b.Addr())
	s := next(t, b)
	b.Close()
	if _, err := s.Recv(); err == nil {
		t.Error("a message of a closed inbox")
	}
	if _, err := b.Next(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := DialPub("ipc:///x"); err == nil {
		t.Error("ipc was taken")
	}
	if _, err := ListenSub("tcp://x"); err == nil {
		t.Error("no port was taken")
	}
}

// Only publishers get in, and those that nobody reads are few.
func TestInboxTakesPublishersOnly(t *testing.T) {
	b := newInbox(t, "tcp://*:0")
	if s, err := DialSub(t.Context(), b.Addr()); err == nil {
		s.Close()
		t.Error("a subscriber talks to a subscriber")
	}
	var all []*Pub
	for range maxWaiting + 2 {
		all = append(all, newDialed(t, b.Addr()))
	}
	eventually(t, "the queue is full", func() bool { return len(b.subs) == maxWaiting })
	eventually(t, "all got an answer", func() bool {
		n := 0
		for _, p := range all {
			n += p.Subscribers()
		}
		return n == len(all)
	})
}

const dialedPubPeer = `
import sys, zmq
c = zmq.Context()
s = c.socket(zmq.XPUB)
s.setsockopt(zmq.SNDHWM, 0)
m = s.get_monitor_socket(zmq.EVENT_DISCONNECTED)
s.connect(sys.argv[1])
print(s.recv())
for i in range(2000):
    s.send_multipart([b"kv", i.to_bytes(8, "big"), bytes(i * 37 % 70000)])
s.send_multipart([b"other", b"", b""])
m.recv_multipart()
print("lost")
for i in range(2000, 2003):
    s.send_multipart([b"kv", i.to_bytes(8, "big"), b""])
print("sent")
sys.stdin.readline()
`

// libzmq connects to us as an engine does, and what it sends while nobody
// listens comes to the next inbox at that address.
func TestInboxHearsLibzmq(t *testing.T) {
	b := fixedInbox(t, "kv")
	addr := b.Addr()
	peer := runPeer(t, python(t), dialedPubPeer, addr)
	peer.want(`b'\x01kv'`)
	s := next(t, b)
	for i := range 2000 {
		m, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if len(m) != 3 || binary.BigEndian.Uint64(m[1]) != uint64(i) || len(m[2]) != i*37%70000 {
			t.Fatalf("message %d: %q %x %d bytes", i, m[0], m[1], len(m[2]))
		}
	}
	s.Close()
	b.Close()
	peer.want("lost") // else it may send to the connection that has ended
	peer.want("sent")
	again := next(t, newInbox(t, addr, "kv"))
	for i := 2000; i < 2003; i++ {
		m, err := again.Recv()
		if err != nil || binary.BigEndian.Uint64(m[1]) != uint64(i) {
			t.Fatalf("message %d: %x, %v", i, m, err)
		}
	}
}

const boundSubPeer = `
import sys, zmq
s = zmq.Context().socket(zmq.SUB)
s.setsockopt(zmq.SUBSCRIBE, b"kv")
print(s.bind_to_random_port("tcp://127.0.0.1"))
n = size = 0
while True:
    m = s.recv_multipart()
    if m[2] == b"end":
        break
    assert len(m) == 3 and int.from_bytes(m[1], "big") == n, (n, m[1])
    n, size = n + 1, size + len(m[2])
print(n, size)
sys.stdin.readline()
`

func TestDialedPubSpeaksToLibzmq(t *testing.T) {
	peer := runPeer(t, python(t), boundSubPeer)
	p := newDialed(t, "tcp://127.0.0.1:"+peer.line())
	eventually(t, "a subscription", func() bool { return p.wants(1, []byte("kv")) })
	size := 0
	for i := range uint64(2000) {
		body := make([]byte, i*31%70000)
		size += len(body)
		p.Send([]byte("kv"), counted(i), body)
		p.Send([]byte("no"), counted(i), nil)
	}
	p.Send([]byte("kv"), nil, []byte("end"))
	peer.want(fmt.Sprint(2000, " ", size))
}
