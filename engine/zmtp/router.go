package zmtp

import (
	"bytes"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
)

// Peer names one connection of a Router; it is never used twice.
type Peer uint64

// maxAsks is how many requests wait for Recv; beyond it peers are not read.
const maxAsks = 256

// Router takes requests from any number of dealers and answers each as often
// as it likes. One goroutine calls Recv; Send and Close may come from any.
type Router struct {
	*listener
	asks    chan ask
	done    chan struct{}
	once    sync.Once
	dropped atomic.Int64
}

type ask struct {
	from   Peer
	frames [][]byte
}

// ListenRouter listens at "tcp://host:port"; "tcp://*:0" is a free port on
// loopback. Close it.
func ListenRouter(addr string) (*Router, error) {
	l, err := listen(addr, "ROUTER", "DEALER", "REQ", "ROUTER")
	if err != nil {
		return nil, fmt.Errorf("listen for dealers at %s: %w", addr, err)
	}
	r := &Router{listener: l, asks: make(chan ask, maxAsks), done: make(chan struct{})}
	l.read = r.requests
	l.start()
	return r, nil
}

// Recv blocks for the next request. The frames are the caller's. After Close
// the error is net.ErrClosed.
func (r *Router) Recv() (Peer, [][]byte, error) {
	select {
	case a := <-r.asks:
		return a.from, a.frames, nil
	case <-r.done:
		return 0, nil, net.ErrClosed
	}
}

// Send queues one message for a peer and never blocks: ErrFull means that the
// message was dropped, ErrPeer that nobody is there. The frames are not kept.
func (r *Router) Send(to Peer, frames ...[]byte) error {
	if err := checkMessage(frames); err != nil {
		return err
	}
	r.mu.Lock()
	p := r.peers[to]
	r.mu.Unlock()
	if p == nil {
		return ErrPeer
	}
	if !p.out.put(appendMessage(nil, frames)) {
		r.dropped.Add(1)
		return ErrFull
	}
	return nil
}

// Close lets queued messages leave for a quarter of a second, then ends all
// connections and Recv.
func (r *Router) Close() error {
	r.once.Do(func() { close(r.done) })
	return r.stop()
}

func (r *Router) requests(from *peer) {
	for {
		m, err := from.w.message()
		if err != nil {
			return
		}
		own := make([][]byte, len(m))
		for i, f := range m {
			own[i] = bytes.Clone(f)
		}
		select {
		case r.asks <- ask{from.id, own}:
		case <-r.done:
			return
		}
	}
}
