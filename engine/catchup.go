package engine

import (
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/agentinfer/dyn/engine/zmtp"
)

// endMark is the number of the message that ends a replay.
const endMark = math.MaxUint64

// askLimit is how often the rest of a replay is asked for. libzmq drops what
// is more than 1,000 messages ahead of us, and engines keep 10,000.
const askLimit = 64

// fill asks for what is missing before a live batch, and forgets all when it
// cannot be had. It is false for a batch that the engine's present life did not
// make: one of the life before that was on its way yet.
func (f *feed) fill(ctx context.Context, seq uint64) bool {
	whole, some := f.catchUp(ctx)
	if f.order.next >= seq {
		return true
	}
	if whole && some {
		return false
	}
	f.lose()
	f.order.skip(seq)
	return true
}

// catchUp asks for all that was published since the last batch that was taken.
// whole tells that the server answered, so that what is known is of its present
// life and has no holes, and some that it has kept anything for an answer.
func (f *feed) catchUp(ctx context.Context) (whole, some bool) {
	if f.replay == "" {
		return false, false
	}
	quick, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	d, err := zmtp.DialDealer(quick, f.replay)
	if err != nil {
		return false, false
	}
	defer d.Close()
	defer context.AfterFunc(ctx, func() { d.Close() })()
	for range askLimit {
		before := f.order.next
		whole, some = f.ask(d)
		if whole || f.order.next == before {
			break
		}
	}
	return whole, some
}

// ask sends one request and takes the answers. It reports whether all came, the
// end mark included, and whether any did: routers drop what their queue does not hold, and then the
// rest has to be asked for again.
//
// The last batch that was taken is asked for again, too: a server that has
// another one with this number, or none, is in another life.
func (f *feed) ask(d *zmtp.Dealer) (whole, some bool) {
	a := answers{feed: f, from: f.order.next}
	if a.from > 0 {
		a.from--
		a.proving = true
	}
	_ = d.SetDeadline(time.Now().Add(replayLimit))
	if d.Send(nil, binary.BigEndian.AppendUint64(nil, a.from)) != nil {
		return false, false
	}
	for {
		_ = d.SetDeadline(time.Now().Add(replayLimit))
		frames, err := d.Recv()
		if err != nil {
			return false, a.began
		}
		seq, payload, ok := parts(frames)
		if !ok {
			return false, a.began
		}
		if seq == endMark {
			return a.end(), a.began
		}
		a.take(seq, payload)
	}
}

// answers are those to one request.
type answers struct {
	feed    *feed
	from    uint64 // what was asked for
	proving bool   // the first one is to be the last that was taken
	began   bool   // some came
	spoiled bool   // the rest is of no use: it has to be asked for again
}

// take takes one batch, in order.
func (a *answers) take(seq uint64, payload []byte) {
	f := a.feed
	switch {
	case seq < a.from || a.spoiled:
		return
	case a.proving:
		a.proving = false
		if was, ok := f.order.sum(seq); seq == a.from {
			if a.began = ok && was == xxh3.Hash(payload); !a.began {
				a.other()
				a.spoiled = true
			}
			return
		}
	case seq < f.order.next:
		return
	}
	if seq > f.order.next && a.began { // some were dropped on the way
		a.spoiled = true
		return
	}
	if !a.began && seq > 0 { // the server keeps no older ones
		f.lose()
		f.order.skip(seq)
	}
	a.began = true
	f.take(seq, payload)
}

// end reports whether all came. A server that has not made what was taken is
// in another life.
func (a *answers) end() bool {
	if a.proving {
		a.other()
		return false
	}
	return !a.spoiled
}

// other begins the life that was found.
func (a *answers) other() {
	a.feed.begin()
	a.feed.another = true
}
