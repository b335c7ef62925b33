package zmtp

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// redial is the pause before a connection is tried again, as in libzmq.
const redial = 100 * time.Millisecond

// line is the connection of a Pub that dials: it is made anew whenever it
// ends.
type line struct {
	to     string
	cancel context.CancelFunc
	spent  chan struct{} // closed when nothing more is written

	mu   sync.Mutex // guards the rest
	wake sync.Cond
	w    *wire // nil while there is none
	over bool
}

// DialPub connects to a SUB socket that listens at "tcp://host:port", again
// and again until Close; that nobody listens there is no error. As with libzmq,
// what is sent before the first subscription came is lost, while later on what
// is sent without a connection waits for the next one, within the bounds of
// the backlog. What was on its way when a connection broke is lost and counted
// where that is known.
func DialPub(addr string) (*Pub, error) {
	to, err := dialAddr(addr)
	if err != nil {
		return nil, fmt.Errorf("publish to %s: %w", addr, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := &line{to: to, cancel: cancel, spent: make(chan struct{})}
	n.wake.L = &n.mu
	only := &peer{id: 1, out: newOutbox()}
	p := &Pub{
		listener: &listener{peers: map[Peer]*peer{only.id: only}}, line: n,
		topics: map[Peer][][]byte{},
	}
	p.wg.Go(func() { n.reach(ctx, p) })
	p.wg.Go(func() { defer close(n.spent); n.drain(p, only.out) })
	return p, nil
}

// reach connects, and listens to what the subscriber wants, until ctx ends.
func (n *line) reach(ctx context.Context, p *Pub) {
	for ctx.Err() == nil {
		if w, err := dial(ctx, "tcp://"+n.to, "PUB", "SUB", "XSUB"); err == nil {
			w.limit = maxRequest
			stop := context.AfterFunc(ctx, func() { w.c.Close() })
			n.set(w)
			p.renew()
			p.listen(&peer{id: 1, w: w})
			stop()
			n.set(nil)
			w.c.Close()
		}
		select {
		case <-ctx.Done():
		case <-time.After(redial):
		}
	}
}

// drain writes what is queued, each message to the connection of its time.
func (n *line) drain(p *Pub, out *outbox) {
	var spare [][]byte
	for {
		batch, size := out.take(spare)
		if batch == nil {
			return
		}
		w := n.wait()
		if w == nil {
			return
		}
		if w.writeAll(batch) != nil { // how much of it arrived cannot be known
			p.dropped.Add(int64(len(batch)))
			w.c.Close()
		}
		clear(batch)
		out.done(size)
		spare = batch
	}
}

// renew has the next subscription replace those of the connection before,
// which hold until it comes.
func (p *Pub) renew() {
	p.tmu.Lock()
	defer p.tmu.Unlock()
	p.stale = true
}

func (n *line) set(w *wire) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.w = w
	n.wake.Broadcast()
}

// wait returns the connection, once there is one; nil when it is over.
func (n *line) wait() *wire {
	n.mu.Lock()
	defer n.mu.Unlock()
	for n.w == nil && !n.over {
		n.wake.Wait()
	}
	return n.w
}

// hangUp lets what is queued leave for a moment, if somebody is there, and
// ends all.
func (n *line) hangUp(p *Pub) error {
	p.mu.Lock()
	p.peers[1].out.close()
	p.mu.Unlock()
	n.mu.Lock()
	n.over = true
	n.wake.Broadcast()
	n.mu.Unlock()
	late := time.NewTimer(linger)
	defer late.Stop()
	select {
	case <-n.spent:
	case <-late.C:
	}
	n.cancel()
	p.wg.Wait()
	return nil
}
