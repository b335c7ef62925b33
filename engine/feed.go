package engine

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

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
// numbers is filled by a replay, see catchup.go, and where that cannot be had
// all is forgotten and learned anew. A new connection that we make may be to a
// new life of the engine: a replay shows whether it is, and without one all is
// forgotten too.
type feed struct {
	worker  *Worker
	events  string
	inbox   *inbox // where the engine connects to us, and events is not dialed; nil when it does not
	replay  string
	relearn func()        // asks the engine to tell again what it holds
	synced  chan struct{} // closed when the first try to catch up is over
	read    kvevent.Decoder
	order   order
	sized   bool // the block size was seen in this life
	another bool // a replay has shown that this is another life than before
	redial  time.Duration
	first   sync.Once

	subscribed atomic.Bool // events arrive
	replayed   atomic.Bool // lost events could be asked for
	stale      atomic.Bool // all is to be learnt anew
	hangUp     atomic.Pointer[context.CancelFunc]
}

func newFeed(w *Worker, seen Seen, in *inbox) *feed {
	return &feed{
		worker: w, events: seen.Events, inbox: in, replay: seen.Replay, relearn: func() {}, synced: make(chan struct{}), redial: redial,
	}
}

// can reports whether there is anything to read.
func (f *feed) can() bool { return f.events+f.replay != "" || f.inbox != nil }

// sees reports whether events arrive, and whether lost ones can be had.
func (f *feed) sees() (events, replay bool) { return f.subscribed.Load(), f.replayed.Load() }

// anew has all forgotten and learnt anew, over a new connection, since the old
// one may be why it has to be. Any goroutine may call it.
func (f *feed) anew() {
	f.stale.Store(true)
	if end := f.hangUp.Load(); end != nil {
		(*end)()
	}
}

// run reads until ctx ends.
func (f *feed) run(ctx context.Context) {
	defer f.first.Do(func() { close(f.synced) })
	f.begin()
	for before := false; ctx.Err() == nil && f.can(); {
		if f.stale.Swap(false) {
			f.begin()
		}
		sub := f.subscribe(ctx)
		whole, _ := f.catchUp(ctx)
		if sub != nil && before && !whole && f.inbox == nil {
			f.begin() // nobody can tell what was missed, or whether it is the same life
		}
		before = before || sub != nil
		f.caughtUp(whole, sub != nil)
		f.first.Do(func() { close(f.synced) })
		f.another = false
		if sub != nil {
			f.listen(ctx, sub)
			sub.Close()
			f.worker.hurry() // it may be gone
			f.caughtUp(f.replayed.Load(), false)
		}
		if f.inbox != nil || f.stale.Load() || f.another {
			continue // the inbox waits in subscribe
		}
		select {
		case <-ctx.Done():
		case <-time.After(f.redial):
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

// listen takes live batches until the connection ends, or is found to be that
// of a life that has ended: what it still brings would be taken for the new
// one's.
func (f *feed) listen(ctx context.Context, sub *zmtp.Sub) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(ctx, func() { sub.Close() })()
	f.hangUp.Store(&cancel)
	settled := f.stale.Load() // then it ends at once
	_ = sub.SetDeadline(time.Now().Add(settle))
	for !f.stale.Load() && !f.another {
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
		if seq, payload, ok := parts(frames); ok && seq != endMark {
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
	here := true
	switch f.order.see(seq, xxh3.Hash(payload)) {
	case known:
		return
	case reborn:
		f.begin()
		here = f.fill(ctx, seq)
	case gap:
		here = f.fill(ctx, seq)
	}
	f.order.live = max(f.order.live, seq+1)
	if here && seq >= f.order.next { // else the replay brought it along
		f.take(seq, payload)
	}
}

// take decodes a batch and hands it on. What cannot be read of it may have told
// that blocks are gone, and they would be believed in for ever.
func (f *feed) take(seq uint64, payload []byte) {
	f.order.take(seq, xxh3.Hash(payload))
	events, s, err := f.read.Decode(nil, payload)
	n := s.Unknown + s.Malformed + s.Foreign
	if err != nil {
		n++
	}
	if n > 0 {
		f.worker.unusable(n)
	}
	f.size(events)
	if len(events) > 0 {
		f.worker.fleet.kv(turn.KVBatch{Worker: f.worker.name, Seq: seq, Events: events})
	}
	if err != nil || s.Blind > 0 {
		f.lose()
	}
}

// size takes the block size from the first store of a life. It is what counts,
// whatever a probe saw: some engines do not tell it, and of a model with
// several kinds of attention they tell another.
func (f *feed) size(events []turn.KVEvent) {
	for i := 0; i < len(events) && !f.sized; i++ {
		if e := &events[i]; e.Kind == turn.KVStored && len(e.Tokens) > 0 && e.BlockSize <= mostBlock {
			f.sized = true
			f.worker.sized(e.BlockSize)
		}
	}
}

// begin forgets all and begins a new life.
func (f *feed) begin() {
	f.order = order{}
	f.read = kvevent.Decoder{}
	f.sized = false
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
