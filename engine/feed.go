package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/engine/kvevent"
	"github.com/agentinfer/dyn/engine/zmtp"
	"github.com/agentinfer/dyn/turn"
)

// Waits of a feed: for a connection; for one replayed batch; before a lost
// connection is tried again, or for the engine to connect; after connecting,
// before it asks once more what was sent while the subscription was on its way;
// and for a word of who has connected, when another one waits to be heard.
const (
	dialLimit   = 5 * time.Second
	replayLimit = 2 * time.Second
	redial      = time.Second
	settle      = time.Second
	courtesy    = 2 * time.Second
)

// feed reads the KV events of one server and hands them on in order. Publishers
// lose what a subscriber does not take and say nothing, so a hole in the
// numbers is filled by a replay, and where that cannot be had all is forgotten
// and learned anew. A new connection that we make may be to a new life of the
// engine, hence it begins with forgetting too.
type feed struct {
	worker  *Worker
	events  string
	inbox   *inbox // where the engine connects to us, and events is not dialed; nil when it does not
	replay  string
	relearn func()        // asks the engine to tell again what it holds
	synced  chan struct{} // closed when the first try to catch up is over
	read    kvevent.Decoder
	order   order
	first   sync.Once

	subscribed atomic.Bool // events arrive
	replayed   atomic.Bool // lost events could be asked for
}

func newFeed(w *Worker, seen Seen, in *inbox) *feed {
	return &feed{
		worker: w, events: seen.Events, inbox: in, replay: seen.Replay, relearn: func() {}, synced: make(chan struct{}),
	}
}

// can reports whether there is anything to read.
func (f *feed) can() bool { return f.events+f.replay != "" || f.inbox != nil }

// sees reports whether events arrive, and whether lost ones can be had.
func (f *feed) sees() (events, replay bool) { return f.subscribed.Load(), f.replayed.Load() }

// run reads until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer f.first.Do(func() { close(f.synced) })
	f.forget()
	for ctx.Err() == nil && f.can() {
		sub := f.subscribe(ctx)
		if sub != nil && f.order.live > 0 && f.inbox == nil { // it was connected before
			f.forget()
		}
		f.caughtUp(f.catchUp(ctx), sub != nil)
		f.first.Do(func() { close(f.synced) })
		if sub != nil {
			f.listen(ctx, sub)
			sub.Close()
			f.worker.hurry() // it may be gone
			f.caughtUp(f.replayed.Load(), false)
		}
		if f.inbox != nil {
			continue // which waits in subscribe
		}
		select {
		case <-ctx.Done():
		case <-time.After(redial):
		}
	}
}

// subscribe connects to the publisher, or waits a moment for the publisher to
// connect; nil when that does not come about.
func (f *feed) subscribe(ctx context.Context) *zmtp.Sub {
	if f.inbox != nil {
		ctx, cancel := context.WithTimeout(ctx, redial)
		defer cancel()
		return f.inbox.next(ctx)
	}
	if f.events == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	sub, err := zmtp.DialSub(ctx, f.events)
	if err != nil {
		return nil
	}
	return sub
}

// caughtUp notes what works. Where nobody publishes to us but a replay can be
// had, asking for it again and again is a feed too.
func (f *feed) caughtUp(replay, live bool) {
	live = live || replay
	if f.replayed.Swap(replay) == replay && f.subscribed.Load() == live {
		return
	}
	f.subscribed.Store(live)
	f.worker.capable(live, replay)
}

// listen takes live batches until the connection ends.
func (f *feed) listen(ctx context.Context, sub *zmtp.Sub) {
	defer context.AfterFunc(ctx, func() { sub.Close() })()
	settled := false
	_ = sub.SetDeadline(time.Now().Add(settle))
	for {
		frames, err := sub.Recv()
		quiet := errors.Is(err, os.ErrDeadlineExceeded)
		if quiet && !settled {
			f.catchUp(ctx)
		}
		settled = true
		if err != nil && (!quiet || f.inbox.waits()) {
			return
		}
		_ = sub.SetDeadline(f.patience())
		if quiet {
			continue
		}
		if seq, payload, ok := parts(frames); ok {
			f.live(ctx, seq, payload)
		}
	}
}

