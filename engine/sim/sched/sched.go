package sched

import (
	"slices"

	"github.com/agentinfer/dyn/engine/sim/kv"
)

// Config holds the limits of a scheduler.
type Config struct {
	Budget   int  // tokens computed in one step, over all requests
	Slots    int  // requests that run at once
	Priority bool // honour priorities; else first come, first served
}

// Scheduler decides the steps of one engine. Make one with New; it belongs to
// one goroutine.
type Scheduler struct {
	cfg     Config
	pool    *kv.Pool
	running []*Request
	waiting []*Request
	arrived uint64
	hits    []kv.Block
	plan    Plan

	// Preemptions counts requests that lost their blocks.
	Preemptions int
}

// Plan is the work of one step. It is valid until the next call of Plan.
type Plan struct {
	Chunks []Chunk
	Events []kv.Event // in order; the caller may keep them
}

// Chunk is the part of a step that computes tokens of one request.
type Chunk struct {
	Request *Request
	Context int // tokens computed before
	Tokens  int
}

// Prefill reports whether the chunk computes more than the newest token.
func (c Chunk) Prefill() bool { return c.Tokens > 1 || c.Context < c.Request.prompt }

// New returns a scheduler over pool. Budget and Slots are at least 1.
func New(pool *kv.Pool, cfg Config) *Scheduler {
	cfg.Budget, cfg.Slots = max(cfg.Budget, 1), max(cfg.Slots, 1)
	return &Scheduler{cfg: cfg, pool: pool}
}

// Add lets a request wait for its turn.
func (s *Scheduler) Add(r *Request) {
	s.arrived++
	r.arrival, r.prompt, r.Cached = s.arrived, len(r.Tokens), -1
	s.enqueue(r)
}

// Drop takes a request out, wherever it is; its blocks are free at once.
func (s *Scheduler) Drop(r *Request) {
	switch r.state {
	case running:
		s.running = without(s.running, r)
	case waiting:
		s.waiting = without(s.waiting, r)
	}
	s.release(r)
}

// Running and Waiting are the numbers of requests in each state.
func (s *Scheduler) Running() int { return len(s.running) }

// Waiting is the number of requests that hold no blocks yet or no more.
func (s *Scheduler) Waiting() int { return len(s.waiting) }

// Plan picks the work of the next step and takes the blocks for it. Without
// chunks there is nothing to do until a request comes or is no longer held;
// a wiped cache is not told before there is work either.
func (s *Scheduler) Plan() *Plan {
	s.plan.Chunks = s.plan.Chunks[:0]
	left, preempted := s.advance(s.cfg.Budget)
	if !preempted {
		s.admit(left)
	}
	s.plan.Events = nil
	if len(s.plan.Chunks) > 0 {
		s.plan.Events = s.pool.Flush()
	}
	return &s.plan
}

// Verdict says how a request goes on after a step.
type Verdict uint8

// The verdicts.
const (
	More  Verdict = iota // the id is appended, the next step computes it
	Last                 // the id is appended and the request is over
	Over                 // there is no id and the request is over
	Stuck                // there is no id; the request must be held for good
)

// Commit ends the planned step. next is asked for the next token of each
// request whose tokens are all computed, in the order of the plan. The blocks
// of a request that is over are free.
func (s *Scheduler) Commit(next func(*Request) (id uint32, v Verdict)) {
	ended := false
	for _, c := range s.plan.Chunks {
		r := c.Request
		r.done += c.Tokens
		if r.done < len(r.Tokens) {
			continue
		}
		id, v := next(r)
		if v == More || v == Last {
			r.Tokens = append(r.Tokens, id)
		}
		if v == Last || v == Over {
			s.release(r)
			ended = true
		}
	}
	if ended {
		s.running = slices.DeleteFunc(s.running, func(r *Request) bool { return r.state != running })
	}
}

// advance plans the running requests and returns the budget left.
func (s *Scheduler) advance(left int) (rest int, preempted bool) {
	for i := 0; i < len(s.running) && left > 0; i++ {
		r := s.running[i]
		if r.Held {
			continue
		}
		n := min(len(r.Tokens)-r.done, left)
		need := s.blocks(r.done+n) - len(r.blocks)
		for need > s.pool.Free() && r.state == running {
			at, back := s.preempt()
			preempted = true
			left += back
			if at <= i {
				i--
			}
		}
		if r.state != running {
			break
		}
		s.compute(r, n, need)
		left -= n
	}
	return left, preempted
}

// admit plans waiting requests while slots, blocks and budget last.
func (s *Scheduler) admit(left int) {
	for len(s.waiting) > 0 && left > 0 && len(s.running) < s.cfg.Slots {
		r := s.waiting[0]
		size := s.pool.BlockSize()
		r.Chain = kv.Chain(r.Chain, r.Tokens, size, r.Salt)
		s.hits = s.pool.Lookup(s.hits[:0], r.Chain, (len(r.Tokens)-1)/size)
		hit := len(s.hits)
		if s.blocks(len(r.Tokens))-hit+s.pool.Evictable(s.hits) > s.pool.Free() {
			return
		}
		s.waiting = append(s.waiting[:0], s.waiting[1:]...)
		if r.Report && hit > 0 {
			s.pool.Report(r.Chain, r.Tokens, 0, hit, r.Salt)
		}
		s.pool.Claim(s.hits)
		r.blocks = append(r.blocks[:0], s.hits...)
		r.told, r.done = hit, hit*size
		if r.Cached < 0 {
			r.Cached = r.done
		}
		r.state = running
		s.running = append(s.running, r)
		n := min(len(r.Tokens)-r.done, left)
		s.compute(r, n, s.blocks(r.done+n)-hit)
		left -= n
	}
}

// compute takes need blocks for the next n tokens of r and tells what they
// fill.
func (s *Scheduler) compute(r *Request, n, need int) {
	if need > 0 {
		r.blocks = s.pool.Take(r.blocks, need)
	}
	if full := (r.done + n) / s.pool.BlockSize(); full > r.told {
		r.Chain = kv.Chain(r.Chain, r.Tokens, s.pool.BlockSize(), r.Salt)
		s.pool.Fill(r.blocks, r.Chain, r.Tokens, r.told, full, r.Salt)
		r.told = full
	}
	s.plan.Chunks = append(s.plan.Chunks, Chunk{r, r.done, n})
}

// blocks is how many blocks hold n tokens.
func (s *Scheduler) blocks(n int) int {
	size := s.pool.BlockSize()
	return (n + size - 1) / size
}
