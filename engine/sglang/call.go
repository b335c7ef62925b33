package sglang

import (
	"context"
	"time"

	"github.com/agentinfer/dyn/engine/exchange"
	"github.com/agentinfer/dyn/engine/remote"
)

// call is an answer that is aborted at the server before its connection is
// closed, whoever ends it: Close, or the end of the context that it was asked
// with. Read is for one goroutine, Close for any.
type call struct {
	*exchange.Answer
	live   context.Context // its end aborts the answer, then closes the connection
	hangUp context.CancelCauseFunc
	keep   func() bool // lets go of live; false when it has ended already
}

// call posts a body that asks for a stream, under the name rid.
func (c *client) call(ctx context.Context, path, rid, id string, body ...[]byte) (*call, error) {
	live, hangUp := context.WithCancelCause(ctx)
	wire, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(live, func() { // abort first, close then
		c.abort(rid)
		cut(context.Cause(live))
	})
	a, err := c.server.Answer(wire, path, id, body...)
	if err != nil {
		stop()
		hangUp(nil)
		cut(nil)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, err
	}
	return &call{Answer: a, live: live, hangUp: hangUp, keep: stop}, nil
}

// Close aborts what still runs. It does not wait for that.
func (a *call) Close() error {
	a.hangUp(context.Canceled)
	return nil
}

// Done is for a reader who has all: the connection is kept.
func (a *call) Done() error {
	if !a.keep() {
		return nil // it is being closed
	}
	a.hangUp(nil)
	return a.Answer.Done()
}

// abortLimit is how long an abort may take before the connection is closed
// without it.
const abortLimit = 500 * time.Millisecond

// abort ends a request at the server. Whether it did is not known: an id that
// the server does not have is no error there.
func (c *client) abort(rid string) {
	ctx, cancel := context.WithTimeout(context.Background(), abortLimit)
	defer cancel()
	var b remote.Body
	b.Text("rid", rid)
	_, _ = c.server.Post(ctx, "/abort_request", b.Bytes()) // the connection is closed next
}