// patience is until when one publisher may be silent: for ever where there is
// only one.
func (f *feed) patience() time.Time {
	if f.inbox == nil {
		return time.Time{}
	}
	return time.Now().Add(courtesy)
}

// live handles one batch that was published just now.
func (f *feed) live(ctx context.Context, seq uint64, payload []byte) {
	switch f.order.see(seq) {
	case known:
		return
	case reborn:
		f.forgetAll()
		if seq > 0 {
			f.fill(ctx, seq)
		}
	case gap:
		f.fill(ctx, seq)
	}
	if seq >= f.order.next { // else the replay brought it along
		f.take(seq, payload)
	}
}

// fill asks for what is missing before seq, and forgets all when it cannot be
// had whole.
func (f *feed) fill(ctx context.Context, seq uint64) {
	f.catchUp(ctx)
	if f.order.next < seq {
		f.lose()
		f.order.next = seq
	}
}

// catchUp asks for all from the next batch on. It reports whether the server
// answered.
func (f *feed) catchUp(ctx context.Context) bool {
	if f.replay == "" {
		return false
	}
	quick, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	d, err := zmtp.DialDealer(quick, f.replay)
	if err != nil {
		return false
	}
	defer d.Close()
	defer context.AfterFunc(ctx, func() { d.Close() })()
	for {
		before := f.order.next
		whole := f.ask(d)
		if whole || f.order.next == before {
			return whole
		}
	}
}

// ask sends one request and takes the answers. It reports whether the end
// mark came: routers drop what their queue does not hold, the mark included,
// and then the rest has to be asked for again.
func (f *feed) ask(d *zmtp.Dealer) bool {
	_ = d.SetDeadline(time.Now().Add(replayLimit))
	if d.Send(nil, binary.BigEndian.AppendUint64(nil, f.order.next)) != nil {
		return false
	}
	for {
		_ = d.SetDeadline(time.Now().Add(replayLimit))
		frames, err := d.Recv()
		if err != nil {
			return false
		}
		seq, payload, ok := parts(frames)
		if !ok {
			return false
		}
		if seq == math.MaxUint64 {
			return true
		}
		if seq > f.order.next { // the engine keeps no older ones
			f.lose()
		}
		if seq >= f.order.next {
			f.take(seq, payload)
		}
	}
}

// take decodes a batch and hands it on.
func (f *feed) take(seq uint64, payload []byte) {
	f.order.take(seq)
	events, s, err := f.read.Decode(nil, payload)
	n := s.Unknown + s.Malformed + s.Foreign
	if err != nil {
		n++
	}
	if n > 0 {
		f.worker.unusable(n)
	}
	if len(events) > 0 {
		f.worker.fleet.kv(turn.KVBatch{Worker: f.worker.name, Seq: seq, Events: events})
	}
}

// forget begins a new life.
func (f *feed) forget() {
	f.order = order{}
	f.read = kvevent.Decoder{}
	f.forgetAll()
}

// lose forgets all, since what is missing cannot be had. The engine still holds
// blocks that nobody knows of then, and says nothing more of them unless it is
// asked to.
func (f *feed) lose() {
	f.forgetAll()
	f.relearn()
}

// forgetAll tells that nothing of what came before can be relied on.
func (f *feed) forgetAll() { f.worker.fleet.kv(restartBatch(f.worker.name)) }

func restartBatch(worker string) turn.KVBatch {
	return turn.KVBatch{Worker: worker, Events: []turn.KVEvent{{Kind: turn.KVRestart}}}
}

// parts finds number and payload of a message: the last two frames, whatever
// comes before them in this or that release.
func parts(frames [][]byte) (seq uint64, payload []byte, ok bool) {
	n := len(frames)
	if n < 2 || len(frames[n-2]) != 8 {
		return 0, nil, false
	}
	return binary.BigEndian.Uint64(frames[n-2]), frames[n-1], true
}
