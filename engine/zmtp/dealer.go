package zmtp

import (
	"context"
	"fmt"
	"time"
)

// Dealer talks with one router: it sends requests and reads any number of
// answers. One goroutine calls Recv; Send and Close may come from any.
type Dealer struct{ w *wire }

// DialDealer connects to a router at "tcp://host:port". ctx bounds dialing and
// handshake only: afterwards Close ends the Dealer.
//
// An answer may never come, even a promised last one: routers drop what their
// queue does not hold. Set a deadline.
func DialDealer(ctx context.Context, addr string) (*Dealer, error) {
	w, err := dial(ctx, addr, "DEALER", "ROUTER", "REP", "DEALER")
	if err != nil {
		return nil, fmt.Errorf("dial router %s: %w", addr, err)
	}
	return &Dealer{w}, nil
}

// Send writes one message; it blocks while the router does not read. The
// frames are not kept.
func (d *Dealer) Send(frames ...[]byte) error {
	if err := checkMessage(frames); err != nil {
		return err
	}
	return d.w.write(appendMessage(nil, frames))
}

// Recv blocks for the next message. The frames are valid until the next Recv.
// After an error other than a deadline that passed between messages the
// Dealer is of no more use.
func (d *Dealer) Recv() ([][]byte, error) { return d.w.message() }

// SetDeadline ends Send and Recv at t with os.ErrDeadlineExceeded; zero is
// never.
func (d *Dealer) SetDeadline(t time.Time) error { return d.w.c.SetDeadline(t) }

// Close ends the connection and a Recv that waits.
func (d *Dealer) Close() error { return d.w.c.Close() }
