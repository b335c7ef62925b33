package wire

import (
	"encoding/hex"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/internal/fixtures"
)

// peer reads our sockets with libzmq: live batches, then a replay by DEALER
// and one by REQ. It prints one line for each message.
const peer = `
import sys, zmq
pub, replay, n = sys.argv[1], sys.argv[2], int(sys.argv[3])
ctx = zmq.Context()
def show(kind, frames): print(kind, *[f.hex() or "-" for f in frames], flush=True)
sub = ctx.socket(zmq.SUB); sub.setsockopt(zmq.RCVTIMEO, 10000)
sub.setsockopt(zmq.SUBSCRIBE, b"kv"); sub.connect(pub)
print("ready", flush=True)
for _ in range(n): show("live", sub.recv_multipart())
d = ctx.socket(zmq.DEALER); d.setsockopt(zmq.RCVTIMEO, 10000); d.connect(replay)
d.send_multipart([b"", (0).to_bytes(8, "big")])
while True:
    m = d.recv_multipart(); show("replay", m)
    if m[2] == b"\xff" * 8: break
r = ctx.socket(zmq.REQ); r.setsockopt(zmq.RCVTIMEO, 10000); r.connect(replay)
r.send((1).to_bytes(8, "big")); show("req", r.recv_multipart())
ctx.destroy(linger=0)
`

// TestIndependentPeer lets another implementation of ZeroMQ read our sockets.
func TestIndependentPeer(t *testing.T) {
	python := fixtures.Python(t, "zmq", "pyzmq")
	p := publisher(t, 0)
	cfg := p.Config()
	cmd := exec.Command(python, "-c", peer, cfg.Endpoint, cfg.Replay, "3")
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for end := time.Now().Add(time.Minute); p.Subscribers() == 0; {
		if time.Now().After(end) {
			t.Fatal("the peer does not subscribe")
		}
		pause := time.NewTimer(time.Millisecond)
		<-pause.C
	}
	for i := range uint32(3) {
		if err := p.Publish(event(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-ended; err != nil {
		t.Fatalf("peer: %v\n%s", err, errs.String())
	}
	_, payloads := p.past.since(0)
	var want strings.Builder
	line := func(kind string, i int) {
		fmt.Fprintf(&want, "%s 6b76 %016x %s\n", kind, i, hex.EncodeToString(payloads[i]))
	}
	want.WriteString("ready\n")
	for i := range 3 {
		line("live", i)
	}
	for i := range 3 {
		line("replay -", i)
	}
	want.WriteString("replay - - ffffffffffffffff -\n")
	line("req", 1)
	if out.String() != want.String() {
		t.Errorf("want\n%s\ngot\n%s", want.String(), out.String())
	}
}
