package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentinfer/dyn/engine/port"
	"github.com/agentinfer/dyn/engine/zmtp"
)

// inbox is where an engine that connects to its reader sends its KV events. It
// is there before the engine is, so that the first event is seen, and lasts as
// long as the engine's life.
type inbox struct {
	addr string
	in   *zmtp.Inbox // nil while its port is somebody else's
}

// newInbox listens for an engine that is about to be started. Its port is none
// that the kernel gives to outgoing connections: while no daemon listens there
// it must stay free for the next one, though the engine goes on to connect.
func newInbox() *inbox {
	for range inboxTries {
		p, err := port.Free()
		if err != nil {
			break
		}
		if b := openInbox(fmt.Sprintf("tcp://127.0.0.1:%d", p)); b.in != nil {
			return b
		}
	}
	return openInbox("tcp://127.0.0.1:0")
}

// inboxTries is how many ports are tried, each of which was free a moment ago.
const inboxTries = 5

// openInbox listens at an address; see next for one that is taken.
func openInbox(addr string) *inbox {
	b := &inbox{addr: addr}
	b.listen()
	return b
}

func (b *inbox) listen() {
	in, err := zmtp.ListenSub(b.addr)
	if err == nil {
		b.in, b.addr = in, in.Addr()
	}
}

// asked reports whether a command line has the engine connect here.
func (b *inbox) asked(args []string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, b.addr) })
}

// next waits until ctx ends for the engine to connect; nil when it did not. An
// address that was taken is tried anew: it is one at which an engine sends that
// a daemon before this one started.
func (b *inbox) next(ctx context.Context) *zmtp.Sub {
	if b.in == nil {
		b.listen()
	}
	if b.in == nil {
		<-ctx.Done()
		return nil
	}
	sub, err := b.in.Next(ctx)
	if err != nil {
		return nil
	}
	return sub
}

// waits reports whether another connection wants to be read.
func (b *inbox) waits() bool { return b != nil && b.in != nil && b.in.Waiting() }

// close ends it. A nil inbox is closed.
func (b *inbox) close() {
	if b != nil && b.in != nil {
		_ = b.in.Close()
	}
}
