package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/prompt/diff"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/server/tenant"
	"github.com/agentinfer/dyn/turn"
)

// Steps of a flight, for the screen.
const (
	waits    int32 = iota // in the router's queue
	prefills              // sent, no token yet
	streams               // tokens come
	landed
)

// flight is one turn on its way.
type flight struct {
	s *Server
	m *model
	t *turn.Turn
	a *session.Agent

	ctx    context.Context
	cancel context.CancelCauseFunc
	watch  func() // ends the watch of the client
	who    *tenant.Tenant
	let    bool        // a place of who's is to be given back
	input  []byte      // the request's own items, where the answer is to be kept
	choice int         // which of the answers it makes
	again  bool        // an earlier one has the same prompt
	bares  []plainJob  // of a plain completion, one for each prompt
	prompt turn.IDs    // as first sent
	twins  []*flight   // of the first: the flights of the other answers
	left   atomic.Bool // the client hung up

	// Before the flight departs.
	rolling  []uint64
	broke    *diff.Break    // where it parts from them; nil is nowhere
	lasting  int            // tokens that a later prompt begins with when a person speaks next
	known    *prompt.Hashes // of the messages; nil until render makes them
	exact    session.Exact
	marks    []prompt.Mark
	head     int              // tokens of the system and tools part, where a hint asks what it is worth
	tail     string           // what the prompt ends with, behind all messages
	thinks   bool             // the prompt ends inside open reasoning
	chains   map[int][]uint64 // block hashes of the prompt by block size
	lead     []uint32         // ids of the generation prompt, the last of the prompt
	job      turn.Job
	asked    int // tokens of the prompt as first sent
	limit    int // tokens that the whole answer may have
	demand   demand
	caller   caller     // whose turn it is, to the router
	unnamed  bool       // the client did not say
	original *turn.Turn // with the images that stand in t as what they hold; nil where there are none

	hidden   int  // images and documents of the prompt that are shown to the model as a fixed text
	textOnly bool // what looks like a call in the answer is none

	// Between the model's pump and fly.
	seats    chan placement       // room for one
	stand    standing             // guarded by the model's mutex
	lost     map[string]time.Time // workers to be kept from until then: lost ones for good; guarded by the model's mutex
	busy     bool                 // some were busy; fly's
	returned int                  // of row.Moved, how often it then went back; fly's
	unsent   time.Time            // when a worker first turned out not to be there; fly's

	untold  bool      // the worker was not told how long a chat's answer may be; fly's
	closing string    // of a call whose arguments are held to their schema; else ""
	args    []byte    // those, so far; fly's
	opening string    // of the answer, given with the prompt; the first delta takes it along
	opened  int       // ids of the opening
	onlyOne string    // stop string that holds the answer to one call
	said    []uint32  // the answer's ids so far; fly's until the last item
	told    int       // bytes of its text so far; fly's
	out     chan item // from fly to the consumer; nil where take is used
	step    atomic.Int32
	overlap atomic.Int64 // tokens, as decided
	tells   atomic.Bool  // the worker tells cached tokens
	leased  atomic.Pointer[leased]
	first   time.Time     // when the first token came; fly's until flown
	row     ledger.Turn   // fly's until flown, then the consumer's
	flown   chan struct{} // closed when fly ended; nil where the consumer itself flies

	take func(item) // is the consumer, of one that flies itself
}

// item is one step from fly to the consumer. The last one has End or err.
type item struct {
	choice int
	deltas []turn.Delta
	err    error
}

// depart starts the flight's life: from here on a client's FIN ends it.
func (f *flight) depart(c *call) {
	f.ctx, f.cancel = context.WithCancelCause(f.s.life)
	f.watch = f.s.watches.watch(c.Conn(), func() {
		f.left.Store(true)
		f.cancel(errLeft)
	})
	f.who, f.let, c.let, f.input = c.who, c.let, false, c.input
	if f.t.Stream || f.t.Answers() > 1 {
		f.out, f.flown = make(chan item, 16), make(chan struct{})
	}
	f.twins = f.others()
	for _, one := range f.all() {
		one.begin()
	}
}

