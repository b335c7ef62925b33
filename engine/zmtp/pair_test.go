package zmtp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// eventually polls a condition until it holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func newPub(t *testing.T) *Pub {
	t.Helper()
	p, err := ListenPub("tcp://*:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func newSub(t *testing.T, addr string, topics ...string) *Sub {
	t.Helper()
	s, err := DialSub(t.Context(), addr, topics...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.SetDeadline(time.Now().Add(time.Minute))
	return s
}

func TestPublishSubscribe(t *testing.T) {
	p := newPub(t)
	if !strings.HasPrefix(p.Addr(), "tcp://127.0.0.1:") {
		t.Fatalf("address = %s, want loopback", p.Addr())
	}
	all, some := newSub(t, p.Addr()), newSub(t, p.Addr(), "b", "kv")
	eventually(t, "two subscribers", func() bool { return p.Subscribers() == 2 })

	big := bytes.Repeat([]byte{7}, 1<<20)
	for i, topic := range []string{"a", "kv@1", "", "b"} {
		seq := binary.BigEndian.AppendUint64(nil, uint64(i))
		if err := p.Send([]byte(topic), seq, big[:i*300_000]); err != nil {
			t.Fatal(err)
		}
	}
	check := func(s *Sub, want ...string) {
		t.Helper()
		for _, w := range want {
			m, err := s.Recv()
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(string(m[0]), ",", m[1][7], ",", len(m[2]), ",", len(m)); got != w {
				t.Fatalf("got %s, want %s", got, w)
			}
		}
	}
	check(all, "a,0,0,3", "kv@1,1,300000,3", ",2,600000,3", "b,3,900000,3")
	check(some, "kv@1,1,300000,3", "b,3,900000,3")

	p.Close()
	if _, err := all.Recv(); !errors.Is(err, io.EOF) {
		t.Fatalf("after close: %v, want EOF", err)
	}
	if p.Dropped() != 0 {
		t.Fatalf("dropped %d", p.Dropped())
	}
}

func TestSlowSubscriberLosesAndOthersDoNot(t *testing.T) {
	p := newPub(t)
	slow, fast := newSub(t, p.Addr()), newSub(t, p.Addr())
	eventually(t, "two subscribers", func() bool { return p.Subscribers() == 2 })
	body := make([]byte, 1<<20)
	const sent = 120 // MiB: over the backlog and what sockets hold
	for i := range sent {
		body[0] = byte(i)
		p.Send([]byte("t"), body)
		if m, err := fast.Recv(); err != nil || m[1][0] != byte(i) {
			t.Fatalf("the fast one at %d: %v", i, err)
		}
	}
	if p.Dropped() == 0 {
		t.Fatal("nothing was dropped")
	}
	got := 0
	for int64(got) < sent-p.Dropped() {
		if _, err := slow.Recv(); err != nil {
			t.Fatal(err)
		}
		got++
	}
	eventually(t, "room again", func() bool {
		before := p.Dropped()
		p.Send([]byte("t"), body)
		return p.Dropped() == before
	})
}

func TestRouterAnswersMany(t *testing.T) {
	r, err := ListenRouter("tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		for {
			who, frames, err := r.Recv()
			if err != nil {
				return
			}
			for i := range frames[1][0] {
				r.Send(who, nil, []byte{i})
			}
			r.Send(who, nil, []byte("end"))
		}
	}()
	for n := range 3 {
		d, err := DialDealer(t.Context(), r.Addr())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		d.SetDeadline(time.Now().Add(time.Minute))
		if err := d.Send(nil, []byte{byte(n)}); err != nil {
			t.Fatal(err)
		}
		for i := range n + 1 {
			m, err := d.Recv()
			if err != nil || len(m) != 2 || len(m[0]) != 0 {
				t.Fatalf("answer %d: %q, %v", i, m, err)
			}
			if last := string(m[1]) == "end"; last != (i == n) {
				t.Fatalf("answer %d of %d: %q", i, n, m[1])
			}
		}
	}
	if err := r.Send(99, []byte("x")); !errors.Is(err, ErrPeer) {
		t.Fatalf("unknown peer: %v", err)
	}
	r.Close()
	if _, _, err := r.Recv(); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("recv after close: %v", err)
	}
}

func TestDeadlineBetweenMessagesIsHarmless(t *testing.T) {
	p := newPub(t)
	s := newSub(t, p.Addr())
	eventually(t, "a subscriber", func() bool { return p.Subscribers() == 1 })
	s.SetDeadline(time.Now().Add(time.Millisecond))
	if _, err := s.Recv(); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("quiet feed: %v", err)
	}
	s.SetDeadline(time.Time{})
	p.Send([]byte("t"))
	if m, err := s.Recv(); err != nil || string(m[0]) != "t" {
		t.Fatalf("after the deadline: %q, %v", m, err)
	}
}

func TestWrongPartner(t *testing.T) {
	p := newPub(t)
	if _, err := DialDealer(t.Context(), p.Addr()); err == nil {
		t.Fatal("a dealer talks to a publisher")
	}
	if _, err := DialSub(t.Context(), "ipc:///x"); err == nil {
		t.Fatal("ipc was taken")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := DialSub(ctx, p.Addr()); !errors.Is(err, context.Canceled) {
		t.Fatalf("canceled: %v", err)
	}
}

func TestRecvAllocatesNothing(t *testing.T) {
	p := newPub(t)
	s := newSub(t, p.Addr())
	eventually(t, "a subscriber", func() bool { return p.Subscribers() == 1 })
	topic, body := []byte("t"), make([]byte, 1000)
	for range 300 {
		p.Send(topic, body)
	}
	n := testing.AllocsPerRun(200, func() {
		if _, err := s.Recv(); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0.1 {
		t.Fatalf("%.2f allocations a message", n)
	}
}
