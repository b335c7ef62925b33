package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
)

// play is a turn on its way.
type play struct {
	id      string
	session *live
	req     *fleet.Request
	asked   []uint64 // hashes that the index is asked for
	arrived time.Duration
	worker  int
	need    route.Need
	held    bool          // by the gate
	until   time.Duration // at the latest
	touch   bool          // no turn: the router asks for a session's prompt again
	due     int           // tokens that the turn before and it have in common
	away    time.Duration // since that; -1 of a first turn
}

// sim is a run.
type sim struct {
	c       Config
	t       *trace.Trace
	now     time.Duration
	end     time.Duration
	agenda  agenda
	load    *load
	hash    *hasher
	router  *router
	workers []*fleet.Worker
	version []int
	queue   route.Queue
	waits   map[string]*play
	gated   []*play       // held back, in the order they came
	gatedAt time.Duration // when they were looked at
	plays   []*play       // by fleet.Request.Owner
	spare   []int         // of plays
	nonce   uint64
	turns   int
	lost    *rand.Rand
	tally   tally
	touches touches
	ideals  []*ideal // by worker; none where engines evict by LRU
}

// Run plays a trace once.
func Run(ctx context.Context, t *trace.Trace, c Config) (*Result, error) {
	c = c.Fill(t)
	if err := c.check(t); err != nil {
		return nil, err
	}
	began := time.Now()
	s, err := newSim(t, c)
	if err != nil {
		return nil, err
	}
	for n := 0; len(s.agenda.heap) > 0; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		e := s.agenda.take()
		if s.end > 0 && e.at > s.end {
			break
		}
		s.now = e.at
		if e.session != nil {
			s.arrive(e.session)
		} else if e.gate {
			s.regate(true)
		} else if e.touch {
			s.retouch(e.worker)
		} else if e.version == s.version[e.worker] {
			s.finish(s.workers[e.worker])
		}
	}
	return s.result(time.Since(began)), nil
}

func newSim(t *trace.Trace, c Config) (*sim, error) {
	s := &sim{c: c, t: t, waits: map[string]*play{}, lost: rand.New(rand.NewPCG(c.Seed, 11))}
	s.queue.Limit = 1 << 20
	var err error
	if s.load, err = newLoad(&s.c, t); err != nil {
		return nil, err
	}
	if s.router, err = newRouter(&s.c, func() time.Time { return epoch.Add(s.now) }); err != nil {
		return nil, err
	}
	s.hash = newHasher(s.router.index.Seed(""), c.Block, t.Block)
	for i := range c.Workers {
		s.workers = append(s.workers, fleet.NewWorker(i, c.Profile, c.Block, max(c.KV, 0)))
		c.Host.give(s.workers[i], &c)
		s.evict(s.workers[i])
	}
	if c.Host != nil {
		s.router.workers = s.workers
	}
	s.touches.begin(s)
	s.version = make([]int, c.Workers)
	s.tally.init(&s.c)
	if c.Measure > 0 {
		s.end = c.Warm + c.Measure
	}
	for _, l := range s.load.begin() {
		s.agenda.put(event{at: l.due, session: l})
	}
	return s, nil
}

// arrive brings a session's next turn to the router.
func (s *sim) arrive(l *live) {
	req, blocks := l.request(s.hash, &s.nonce)
	s.turns++
	p := &play{session: l, req: req, arrived: s.now, worker: -1, id: strconv.Itoa(s.turns)}
	s.touches.arrives(p, s.now)
	p.asked = req.Chain[:min(blocks, (req.Prompt-1)/s.c.Block)]
	req.Owner = s.keep(p)
	if !s.workers[0].Fits(req) {
		s.tally.refused++
		s.ended(p)
		return
	}
	s.enter(p)
}

// enter lets a turn past the gate, or holds it back.
func (s *sim) enter(p *play) {
	s.router.tell(s.now, s.c.Lag, s.c.Block)
	if s.c.Gate != route.Open {
		s.router.look(p, epoch.Add(s.now))
		if holds, until := s.router.holds(p, epoch.Add(s.now)); holds {
			if !p.held {
				p.held = true
				s.tally.held++
			}
			s.gated = append(s.gated, p)
			if at := max(until.Sub(epoch), s.now+1); at != p.until {
				p.until = at
				s.agenda.put(event{at: at, gate: true})
			}
			return
		}
	}
	if s.queue.Len() == 0 && s.place(p) {
		return
	}
	s.waits[p.id] = p
	s.tally.queued++
	if err := s.queue.Push(route.Item{ID: p.id, Arrived: epoch.Add(s.now), Effective: epoch.Add(s.now)}); err != nil {
		panic(fmt.Sprint("replay: ", err)) // the queue has no limit, and ids differ
	}
}

// regate looks at the turns that the gate holds, in the order they came, four
// times a second at most.
func (s *sim) regate(due bool) {
	if len(s.gated) == 0 || !due && s.now-s.gatedAt < 250*time.Millisecond {
		return
	}
	s.gatedAt = s.now
	list := s.gated
	s.gated = nil
	for _, p := range list {
		s.enter(p)
	}
}

