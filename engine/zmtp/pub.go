package zmtp

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
)

const (
	maxTopics = 256
	maxTopic  = 1 << 10
)

// Pub sends messages to all who subscribed. Safe for concurrent use.
type Pub struct {
	*listener
	line    *line // nil when it listens
	dropped atomic.Int64

	tmu    sync.RWMutex // guards topics, the lists in it, and stale
	topics map[Peer][][]byte
	stale  bool // they are of an earlier connection
}

// ListenPub listens at "tcp://host:port"; "tcp://*:0" is a free port on
// loopback. Close it.
func ListenPub(addr string) (*Pub, error) {
	l, err := listen(addr, "PUB", "SUB", "XSUB")
	if err != nil {
		return nil, fmt.Errorf("publish at %s: %w", addr, err)
	}
	p := &Pub{listener: l, topics: map[Peer][][]byte{}}
	l.read = p.subscriptions
	l.start()
	return p, nil
}

// Send queues one message for everyone who subscribed to a prefix of its
// first frame. It never blocks: a subscriber whose queue is full loses the
// message, see Dropped. The frames are not kept. The error tells a message
// that is over the limits.
func (p *Pub) Send(frames ...[]byte) error {
	if err := checkMessage(frames); err != nil {
		return err
	}
	var m []byte
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, peer := range p.peers {
		if !p.wants(id, frames[0]) {
			continue
		}
		if m == nil {
			m = appendMessage(nil, frames)
		}
		if !peer.out.put(m) {
			p.dropped.Add(1)
		}
	}
	return nil
}

// Addr is where the socket listens, or the address that it connects to.
func (p *Pub) Addr() string {
	if p.line != nil {
		return "tcp://" + p.line.to
	}
	return p.listener.Addr()
}

// Dropped counts messages that a full queue, or a connection that broke, cost
// a subscriber.
func (p *Pub) Dropped() int64 { return p.dropped.Load() }

// Subscribers counts peers with at least one subscription.
func (p *Pub) Subscribers() int {
	p.tmu.RLock()
	defer p.tmu.RUnlock()
	n := 0
	for _, ts := range p.topics {
		n += min(len(ts), 1)
	}
	return n
}

// Close lets queued messages leave for a quarter of a second, then ends all
// connections.
func (p *Pub) Close() error {
	if p.line != nil {
		return p.line.hangUp(p)
	}
	return p.stop()
}

func (p *Pub) wants(id Peer, topic []byte) bool {
	p.tmu.RLock()
	defer p.tmu.RUnlock()
	for _, t := range p.topics[id] {
		if bytes.HasPrefix(topic, t) {
			return true
		}
	}
	return false
}

// subscriptions reads what a subscriber wants until it is gone.
func (p *Pub) subscriptions(from *peer) {
	defer p.forget(from.id)
	p.listen(from)
}

func (p *Pub) forget(id Peer) {
	p.tmu.Lock()
	defer p.tmu.Unlock()
	delete(p.topics, id)
}

// listen reads what a subscriber wants, as messages (01 or 00 and the topic) or
// as the commands of ZMTP 3.1.
func (p *Pub) listen(from *peer) {
	from.w.onWord = func(name string, body []byte) error {
		switch name {
		case "SUBSCRIBE":
			return p.subscribe(from.id, body)
		case "CANCEL":
			p.cancel(from.id, body)
		}
		return nil
	}
	for {
		m, err := from.w.message()
		if err != nil {
			return
		}
		switch {
		case len(m) != 1 || len(m[0]) == 0:
			continue
		case m[0][0] == 1:
			err = p.subscribe(from.id, m[0][1:])
		case m[0][0] == 0:
			p.cancel(from.id, m[0][1:])
		}
		if err != nil {
			return
		}
	}
}

func (p *Pub) subscribe(id Peer, topic []byte) error {
	p.tmu.Lock()
	defer p.tmu.Unlock()
	if p.stale {
		p.stale = false
		delete(p.topics, id)
	}
	if len(topic) > maxTopic || len(p.topics[id]) >= maxTopics {
		return fmt.Errorf("subscription: %w", ErrTooLarge)
	}
	p.topics[id] = append(p.topics[id], bytes.Clone(topic))
	return nil
}

// cancel takes one subscription back; equal ones count, as in libzmq.
func (p *Pub) cancel(id Peer, topic []byte) {
	p.tmu.Lock()
	defer p.tmu.Unlock()
	for i, t := range p.topics[id] {
		if bytes.Equal(t, topic) {
			p.topics[id] = append(p.topics[id][:i], p.topics[id][i+1:]...)
			return
		}
	}
}
