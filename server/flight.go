package server

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/parsers"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/server/session"
	"github.com/agentinfer/dyn/turn"
	"github.com/valyala/fasthttp"
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
	cancel context.CancelFunc
	watch  func()      // ends the watch of the client
	left   atomic.Bool // the client hung up

	// Before the flight departs.
	rolling []uint64
	marks   []prompt.Mark
	thinks  bool             // the prompt ends inside open reasoning
	chains  map[int][]uint64 // block hashes of the prompt by block size
	job     turn.Job
	asked   int // tokens of the prompt as first sent

	// Between the model's pump and fly.
	seats chan placement  // room for one
	lost  map[string]bool // workers that were lost on the way; guarded by the model's mutex

	said    []uint32  // the answer's ids so far; fly's until the last item
	out     chan item // from fly to the consumer
	step    atomic.Int32
	overlap atomic.Int64  // tokens, as decided
	first   time.Time     // when the first token came; fly's until flown
	row     ledger.Turn   // fly's until flown, then the consumer's
	flown   chan struct{} // closed when fly ended
}

// item is one step from fly to the consumer. The last one has End or err.
type item struct {
	delta turn.Delta
	err   error
}

// identify finds whose turn it is.
func (s *Server) identify(t *turn.Turn, m *model) *flight {
	f := &flight{s: s, m: m, t: t, seats: make(chan placement, 1), out: make(chan item, 16), flown: make(chan struct{}), lost: map[string]bool{}}
	f.rolling = prompt.Rolling(nil, t)
	f.a = s.sessions.Find(t, f.rolling, t.Arrived)
	return f
}

// render makes the prompt's ids and checks that they fit.
func (f *flight) render() error {
	f.a.Turn.Lock()
	p, err := f.m.Prompt.Build(&f.a.State, f.t, f.rolling, f.m.raw)
	f.a.Turn.Unlock()
	if err != nil {
		return &dialect.Problem{Kind: dialect.Invalid, Message: err.Error()}
	}
	limit := f.m.context()
	if limit == 0 {
		return unavailable(f.m.ID)
	}
	if len(p.IDs) >= limit {
		return &dialect.Problem{Kind: dialect.TooLong, Prompt: len(p.IDs), Limit: limit}
	}
	room := limit - len(p.IDs)
	if f.t.MaxTokens > 0 {
		room = min(room, f.t.MaxTokens)
	}
	f.marks, f.thinks, f.asked = p.Marks, p.Thinks, len(p.IDs)
	f.job = turn.Job{
		ID: f.t.ID, Prompt: p.IDs, MaxTokens: room, Stop: f.t.Stop, StopIDs: f.m.Prompt.StopIDs(),
		Sampling: f.t.Sampling, Salt: f.t.Salt, Priority: f.t.Hints.Priority,
	}
	return nil
}

// chain hashes the prompt's blocks, once per block size that workers use.
func (f *flight) chain() {
	seed := cache.SaltSeed("", f.t.Salt)
	f.chains = make(map[int][]uint64, 1)
	for _, block := range f.m.blocks() {
		f.chains[block] = cache.Extend(make([]uint64, 0, len(f.job.Prompt)/block), seed, f.job.Prompt, block)
	}
}

// depart starts the flight's life: from here on a client's FIN ends it.
func (f *flight) depart(c *fasthttp.RequestCtx) {
	f.ctx, f.cancel = context.WithCancel(f.s.life)
	f.watch = watch(c.Conn(), func() {
		f.left.Store(true)
		f.cancel()
	})
	f.begin()
}

// fly routes the turn and pulls its answer, moving on to another worker with
// what it has when one is lost. It sends items until the last one, or until
// the context ends.
func (f *flight) fly() {
	defer close(f.flown)
	defer f.recovered()
	for {
		st, err := f.m.place(f.ctx, f)
		if err != nil {
			f.send(item{err: err})
			return
		}
		f.seated(st)
		err = f.pull(st)
		st.left()
		if err == nil {
			return
		}
		if !f.moves(st, err) {
			f.send(item{err: err})
			return
		}
	}
}

// pull takes the answer of one worker. nil means that the end was sent.
func (f *flight) pull(st *seat) error {
	stream, err := st.generate(f.ctx, f.job)
	if err != nil {
		return err
	}
	defer stream.Close()
	for {
		d, err := stream.Next()
		if err != nil {
			return err
		}
		if len(d.IDs) == 0 && d.Text != "" {
			d.IDs = f.m.Prompt.Tokenizer().Encode(nil, d.Text) // the engine tells no ids
		}
		if len(d.IDs) > 0 && f.step.CompareAndSwap(prefills, streams) {
			f.started(st)
		}
		f.got(d)
		if !f.send(item{delta: d}) {
			return f.ctx.Err()
		}
		if d.End != nil {
			return nil
		}
	}
}

// got keeps the answer's ids so far: to go on elsewhere, and as the raw turn.
func (f *flight) got(d turn.Delta) {
	ids := d.IDs
	if d.End != nil && d.End.StopID && len(ids) > 0 {
		ids = ids[:len(ids)-1]
	}
	f.said = append(f.said, ids...)
}

// moves says whether the flight goes on at another worker after err.
func (f *flight) moves(st *seat, err error) bool {
	if !errors.Is(err, turn.ErrLost) || f.ctx.Err() != nil {
		return false
	}
	left := f.row.MaxTokens - len(f.said)
	if left <= 0 || f.row.Moved >= maxMoves {
		return false
	}
	f.job.MaxTokens = left
	f.job.Prompt = append(f.job.Prompt[:f.asked:f.asked], f.said...)
	f.row.Moved++
	f.m.mu.Lock()
	f.lost[st.name] = true
	f.m.mu.Unlock()
	f.chain()
	f.step.CompareAndSwap(prefills, waits)
	f.s.count.moved.Add(1)
	return true
}

// send hands an item to the consumer; false when the flight is over.
func (f *flight) send(it item) bool {
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

// parser makes the flight's parser.
func (f *flight) parser() (*parsers.Stream, error) {
	known := make([]string, len(f.t.Tools))
	for i, tool := range f.t.Tools {
		known[i] = tool.Name
	}
	return parsers.New(parsers.Options{
		Tools: f.m.Tools, Reasoning: f.m.Reasoning, Thinks: f.thinks, Known: known,
		NewID: func() string { return dialect.NewCallID(f.t.Dialect) },
	})
}
