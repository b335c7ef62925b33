package core

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/engine/sim/brain"
	"github.com/agentinfer/dyn/engine/sim/kv"
	"github.com/agentinfer/dyn/engine/sim/pace"
	"github.com/agentinfer/dyn/engine/sim/sched"
	"github.com/agentinfer/dyn/prompt/bpe"
)

// Config says what an engine is.
type Config struct {
	Blocks    int // of the KV cache, the reserved one included
	BlockSize int // tokens
	Budget    int // tokens computed in one step
	Slots     int // answers that run at once
	Priority  bool
	MaxOpen   int // asks that run and wait; 0 is any number

	Profile pace.Profile
	Speed   float64 // 1 takes the modelled time, 2 half of it, 0 none

	Tokenizer *bpe.Tokenizer
	End       uint32 // the model's end token
	Filler    uint32 // said where nothing is scripted and the end must wait

	Publish func([]kv.Event) // called by Run once a step with events; nil is none
	Crash   func()           // a scripted crash; nil is Die
}

// Engine computes answers. Make one with New, start Run; the other methods
// may be called from any goroutine.
type Engine struct {
	cfg   Config
	sched *sched.Scheduler // owned by Run, like the two below
	pool  *kv.Pool
	live  map[*sched.Request]*Answer
	paced []*Answer // answers that are held until a time
	fresh []*Answer // answers with a token of this step
	dying bool

	wake   chan struct{} // something is in the inbox
	urgent chan struct{} // a step's time is not worth waiting for any more
	open   atomic.Int64  // asks taken and not ended
	stats  stats

	mu    sync.Mutex // guards all below
	inbox []func(*Engine)
	shut  error         // why no asks are taken
	idle  chan struct{} // closed when draining and nothing is open
}

// New returns an engine that has not started.
func New(cfg Config) *Engine {
	pool := kv.New(cfg.Blocks, cfg.BlockSize)
	e := &Engine{
		cfg:    cfg,
		pool:   pool,
		sched:  sched.New(pool, sched.Config{Budget: cfg.Budget, Slots: cfg.Slots, Priority: cfg.Priority}),
		live:   map[*sched.Request]*Answer{},
		wake:   make(chan struct{}, 1),
		urgent: make(chan struct{}, 1),
		idle:   make(chan struct{}),
	}
	e.stats.init()
	return e
}

// Run computes until the engine dies. It blocks.
func (e *Engine) Run() {
	var clock clock
	for {
		e.receive()
		if e.dying {
			return
		}
		soonest := e.hold(time.Now())
		plan := e.sched.Plan()
		if len(plan.Chunks) == 0 {
			e.stats.gauge(e)
			clock.rest(e.wake, soonest)
			continue
		}
		if e.cfg.Publish != nil && len(plan.Events) > 0 {
			e.cfg.Publish(plan.Events)
		}
		e.stats.planned(e, plan)
		clock.pass(e.cost(plan), e.urgent)
		e.sched.Commit(e.next)
		e.stats.gauge(e)
		e.deliver()
		if e.cfg.Speed == 0 {
			runtime.Gosched() // readers get a turn between two instant steps
		}
	}
}

// receive does what was asked for since the last step.
func (e *Engine) receive() {
	e.mu.Lock()
	todo := e.inbox
	e.inbox = nil
	e.mu.Unlock()
	for _, do := range todo {
		do(e)
	}
}

// post leaves a command for Run.
func (e *Engine) post(do func(*Engine)) {
	e.mu.Lock()
	e.inbox = append(e.inbox, do)
	e.mu.Unlock()
	poke(e.wake)
}

// cost is the time that the planned step takes.
func (e *Engine) cost(p *sched.Plan) time.Duration {
	if e.cfg.Speed <= 0 {
		return 0
	}
	var s pace.Step
	for _, c := range p.Chunks {
		if c.Prefill() {
			s.Prefill(c.Tokens, c.Context)
		} else {
			s.Decode(c.Context)
		}
	}
	return time.Duration(float64(s.Time(e.cfg.Profile)) / e.cfg.Speed)
}

// hold keeps paced answers out of the next step until their time has come,
// and returns the time of the next one; zero is none.
func (e *Engine) hold(now time.Time) (soonest time.Time) {
	kept := e.paced[:0]
	for _, a := range e.paced {
		if e.live[a.req] != a {
			continue
		}
		if !a.notUntil.After(now) {
			a.req.Held = false
			continue
		}
		if soonest.IsZero() || a.notUntil.Before(soonest) {
			soonest = a.notUntil
		}
		kept = append(kept, a)
	}
	clear(e.paced[len(kept):])
	e.paced = kept
	return soonest
}

// next is asked by Commit for the next id of an answer.
func (e *Engine) next(r *sched.Request) (id uint32, verdict sched.Verdict) {
	a := e.live[r]
	if f := a.ask.Script.Fault; f != "" && a.made >= a.ask.Script.After {
		if v, broke := e.fault(a, f); broke {
			return 0, v
		}
	}
	now := time.Now()
	id = a.say(e.cfg.End, e.cfg.Filler)
	a.made++
	e.stats.token(a, now)
	end := e.judge(a, id)
	a.id, a.end = id, end
	e.fresh = append(e.fresh, a)
	if end != nil {
		e.stats.ended(a, end.Reason, now)
		e.forget(a)
		return id, sched.Last
	}
	if p := a.ask.Script.Pause; p > 0 {
		a.notUntil = now.Add(p)
		a.req.Held = true
		e.paced = append(e.paced, a)
	}
	return id, sched.More
}

// fault breaks an answer as its script says; broke false means that it goes
// on, slower.
func (e *Engine) fault(a *Answer, f brain.Fault) (v sched.Verdict, broke bool) {
	switch f {
	case brain.Slow:
		a.ask.Script.Pause = max(a.ask.Script.Pause, a.ask.Script.Slow)
		return 0, false
	case brain.Close:
		e.forget(a)
		a.fail(ErrCut)
		return sched.Over, true
	case brain.Crash:
		if e.cfg.Crash != nil {
			e.cfg.Crash()
		}
		e.dying = true
	case brain.Engine:
		e.dying = true
	}
	a.req.Held = true
	return sched.Stuck, true
}

// deliver hands out a step's tokens, once its numbers are counted: a reader
// who is awake already sees nothing sooner. An engine that dies tells
// everybody.
func (e *Engine) deliver() {
	for _, a := range e.fresh {
		a.add(a.id, a.end)
		a.signal()
	}
	clear(e.fresh)
	e.fresh = e.fresh[:0]
	if e.dying {
		e.die()
	}
}

// forget takes an answer out of the books; its request is the scheduler's.
func (e *Engine) forget(a *Answer) {
	delete(e.live, a.req)
	e.closeOne()
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