// fly routes the turn and pulls its answer, moving on to another worker with
// what it has when one is lost. It sends items until the last one, or until
// the context ends.
func (f *flight) fly() {
	defer f.recovered()
	for {
		st, err := f.m.place(f.ctx, f)
		if errors.Is(err, errNoWorker) && (f.patient() || f.returns()) {
			continue
		}
		if err != nil {
			f.send(item{err: err})
			return
		}
		f.seated(st)
		err = f.pull(st)
		if err == nil {
			return
		}
		if !f.moves(st, err) {
			f.send(item{err: err})
			return
		}
	}
}

// beside is fly on a goroutine of its own.
func (f *flight) beside() {
	defer close(f.flown)
	deepen(0)
	f.fly()
}

// await waits until fly is over: the row and what was said are the caller's
// from then on.
func (f *flight) await() {
	if f.flown != nil {
		<-f.flown
	}
}

// deepen has a new goroutine's stack grow to what a flight needs while there
// is hardly anything on it to be moved: the frame of a call counts whole, used
// or not. Growing twice on the way was a sixtieth of a short turn.
//
//go:noinline
func deepen(use int) byte {
	if use == 0 {
		return 0
	}
	var room [6 << 10]byte
	room[use%len(room)]++
	return room[use/2]
}

// pull takes the answer of one worker. nil means that the end was sent.
func (f *flight) pull(st *seat) (err error) {
	before := len(f.said)
	defer func() {
		st.lost = err != nil && f.ctx.Err() == nil
		st.output = max(st.output, len(f.said)-before)
		st.left(f.verdict(err))
	}()
	stream, err := st.generate(f.ctx, f.jobAt(st))
	if err != nil {
		return err
	}
	defer stream.Close()
	read := f.gather(stream)
	for began := false; ; {
		ds, err := read.next()
		if err != nil {
			return err
		}
		ended := false
		for i := range ds {
			f.got(&ds[i], st)
			if ended = ds[i].End != nil; ended {
				st.ended(ds[i].End, len(f.said)-f.opened)
			} else if f.over(st) {
				ds[i].End = &turn.End{Reason: turn.Cut, Usage: turn.Usage{Prompt: f.asked, Output: len(f.said)}}
				ds, ended = ds[:i+1], true
				break
			}
		}
		if !began && len(ds[0].IDs) > 0 {
			began = true
			f.started(st)
			f.s.streaming.Add(1)
			defer f.s.streaming.Add(-1)
		}
		st.grew(len(f.said) - before)
		if !f.send(item{deltas: ds}) {
			return context.Cause(f.ctx)
		}
		if ended {
			return nil
		}
	}
}

// verdict is how a turn that ended at a worker fared there: the error when it
// is the worker's, nil when it went well. To be busy is no fault.
func (f *flight) verdict(err error) error {
	if err == nil || errors.Is(err, turn.ErrLost) && !errors.Is(err, turn.ErrBusy) && !errors.Is(err, turn.ErrUnsent) && f.ctx.Err() == nil {
		return err
	}
	return errUntold
}

// got completes a delta and keeps the answer's ids so far: to go on
// elsewhere, and as the raw turn.
func (f *flight) got(d *turn.Delta, st *seat) {
	if len(d.IDs) == 0 {
		if s := spoken(d); s != "" {
			d.IDs = f.m.Prompt.Tokenizer().Encode(nil, s) // the engine tells no ids
		}
	}
	said := d.Text
	if f.opening != "" && st.chat == "" {
		d.Text, f.opening = f.opening+d.Text, ""
	}
	ids := d.IDs
	if d.End != nil && d.End.StopID && len(ids) > 0 {
		ids = ids[:len(ids)-1]
	}
	f.said = append(f.said, ids...)
	if st.chat == "" {
		f.closed(d, said)
	}
	f.told += len(d.Text)
}

