package zmtp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"testing"
	"time"

	"github.com/agentinfer/dyn/internal/fixtures"
)

// python returns an interpreter that has pyzmq, which is libzmq: a peer that
// shares no code with ours.
func python(t *testing.T) string {
	t.Helper()
	return fixtures.Python(t, "zmq", "pyzmq")
}

// peerSays is a Python peer whose output lines are read one by one.
type peerSays struct {
	t     *testing.T
	lines chan string
	in    io.WriteCloser
}

// runPeer starts a program; it ends with the test.
func runPeer(t *testing.T, py, program string, args ...string) *peerSays {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, py, append([]string{"-u", "-c", program}, args...)...)
	var fault bytes.Buffer
	cmd.Stderr = &fault
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &peerSays{t, make(chan string, 64), in}
	go func() {
		defer close(p.lines)
		for sc := bufio.NewScanner(out); sc.Scan(); {
			p.lines <- sc.Text()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		cancel()
		cmd.Wait()
		if t.Failed() {
			t.Logf("peer's errors: %s", fault.String())
		}
	})
	return p
}

func (p *peerSays) want(want string) {
	p.t.Helper()
	select {
	case got, ok := <-p.lines:
		if got != want {
			p.t.Fatalf("peer says %q (%v), want %q", got, ok, want)
		}
	case <-time.After(time.Minute):
		p.t.Fatalf("peer is silent, want %q", want)
	}
}

func (p *peerSays) line() string {
	select {
	case got := <-p.lines:
		return got
	case <-time.After(time.Minute):
		p.t.Fatal("peer is silent")
	}
	return ""
}

func (p *peerSays) tell(line string) { fmt.Fprintln(p.in, line) }

const pubPeer = `
import sys, zmq
s = zmq.Context().socket(zmq.XPUB)
s.setsockopt(zmq.SNDHWM, 0)
print(s.bind_to_random_port("tcp://127.0.0.1"))
print(sorted([s.recv(), s.recv()]))
for i in range(2000):
    s.send_multipart([b"kv@%d" % (i % 2), i.to_bytes(8, "big"), bytes(i * 37 % 70000)])
s.send_multipart([b"other", b"", b""])
sys.stdin.readline()
`

func TestSubHearsLibzmq(t *testing.T) {
	peer := runPeer(t, python(t), pubPeer)
	s := newSub(t, "tcp://127.0.0.1:"+peer.line(), "kv@0", "kv@1")
	peer.want(`[b'\x01kv@0', b'\x01kv@1']`)
	for i := range 2000 {
		m, err := s.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if len(m) != 3 || string(m[0]) != fmt.Sprint("kv@", i%2) || int(m[1][6])<<8|int(m[1][7]) != i || len(m[2]) != i*37%70000 {
			t.Fatalf("message %d: %q %x %d bytes", i, m[0], m[1], len(m[2]))
		}
	}
	peer.tell("end")
	s.SetDeadline(time.Now().Add(time.Minute))
	if m, err := s.Recv(); !errors.Is(err, io.EOF) {
		t.Fatalf("after the last: %q, %v", m, err)
	}
}

const routerPeer = `
import sys, zmq
s = zmq.Context().socket(zmq.ROUTER)
print(s.bind_to_random_port("tcp://127.0.0.1"))
who, empty, start = s.recv_multipart()
print(len(empty), start.hex())
for i in range(int.from_bytes(start, "big"), 300):
    s.send_multipart([who, b"", b"kv", i.to_bytes(8, "big"), bytes(i)])
s.send_multipart([who, b"", b"", b"\xff" * 8, b""])
sys.stdin.readline()
`