// epoch is the beginning of simulated time.
var epoch = time.Unix(1_700_000_000, 0)

// keep gives a play its number.
func (s *sim) keep(p *play) int {
	if n := len(s.spare); n > 0 {
		i := s.spare[n-1]
		s.spare, s.plays[i] = s.spare[:n-1], p
		return i
	}
	s.plays = append(s.plays, p)
	return len(s.plays) - 1
}

// place sends a turn to a worker; false means that it has to wait.
func (s *sim) place(p *play) bool {
	s.router.tell(s.now, s.c.Lag, s.c.Block)
	now := epoch.Add(s.now)
	s.router.look(p, now)
	worker, overlap, d := s.router.pick(p)
	if worker < 0 {
		if d.Wait() {
			return false
		}
		s.tally.refused++
		s.ended(p)
		return true
	}
	p.worker = worker
	l := p.session
	if l.home >= 0 && l.home != worker {
		s.tally.moved(s.now)
	}
	if l.home == worker {
		p.req.Hint = l.slots
	}
	l.home, l.slots = worker, nil
	s.router.sent(p, overlap, now)
	w := s.workers[worker]
	if s.c.Engine == Blocks {
		w.Serve(p.req, s.now)
		s.after(w)
		return true
	}
	w.Submit(p.req, s.now)
	s.schedule(w)
	return true
}

// schedule puts the end of a worker's steps on the agenda.
func (s *sim) schedule(w *fleet.Worker) {
	if at, ok := w.Next(); ok {
		s.version[w.ID]++
		s.agenda.put(event{at: at, worker: w.ID, version: s.version[w.ID]})
	}
}

// finish ends the steps of a worker.
func (s *sim) finish(w *fleet.Worker) {
	w.Finish(s.now)
	s.schedule(w)
	s.after(w)
}

// after looks at what a worker has done.
func (s *sim) after(w *fleet.Worker) {
	s.emit(w)
	for _, r := range w.Firsts {
		if s.plays[r.Owner].touch {
			continue
		}
		s.router.books.First(epoch.Add(s.now), s.plays[r.Owner].id)
	}
	for _, r := range w.Ended {
		p := s.plays[r.Owner]
		if p.touch {
			s.touched(p)
			continue
		}
		s.touches.ended(p, s.now)
		if s.ideals != nil {
			s.ideals[w.ID].ended(p.session, r)
		}
		s.router.ended(p, epoch.Add(s.now), p.session.turn+1 >= p.session.turns)
		p.session.slots = r.Slots()
		s.tally.turn(s.now, p)
		if s.c.Each != nil {
			s.c.Each(Done{p.session.name, p.worker, p.arrived, r.First, r.Ended, r.Prompt, r.Cached, r.Output})
		}
		s.ended(p)
	}
	if len(w.Firsts)+len(w.Ended) > 0 {
		s.pump()
		s.regate(false)
	}
}

// emit hands a worker's events to the router, but for those that are lost.
func (s *sim) emit(w *fleet.Worker) {
	if s.c.Loss == 0 {
		s.router.hear(w.Events)
	} else {
		for _, e := range w.Events {
			if s.lost.Float64() >= s.c.Loss {
				s.router.hear([]fleet.Event{e})
			}
		}
	}
	clear(w.Events)
	w.Events = w.Events[:0]
}

// pump places turns that wait, as long as there is room.
func (s *sim) pump() {
	for {
		it, ok := s.queue.Peek()
		if !ok || !s.place(s.waits[it.ID]) {
			return
		}
		s.queue.Pop()
		delete(s.waits, it.ID)
	}
}

// ended goes on with the session of a turn that is over.
func (s *sim) ended(p *play) {
	s.plays[p.req.Owner] = nil
	s.spare = append(s.spare, p.req.Owner)
	l := p.session
	l.turn++
	kids := s.load.spawn(l, s.now)
	for _, k := range kids {
		s.agenda.put(event{at: k.due, session: k})
	}
	l.kids += len(kids)
	if l.turn < l.turns {
		u := &l.src.Turns[l.turn]
		l.due = s.now + min(u.Pause, s.c.MaxPause)
		if s.c.Open && !s.t.Paused {
			l.due = max(s.now, time.Duration(float64(l.src.At+u.At)/s.c.Speed))
		}
		if l.kids == 0 {
			s.agenda.put(event{at: l.due, session: l})
		}
		return
	}
	switch {
	case l.parent != nil:
		s.kidEnded(l.parent)
	case !s.c.Open:
		n := s.load.after(s.now)
		s.agenda.put(event{at: n.due, session: n})
	}
}

// kidEnded lets a parent go on when all its sub-agents have ended.
func (s *sim) kidEnded(l *live) {
	if l.kids--; l.kids == 0 && l.turn < l.turns {
		s.agenda.put(event{at: max(l.due, s.now+time.Second), session: l})
	}
}