// moves says whether the flight goes on at another worker after err.
func (f *flight) moves(st *seat, err error) bool {
	if st.chat == "" && f.unhold(err) {
		f.advance(prefills, waits)
		return true
	}
	if !errors.Is(err, turn.ErrLost) || f.ctx.Err() != nil {
		return false
	}
	if errors.Is(err, turn.ErrBusy) { // nothing was lost, it only has no room now
		f.exclude(st.name, busyPause)
		f.busy = true
		f.advance(prefills, waits)
		return true
	}
	if errors.Is(err, turn.ErrUnsent) { // it is not why, and that the worker ended is not known yet
		if f.unsent.IsZero() {
			f.unsent = time.Now()
		}
		f.exclude(st.name, busyPause)
		f.busy = time.Since(f.unsent) < backLate
		f.advance(prefills, waits)
		return true
	}
	if st.chat != "" && len(f.said) > 0 {
		return false // a chat API cannot be told to go on
	}
	if f.row.Moved >= maxMoves || f.first.IsZero() && f.row.Moved > 0 {
		return false // a turn that lost two workers before its first token may be why
	}
	if rest := f.retreat(); rest != "" {
		f.told += len(rest)
		if !f.send(item{deltas: []turn.Delta{{Text: rest}}}) {
			return false
		}
	}
	if f.spoke() {
		f.free() // a grammar would begin anew
	}
	left := f.limit - len(f.said)
	if left <= 0 {
		return false
	}
	f.job.MaxTokens = left
	f.job.Prompt = f.job.Prompt.Cut(f.asked).Append(f.said)
	f.row.Moved++
	f.exclude(st.name, forGood)
	f.extend()
	f.advance(prefills, waits)
	f.s.count.moved.Add(1)
	return true
}

// forGood is longer than any turn takes.
const forGood = 24 * time.Hour

// exclude keeps the flight from a worker for a time.
func (f *flight) exclude(worker string, pause time.Duration) {
	f.m.mu.Lock()
	defer f.m.mu.Unlock()
	if f.lost == nil {
		f.lost = map[string]time.Time{}
	}
	f.lost[worker] = time.Now().Add(pause)
}

// avoids reports whether the flight is kept from a worker now, or needs what
// it cannot; the model's mutex must be held.
func (f *flight) avoids(worker string) bool {
	if f.cannot(worker) {
		return true
	}
	until, ok := f.lost[worker]
	return ok && time.Now().Before(until)
}

// cannot reports whether a worker could not take the flight in any of its
// lives; the model's mutex must be held.
func (f *flight) cannot(worker string) bool {
	b := f.m.members[worker]
	return b != nil && (!f.demand.meets(worker, b.info.Caps) || f.spoke() && f.m.way(f, b) != "")
}

// patient waits when workers refused the flight for load and no other is
// left: after a moment they are asked again. It is false when nobody refused,
// or the flight is over.
func (f *flight) patient() bool {
	if !f.busy {
		return false
	}
	f.busy = false
	f.m.mu.Lock()
	clear(f.lost)
	f.m.mu.Unlock()
	select {
	case <-time.After(busyPause):
		return true
	case <-f.ctx.Done():
		return false
	}
}

// returns waits when a flight lost its worker and there is no other: that
// worker may only have cut the answer, and is asked again, once for each time
// it was lost.
func (f *flight) returns() bool {
	if f.returned == f.row.Moved {
		return false
	}
	f.returned = f.row.Moved
	f.busy = true
	return f.patient()
}

// send hands an item to the consumer; false when the flight is over.
func (f *flight) send(it item) bool {
	it.choice = f.choice
	if f.take != nil {
		f.take(it)
		return true
	}
	select {
	case f.out <- it:
		return true
	case <-f.ctx.Done():
		return false
	}
}

// recovered turns a panic of fly into an error of this one turn.
func (f *flight) recovered() {
	if p := recover(); p != nil {
		f.s.panicked(p)
		f.send(item{err: fmt.Errorf("internal error: %v", p)})
	}
}

// parser makes a parser of the flight's answer. spoken says that the answer
// begins with visible text, whatever the prompt ends with.
func (f *flight) parser(spoken bool) *parsers.Stream {
	return f.format().Open(parsers.Options{
		Tail: f.tail, Thinks: f.thinks, Spoken: spoken, Offered: f.t.Tools,
		NewID: func() string { return dialect.NewCallID(f.t.Dialect) },
	})
}