func TestDealerAsksLibzmq(t *testing.T) {
	peer := runPeer(t, python(t), routerPeer)
	d, err := DialDealer(t.Context(), "tcp://127.0.0.1:"+peer.line())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.SetDeadline(time.Now().Add(time.Minute))
	if err := d.Send(nil, []byte{0, 0, 0, 0, 0, 0, 0, 5}); err != nil {
		t.Fatal(err)
	}
	peer.want("0 0000000000000005")
	for i := 5; ; i++ {
		m, err := d.Recv()
		if err != nil || len(m) != 4 || len(m[0]) != 0 {
			t.Fatalf("answer %d: %q, %v", i, m, err)
		}
		if string(m[2]) == "\xff\xff\xff\xff\xff\xff\xff\xff" {
			if i != 300 {
				t.Fatalf("end after %d", i)
			}
			return
		}
		if len(m[3]) != i {
			t.Fatalf("answer %d has %d bytes", i, len(m[3]))
		}
	}
}

const subPeer = `
import sys, zmq
s = zmq.Context().socket(zmq.SUB)
s.setsockopt(zmq.SUBSCRIBE, b"kv")
s.setsockopt(zmq.HEARTBEAT_IVL, 20)
s.setsockopt(zmq.HEARTBEAT_TIMEOUT, 60000)
s.connect(sys.argv[1])
n = size = 0
while True:
    m = s.recv_multipart()
    if m[2] == b"end":
        break
    assert len(m) == 3 and int.from_bytes(m[1], "big") == n, (n, m[1])
    n, size = n + 1, size + len(m[2])
print(n, size)
s.setsockopt(zmq.UNSUBSCRIBE, b"kv")
s.setsockopt(zmq.SUBSCRIBE, b"x")
print(s.recv())
sys.stdin.readline()
`

func TestPubSpeaksToLibzmq(t *testing.T) {
	p := newPub(t)
	peer := runPeer(t, python(t), subPeer, p.Addr())
	waitFor := func(topic string) {
		t.Helper()
		eventually(t, "a subscription to "+topic, func() bool { return p.wants(1, []byte(topic)) })
	}
	waitFor("kv@0")
	size := 0
	for i := range 2000 {
		body := make([]byte, i*31%70000)
		size += len(body)
		p.Send([]byte("kv@0"), []byte{0, 0, 0, 0, 0, 0, byte(i >> 8), byte(i)}, body)
		p.Send([]byte("no"), []byte("body"), nil)
	}
	p.Send([]byte("kv@0"), nil, []byte("end"))
	peer.want(fmt.Sprint(2000, " ", size))
	waitFor("x")
	eventually(t, "the end of a subscription", func() bool { return !p.wants(1, []byte("kv")) })
	p.Send([]byte("kv"))
	p.Send([]byte("xyz"))
	peer.want("b'xyz'")
}

const dealerPeer = `
import sys, zmq
c = zmq.Context()
d = c.socket(zmq.DEALER)
d.connect(sys.argv[1])
d.send_multipart([b"", (7).to_bytes(8, "big")])
n = 0
while True:
    m = d.recv_multipart()
    if m[2] == b"\xff" * 8:
        break
    n += 1
print("dealer", n, m)
r = c.socket(zmq.REQ)
r.connect(sys.argv[1])
r.send((9).to_bytes(8, "big"))
print("req", r.recv_multipart())
sys.stdin.readline()
`

func TestRouterAnswersLibzmq(t *testing.T) {
	r, err := ListenRouter("tcp://*:0")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	peer := runPeer(t, python(t), dealerPeer, r.Addr())
	end := bytes.Repeat([]byte{0xff}, 8)
	for range 2 {
		who, m, err := r.Recv()
		if err != nil || len(m) != 2 || len(m[0]) != 0 || len(m[1]) != 8 {
			t.Fatalf("request: %q, %v", m, err)
		}
		if m[1][7] == 7 {
			for i := range 1500 {
				if err := r.Send(who, nil, []byte("kv"), []byte{byte(i)}, make([]byte, i)); err != nil {
					t.Fatal(err)
				}
			}
		}
		r.Send(who, nil, nil, end, nil)
	}
	peer.want(`dealer 1500 [b'', b'', b'\xff\xff\xff\xff\xff\xff\xff\xff', b'']`)
	peer.want(`req [b'', b'\xff\xff\xff\xff\xff\xff\xff\xff', b'']`)
}
