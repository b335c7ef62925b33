package llamacpp

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/agentinfer/dyn/engine/remote"
	"github.com/agentinfer/dyn/turn"
)

// meterEvery is the least time between two looks at /metrics. The question goes
// through the engine's own queue, and each answer there puts off by a second
// that it notices a hang-up.
const meterEvery = 3 * time.Second

// meter keeps what was read last. Its zero value is ready.
type meter struct {
	mu   sync.Mutex // held while reading, so that two do not read at once
	at   time.Time  // when it was read; zero is never
	read counts

	othersRun, othersWait int // of read, what was not ours
}

// counts is what is read of a metrics page.
type counts struct {
	running, waiting float64
	cached, computed float64 // prompt tokens
	steps            float64 // of the engine
	known            bool    // there is such a page
}

// due reports whether it is time to read.
func (m *meter) due(now time.Time) bool { return m.at.IsZero() || now.Sub(m.at) >= meterEvery }

// Load tells how the server fares. What it runs is read from /metrics, every
// three seconds at most; in between /health is asked, and what we know of our
// own turns is told, with what others had there at the last look. A server
// without metrics is well all the same.
func (c *client) Load(ctx context.Context) (turn.Load, error) {
	m := &c.metered
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.due(time.Now())
	if now {
		if err := c.meter(ctx); err != nil {
			return turn.Load{}, err
		}
	} else if err := c.Health(ctx); err != nil {
		return turn.Load{}, err
	}
	l := turn.Load{
		At: m.at, Running: remote.Whole(m.read.running), Waiting: remote.Whole(m.read.waiting),
		Hits: int64(remote.Whole(m.read.cached)), Queries: int64(remote.Whole(m.read.cached + m.read.computed)),
		Work: int64(remote.Whole(m.read.steps)),
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mirror == nil {
		return l, nil
	}
	run, wait := c.mirror.runs()
	switch {
	case now && !m.read.known:
		m.othersRun, m.othersWait = 0, 0
		l.Running, l.Waiting = run, wait
	case now:
		m.othersRun, m.othersWait = max(l.Running-run, 0), max(l.Waiting-wait, 0)
		c.mirror.rests(l.Running)
	case c.args == nil: // others have turns at the servers that they launched
		l.Running, l.Waiting = run+m.othersRun, wait+m.othersWait
	default:
		l.Running, l.Waiting = run, wait
	}
	c.mirror.tell(&l)
	return l, nil
}

// meter reads the page; mu of the meter must be held.
func (c *client) meter(ctx context.Context) error {
	page, err := c.http.Page(ctx, "/metrics")
	if err != nil {
		if err := c.Health(ctx); err != nil {
			return err
		}
		c.metered.at, c.metered.read = time.Now(), counts{} // it was not launched with --metrics
		return nil
	}
	c.metered.at, c.metered.read = time.Now(), readCounts(page)
	return nil
}

// readCounts reads a metrics page.
func readCounts(page []byte) counts {
	n := counts{known: true}
	for line := range bytes.Lines(page) {
		line, ok := bytes.CutPrefix(line, []byte("llamacpp:"))
		if !ok {
			continue
		}
		name, value, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		x, err := strconv.ParseFloat(string(value), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		switch string(name) {
		case "requests_processing":
			n.running = x
		case "requests_deferred":
			n.waiting = x
		case "prompt_tokens_cached_total":
			n.cached = x
		case "prompt_tokens_total":
			n.computed = x
		case "n_decode_total":
			n.steps = x
		}
	}
	return n
}

// runs counts our turns that run and that wait.
func (m *mirror) runs() (running, waiting int) {
	for _, s := range m.slots {
		if s.busy != nil {
			running++
		}
	}
	return running, len(m.queue)
}

// tell adds what the mirror knows of the levels.
func (m *mirror) tell(l *turn.Load) {
	used := 0
	for _, s := range m.slots {
		if s.busy != nil {
			used += s.busy.prompt.Len()
		}
	}
	slots := turn.Tier{Name: slotTier, Used: used, Cached: -1, Capacity: m.rules.context * len(m.slots)}
	if m.rules.sweeping {
		slots.Capacity = m.rules.context // shared by all
	}
	l.Tiers = []turn.Tier{slots}
	if m.rules.saving {
		l.Tiers = append(l.Tiers, turn.Tier{Name: hostTier, Cached: -1, Capacity: int(m.rules.room / m.rules.perToken)})
	}
	if slots.Capacity > 0 {
		l.KVUsed = min(float64(used)/float64(slots.Capacity), 1)
	}
}
