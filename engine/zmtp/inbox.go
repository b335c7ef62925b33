package zmtp

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// maxWaiting is how many publishers wait to be read; more are sent away.
const maxWaiting = 16

// Inbox is a SUB socket that listens: publishers connect to it, and each
// connection of theirs is a Sub. A publisher that finds the inbox there when it
// starts loses nothing. It is safe for concurrent use.
type Inbox struct {
	*listener
	topics []byte // the subscriptions, as messages
	subs   chan *Sub
	done   chan struct{}
	once   sync.Once
}

// ListenSub listens at "tcp://host:port"; "tcp://*:0" is a free port on
// loopback. Whoever connects is told at once what is wanted: messages whose
// first frame begins with one of topics, or all. Close it.
//
// Whoever can connect can tell lies: there is no authentication.
func ListenSub(addr string, topics ...string) (*Inbox, error) {
	l, err := listen(addr, "SUB", "PUB", "XPUB")
	if err != nil {
		return nil, fmt.Errorf("listen for publishers at %s: %w", addr, err)
	}
	b := &Inbox{listener: l, topics: subscriptions(topics), subs: make(chan *Sub, maxWaiting), done: make(chan struct{})}
	l.read = b.meet
	l.start()
	return b, nil
}

// meet subscribes at a publisher and offers it to Next. It returns when the
// connection is of no more use.
func (b *Inbox) meet(from *peer) {
	from.w.limit = maxMessage
	if from.w.write(b.topics) != nil {
		return
	}
	s := &Sub{w: from.w, gone: make(chan struct{})}
	select {
	case b.subs <- s:
	default:
		return
	}
	select {
	case <-s.gone:
	case <-b.done:
	}
}

// Next blocks for the next publisher that connects, until ctx ends. What it
// sends waits until the Sub is read; the caller closes that. After Close the
// error is net.ErrClosed.
func (b *Inbox) Next(ctx context.Context) (*Sub, error) {
	select {
	case <-b.done:
		return nil, net.ErrClosed
	default:
	}
	select {
	case s := <-b.subs:
		return s, nil
	case <-b.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Waiting reports whether a publisher has connected that Next has not returned.
func (b *Inbox) Waiting() bool { return len(b.subs) > 0 }

// Close ends all connections.
func (b *Inbox) Close() error {
	b.once.Do(func() { close(b.done) })
	return b.stop()
}
