package route

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// crowd is many agents with the same system prompt on a few workers whose
// caches hold everything. A worker computes prompts one after another, and
// tokens of answers the slower the more turns it has.
type crowd struct {
	sessions, turns, workers int
	system, fresh, answer    int     // tokens: of the common prompt, of a turn, of its answer
	token, step, beside      float64 // ms: for a prompt token, for a token of the answer, and more for each turn beside it
	pause                    float64 // ms between two turns of a session, on average
	seed                     uint64
	held                     []map[int]int // tokens, by worker and session; of session -1 the system prompt
	pending, flight          []int
	free                     []float64 // when a worker has no prompt to compute
	served                   []int
	first                    []float64 // ms to the first token, of each turn
	queue                    []happening
}

// happening is something at a time: a turn of a session comes, has its first
// token, or ends.
type happening struct {
	at      float64
	what    int // 0, 1, 2
	session int
	turn    int
	worker  int
	new     int
}

func (c *crowd) push(h happening) {
	at, _ := slices.BinarySearchFunc(c.queue, h, func(a, b happening) int {
		if a.at <= b.at {
			return -1
		}
		return 1
	})
	c.queue = slices.Insert(c.queue, at, h)
}

// run plays all turns with a rule.
func (c *crowd) run(t *testing.T, s Strategy) {
	r := rand.New(rand.NewPCG(c.seed, 1))
	c.pending, c.flight, c.served = make([]int, c.workers), make([]int, c.workers), make([]int, c.workers)
	c.free, c.held = make([]float64, c.workers), make([]map[int]int, c.workers)
	for w := range c.held {
		c.held[w] = map[int]int{}
	}
	for i := range c.sessions {
		c.push(happening{at: r.Float64() * c.pause, session: i})
	}
	homes := make([]string, c.sessions)
	for len(c.queue) > 0 {
		h := c.queue[0]
		c.queue = c.queue[1:]
		switch h.what {
		case 0:
			c.arrive(t, s, h, homes)
		case 1:
			c.pending[h.worker] -= h.new
			ms := float64(c.answer) * (c.step + c.beside*float64(c.flight[h.worker]-1))
			c.push(happening{at: h.at + ms, what: 2, session: h.session, turn: h.turn, worker: h.worker, new: h.new})
		case 2:
			c.flight[h.worker]--
			if l, ok := s.(Learner); ok {
				o := Outcome{Turn: fmt.Sprint(h.session, "/", h.turn), Worker: fmt.Sprint("w", h.worker), Prompt: c.prompt(h.turn), Output: c.answer}
				o.Cached, o.TTFT, o.Step = o.Prompt-h.new, time.Duration(c.token*float64(h.new)*1e6), time.Duration(c.step*1e6)
				l.Observe(o)
			}
			if h.turn+1 < c.turns {
				c.push(happening{at: h.at + r.ExpFloat64()*c.pause, session: h.session, turn: h.turn + 1})
			}
		}
	}
}

// prompt is how long a session's prompt is at a turn.
func (c *crowd) prompt(turn int) int { return c.system + (turn+1)*c.fresh + turn*c.answer }

// arrive lets the rule place a turn.
func (c *crowd) arrive(t *testing.T, s Strategy, h happening, homes []string) {
	n := Need{
		Turn: fmt.Sprint(h.session, "/", h.turn), Prompt: c.prompt(h.turn), Seq: uint64(len(c.first)), Seed: c.seed, Prefix: 1,
		Session: fmt.Sprint("s", h.session), Home: homes[h.session], Output: float64(c.answer),
	}
	var cs []Candidate
	for w := range c.workers {
		cs = append(cs, Candidate{
			Worker: fmt.Sprint("w", w), Overlap: max(c.held[w][h.session], c.held[w][-1]), InFlight: c.flight[w], Pending: c.pending[w],
			MaxBatched: 1 << 40, KVTokens: 4_000_000, Active: c.flight[w] * n.Prompt, Blocks: c.flight[w] * n.Prompt / 64, BlockSize: 64,
			Backlog: max(c.free[w]-h.at, 0),
		})
	}
	d := s.Pick(n, cs)
	w := slices.IndexFunc(cs, func(c Candidate) bool { return c.Worker == d.Worker })
	if w < 0 {
		t.Fatalf("nobody: %+v", d)
	}
	homes[h.session] = d.Worker
	h.what, h.worker, h.new = 1, w, n.Prompt-cs[w].Overlap
	c.flight[w]++
	c.pending[w] += h.new
	c.served[w]++
	c.free[w] = max(c.free[w], h.at) + c.token*float64(h.new)
	c.first = append(c.first, c.free[w]-h.at)
	c.held[w][-1], c.held[w][h.session] = c.system, n.Prompt+c.answer
	h.at = c.free[w]
	c.push(h)
}

// most is the share of the turns that the busiest worker got.
func (c *crowd) most() float64 { return float64(slices.Max(c.served)) / float64(len(c.first)) }

// median is of the times to the first token.
func (c *crowd) median() float64 {
	slices.Sort(c.first)
	return c.first[len(c.first)/2]
}

// play runs the crowd of the two traps with a rule: 32 sessions of 8 turns on
// four workers, as in the measurements that showed them.
func play(t *testing.T, rule string, seed uint64) *crowd {
	s, err := New(rule)
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{
		sessions: 32, turns: 8, workers: 4, system: 12_000, fresh: 600, answer: 60,
		token: 0.15, step: 8, beside: 0.2, pause: 400, seed: seed,
	}
	c.run(t, s)
	return c
}

// magnets are the published rules that fall into the traps below. They are kept
// as they are, so they are held to it. SGLang's sent every one of 256 turns to
// one of four workers and took three times as long as lots (sglang-router
// 0.3.2, measured). llm-d's counts the only hit of a few tokens in full, which
// outweighs any queue until half of the KV cache is in use.
var magnets = map[string]bool{"sglang": true, "kv-load": true}

// Sessions that share a system prompt must not all go to the worker that has
// it.
func TestSharedPromptIsNoMagnet(t *testing.T) {
	for i, r := range Rules() {
		share, most := play(t, r.Name, 1).most(), 0.7
		if i == 0 {
			most = 0.4 // the default has to spread them
		}
		switch {
		case magnets[r.Name] && share < 0.9:
			t.Errorf("%s: the busiest worker got only %.2f of the turns, so it is not the published rule", r.Name, share)
		case !magnets[r.Name] && share > most:
			t.Errorf("%s: the busiest of four workers got %.2f of the turns", r.Name, share)
		}
	}
}

// Where memory is ample, looking at the cache must not make the median first
// token later than lots do (Dynamo's KV router: 318 ms against 256 of random,
// measured).
func TestAmpleMemoryIsNoWorseThanLots(t *testing.T) {
	blind := map[string]bool{"random": true, "round-robin": true, "least-loaded": true, "p2c": true}
	for seed := range uint64(3) {
		lots := play(t, "random", seed).median()
		for _, r := range Rules() {
			if blind[r.Name] {
				continue
			}
			switch got := play(t, r.Name, seed).median(); {
			case magnets[r.Name] && got < lots:
				t.Errorf("seed %d: %s %.0f ms, random %.0f ms: the crowd does not show the fault that it is for", seed, r.Name, got, lots)
			case !magnets[r.Name] && got > lots:
				t.Errorf("seed %d: %s %.0f ms, random %.0f ms", seed, r.Name, got, lots)
			}
		}
	}
}
