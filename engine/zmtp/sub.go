package zmtp

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Sub reads what one publisher sends. One goroutine calls Recv; Close may
// come from any.
type Sub struct {
	w    *wire
	once sync.Once
	gone chan struct{} // closed by Close; nil when we dialed
}

// DialSub connects to a publisher at "tcp://host:port" and subscribes to all
// messages whose first frame begins with one of topics; without topics, to
// all messages. ctx bounds dialing and handshake only: afterwards Close ends
// the Sub. What was published before the subscription arrived is not seen.
func DialSub(ctx context.Context, addr string, topics ...string) (*Sub, error) {
	w, err := dial(ctx, addr, "SUB", "PUB", "XPUB")
	if err != nil {
		return nil, fmt.Errorf("subscribe at %s: %w", addr, err)
	}
	if err := w.write(subscriptions(topics)); err != nil {
		w.c.Close()
		return nil, fmt.Errorf("subscribe at %s: %w", addr, err)
	}
	return &Sub{w: w}, nil
}

// subscriptions are the messages that ask for topics; none asks for all.
func subscriptions(topics []string) (out []byte) {
	if len(topics) == 0 {
		topics = []string{""}
	}
	for _, t := range topics {
		out = appendFrame(out, 0, append([]byte{1}, t...))
	}
	return out
}

// Recv blocks for the next message. The frames are valid until the next Recv.
// io.EOF means that the publisher is gone. After an error other than a
// deadline that passed between messages the Sub is of no more use.
func (s *Sub) Recv() ([][]byte, error) { return s.w.message() }

// SetDeadline ends Recv at t with os.ErrDeadlineExceeded; zero is never.
func (s *Sub) SetDeadline(t time.Time) error { return s.w.c.SetReadDeadline(t) }

// Close ends the connection and a Recv that waits.
func (s *Sub) Close() error {
	err := s.w.c.Close()
	if s.gone != nil {
		s.once.Do(func() { close(s.gone) })
	}
	return err
}
