package zmtp

import (
	"net"
	"sync"
	"time"
)

// Backlog bounds the messages that wait for one peer, as libzmq's high-water
// mark does, and their bytes, which libzmq leaves open.
const (
	BacklogMessages = 100_000
	BacklogBytes    = 64 << 20
)

// linger is how long Close waits for queued messages to leave.
const linger = 250 * time.Millisecond

// outbox is the queue of encoded messages in front of one peer. The zero value
// is not usable; see newOutbox. Messages are shared with other outboxes and
// never written to.
type outbox struct {
	mu     sync.Mutex // guards the rest
	wake   sync.Cond
	queue  [][]byte
	bytes  int
	closed bool
}

func newOutbox() *outbox {
	o := &outbox{}
	o.wake.L = &o.mu
	return o
}

// put queues m; false means that there is no room or the outbox is closed.
func (o *outbox) put(m []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed || len(o.queue) >= BacklogMessages || (o.bytes > 0 && o.bytes+len(m) > BacklogBytes) {
		return false
	}
	o.queue = append(o.queue, m)
	o.bytes += len(m)
	o.wake.Signal()
	return true
}

// close lets the writer end once the queue is empty.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.wake.Signal()
}

// take waits for messages and returns all of them with their size; nil means
// closed and empty. The messages count against the bounds until done.
func (o *outbox) take(spare [][]byte) ([][]byte, int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.queue) == 0 && !o.closed {
		o.wake.Wait()
	}
	batch := o.queue
	o.queue = spare[:0]
	if len(batch) == 0 {
		return nil, 0
	}
	return batch, o.bytes
}

// done frees the room of a written batch.
func (o *outbox) done(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.bytes -= n
}

// drain writes queued messages to the peer until the outbox is closed and
// empty or the peer is gone.
func (o *outbox) drain(w *wire) {
	var spare [][]byte
	for {
		batch, n := o.take(spare)
		if batch == nil {
			return
		}
		if w.writeAll(batch) != nil {
			return
		}
		clear(batch)
		o.done(n)
		spare = batch
	}
}

// writeAll writes the messages in few system calls and keeps them as they are.
func (w *wire) writeAll(batch [][]byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(net.Buffers, 0, min(len(batch), 64))
	for len(batch) > 0 {
		n := min(len(batch), 64)
		part := append(out, batch[:n]...)
		if _, err := part.WriteTo(w.c); err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}
