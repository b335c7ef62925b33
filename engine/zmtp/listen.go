package zmtp

import (
	"errors"
	"net"
	"sync"
	"time"
)

const maxPeers = 256

// peer is one connection of a listener.
type peer struct {
	id  Peer
	w   *wire
	out *outbox
}

// listener accepts peers for Pub, Router and Inbox and knows who is there.
type listener struct {
	l    net.Listener // nil in a Pub that dials
	kind string
	fits []string
	read func(*peer) // reads until the peer is gone

	mu     sync.Mutex // guards the rest
	peers  map[Peer]*peer
	conns  map[net.Conn]*peer // nil while its handshake runs
	next   Peer
	closed bool
	wg     sync.WaitGroup
}

func listen(addr, kind string, fits ...string) (*listener, error) {
	at, err := listenAddr(addr)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return nil, err
	}
	return &listener{
		l: l, kind: kind, fits: fits,
		peers: map[Peer]*peer{}, conns: map[net.Conn]*peer{},
	}, nil
}

// Addr is where the socket listens: "tcp://127.0.0.1:port".
func (s *listener) Addr() string { return "tcp://" + s.l.Addr().String() }

// start begins to accept. read must be set.
func (s *listener) start() {
	s.wg.Go(func() {
		for {
			c, err := s.l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				// Out of descriptors, most likely: others may free some.
				time.Sleep(50 * time.Millisecond)
				continue
			}
			if !s.admit(c) {
				c.Close()
			}
		}
	})
}

// admit takes a connection in and serves it, unless there are too many.
func (s *listener) admit(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= maxPeers {
		return false
	}
	s.conns[c] = nil
	s.wg.Go(func() {
		s.serve(c)
		c.Close()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.conns, c)
	})
	return true
}

// serve runs one peer from its handshake to its end.
func (s *listener) serve(c net.Conn) {
	w, err := newWire(c, s.kind, s.fits, time.Now().Add(handshake))
	if err != nil {
		return
	}
	w.limit = maxRequest
	p := &peer{w: w, out: newOutbox()}
	if !s.enter(c, p) {
		return
	}
	s.wg.Go(func() {
		p.out.drain(w)
		c.Close() // a broken or closed outbox ends the reader too
	})
	s.read(p)
	p.out.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.peers, p.id)
}

func (s *listener) enter(c net.Conn, p *peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.next++
	p.id = s.next
	s.peers[p.id] = p
	s.conns[c] = p
	return true
}

// stop ends accepting, gives queued messages a moment and ends every peer.
func (s *listener) stop() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	for c, p := range s.conns {
		if p == nil {
			c.Close()
			continue
		}
		c.SetDeadline(time.Now().Add(linger))
		p.out.close()
	}
	s.mu.Unlock()
	if !first {
		return nil
	}
	err := s.l.Close()
	s.wg.Wait()
	return err
}
