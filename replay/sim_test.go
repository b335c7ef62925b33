package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentinfer/dyn/replay/fleet"
	"github.com/agentinfer/dyn/replay/trace"
	"github.com/agentinfer/dyn/route"
)

// agents is a small trace of our own: n sessions that grow, with a shared
// start, every third one with a sub-agent.
func agents(t testing.TB, n int) *trace.Trace {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"s%d","block_size":16,"tool_tokens":320,"system_tokens":160,"requests":[`, i)
		size, id := 640+64*(i%5), 0
		for j := range 6 {
			keep := 0
			if j > 0 {
				b.WriteByte(',')
				keep = size / 16
				size += 160 + 16*(i%3)
			}
			add := size/16 - keep
			fmt.Fprintf(&b, `{"t":%d,"type":"n","in":%d,"out":%d,"stop":"tool_use","think_time":%d,"h":[%d,[[%d,%d]]]}`, j*10, size+i%7, 20+i%11, 1+i%4, keep, id, add)
			id += add
			if j == 2 && i%3 == 0 {
				fmt.Fprintf(&b, `,{"type":"subagent","agent_id":"a","tool_tokens":320,"system_tokens":0,"requests":[{"in":400,"out":5,"h":[0,[[9000,25]]]}]}`)
			}
		}
		b.WriteString("]}\n")
	}
	tr, err := trace.Read("agents", strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// slow is a worker on which turns of such sessions overlap.
var slow = fleet.Profile{Name: "slow", Step: 10, Token: 0.5, Square: 1e-5, Context: 1e-3, KV: 8000, Batched: 512, Slots: 8}

func small() Config {
	return Config{Profile: slow, Workers: 3, Sessions: 10, Block: 16, Measure: 5 * time.Minute, Lag: 2 * time.Millisecond, Strategy: "kv"}
}

func run(t testing.TB, tr *trace.Trace, c Config) *Result {
	t.Helper()
	r, err := Run(t.Context(), tr, c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The same run is the same on any number of cores, and another seed is
// another run.
func TestSeed(t *testing.T) {
	tr := agents(t, 20)
	var runs []Config
	for range 3 {
		for seed := range uint64(3) {
			c := small()
			c.Seed = seed + 1
			runs = append(runs, c)
		}
	}
	got, err := Compare(t.Context(), tr, runs, runtime.GOMAXPROCS(0)+2, nil)
	if err != nil {
		t.Fatal(err)
	}
	form := func(r *Result) string {
		c := *r
		c.Wall = 0
		b, _ := json.Marshal(c)
		return string(b)
	}
	for i := range 3 {
		if form(got[i]) != form(got[i+3]) || form(got[i]) != form(got[i+6]) {
			t.Errorf("seed %d differs:\n%s\n%s\n%s", i+1, form(got[i]), form(got[i+3]), form(got[i+6]))
		}
	}
	if form(got[0]) == form(got[1]) || got[0].Turns < 100 {
		t.Errorf("two seeds are one run of %d turns", got[0].Turns)
	}
	if rows := Rows(got); len(rows) != 1 || len(rows[0].Seeds) != 9 || rows[0].PerSecond.Half <= 0 {
		t.Errorf("rows %+v", rows)
	}
}

// watch is a strategy that checks what it is told, and picks as another does.
type watch struct {
	Strategy
	t    testing.TB
	most int // in flight at all workers
	held int // overlaps told
}

func (w *watch) Pick(n route.Need, cs []route.Candidate) route.Decision {
	all := 0
	for _, c := range cs {
		if c.InFlight < 0 || c.Pending < 0 || c.Overlap < 0 || c.Overlap >= n.Prompt {
			w.t.Errorf("turn %s of %d tokens: %+v", n.Turn, n.Prompt, c)
		}
		all += c.InFlight
		w.held += c.Overlap
	}
	w.most = max(w.most, all)
	return w.Strategy.Pick(n, cs)
}

// No more turns run than there are sessions and sub-agents of them, and the
// router's books are never below zero.
func TestClosedLoop(t *testing.T) {
	tr := agents(t, 20)
	for _, rule := range Strategies() {
		w := &watch{t: t}
		c := small()
		c.Strategy = rule
		c.Rule = func() (s Strategy, err error) {
			w.Strategy, err = strategy(rule)
			return w, err
		}
		r := run(t, tr, c)
		if w.most >= 2*c.Sessions || r.Turns < 100 || r.Refused > 0 {
			t.Errorf("%s: %d in flight, %+v", rule, w.most, r)
		}
		if r.TTFT50 > r.TTFT90 || r.TTFT90 > r.TTFT99 || r.TTFT50 <= 0 || r.Hit <= 0 || r.Hit >= 1 || r.Spread < 1 {
			t.Errorf("%s: %+v", rule, r)
		}
	}
}

// What the router believes of a worker is what the worker has, as long as no
// event is late: predicted and found tokens agree.
func TestBelief(t *testing.T) {
	for _, c := range []struct {
		name string
		lag  time.Duration
		loss float64
		same bool
	}{{"at once", 0, 0, true}, {"late", 10 * time.Second, 0, false}, {"lost", 0, 0.5, false}} {
		t.Run(c.name, func(t *testing.T) {
			conf := small()
			conf.Lag, conf.Loss = c.lag, c.loss
			s, err := newSim(agents(t, 20), conf.Fill(&trace.Trace{}))
			if err != nil {
				t.Fatal(err)
			}
			off, seen := 0, 0
			for len(s.agenda.heap) > 0 && s.now < s.end {
				e := s.agenda.take()
				s.now = e.at
				if e.session != nil {
					s.arrive(e.session)
					continue
				}
				if e.version != s.version[e.worker] {
					continue
				}
				s.finish(s.workers[e.worker])
				s.router.tell(s.now, s.c.Lag, s.c.Block)
				for i, w := range s.workers {
					if _, busy := w.Next(); busy {
						continue // tells what it removed when the step ends
					}
					seen++
					want := w.Pool().Cached() * s.c.Block
					if got := s.router.index.Cached(s.router.holders[i])[0].Cached; got != want && (got >= 0 || want > 0) {
						off++
					}
				}
			}
			if c.same && off > 0 || !c.same && off == 0 || seen == 0 {
				t.Errorf("%d of %d looks differ", off, seen)
			}
		})
	}
}

// Late events cost hits, never a turn.
func TestLag(t *testing.T) {
	tr := agents(t, 20)
	c := small()
	now := run(t, tr, c)
	c.Lag = time.Minute
	late := run(t, tr, c)
	if late.Hit >= now.Hit || late.Refused > 0 {
		t.Errorf("a lag of a minute: hit %.3f, without %.3f; %d refused", late.Hit, now.Hit, late.Refused)
	}
}

// A parent waits for its sub-agents, and every session is played to its end.
func TestSubagents(t *testing.T) {
	c := small()
	c.Sessions = 1
	s, err := newSim(agents(t, 3), c.Fill(&trace.Trace{}))
	if err != nil {
		t.Fatal(err)
	}
	kids, both := 0, 0
	for len(s.agenda.heap) > 0 && s.now < s.end {
		e := s.agenda.take()
		s.now = e.at
		if e.session == nil {
			if e.version == s.version[e.worker] {
				s.finish(s.workers[e.worker])
			}
			continue
		}
		if e.session.parent != nil {
			kids++
			if e.session.parent.kids != 1 || e.session.parent.turn != 3 {
				t.Fatalf("a sub-agent starts after %d turns", e.session.parent.turn)
			}
		} else if e.session.kids > 0 {
			both++
		}
		s.arrive(e.session)
	}
	if kids == 0 || both > 0 {
		t.Errorf("%d sub-agents, %d turns of parents meanwhile", kids, both)
	}
}

// A turn that fits no worker is refused, and its session goes on.
func TestTooLong(t *testing.T) {
	c := small()
	c.Profile.KV = 800
	r := run(t, agents(t, 20), c)
	if r.Refused == 0 || r.Turns == 0 {
		t.Errorf("%+v", r)
	}
}

// Requests that come at their times all end; twice as fast they take half.
func TestOpenLoop(t *testing.T) {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, `{"timestamp":%d,"input_length":%d,"output_length":3,"hash_ids":[0,%d]}`+"\n", i*500, 600+i%300, i%20+1)
	}
	tr, err := trace.Read("open", strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Profile: slow, Workers: 2, Open: true, Strategy: "kv"}
	one := run(t, tr, c)
	c.Speed = 2
	two := run(t, tr, c)
	if one.Turns != 200 || two.Turns != 200 || two.PerSecond < 1.8*one.PerSecond || one.Hit < 0.5 {
		t.Errorf("%+v\n%+v", one, two)
	}
}

func TestBadConfig(t *testing.T) {
	tr := agents(t, 3)
	for name, c := range map[string]Config{
		"no such rule":        {Strategy: "nonsense"},
		"workers":             {Workers: -1},
		"engine":              {Engine: "steam"},
		"block":               {Block: 24},
		"one token":           {Block: 1},
		"cache":               {KV: 10},
		"sessions":            {Sessions: -4},
		"no times":            {Open: true},
		"speed":               {Speed: -1},
		"loss":                {Loss: 2},
		"nothing is so short": {MaxContext: 10},
	} {
		if _, err := Run(t.Context(), tr, c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// What was done before a comparison was interrupted is not lost.
func TestCompareInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	one := small()
	got, err := Compare(ctx, agents(t, 12), []Config{one, one, one}, 1, func(int, *Result) { stop() })
	if !errors.Is(err, context.Canceled) || len(got) != 3 || got[0] == nil || got[2] != nil {
		t.Fatalf("want the first of three results and that it was cancelled, got %v, %v", got, err)
	}
	if rows := Rows(got); len(rows) != 1 || len(rows[0].Seeds) != 1 {
		t.Errorf("want a row of one seed, got %+v", rows)
	}
}
