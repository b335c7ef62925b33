package session

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/life"
	"github.com/agentinfer/dyn/turn"
)

// Agent is one line of turns.
type Agent struct {
	Model string   // set once
	Who   turn.Who // set once; Kind is the first turn's
	base  uint64   // set once: of the places in its line

	turn   sync.Mutex // held while a turn builds its prompt; guards all up to like
	state  prompt.State
	chains map[int]*cache.Chain // block hashes of the last prompt by block size
	tools  []turn.Tool          // the last that its turns had; never written
	parent *Agent               // where it forked from, until its first prompt
	near   bool                 // and that was in the later half of the parent's prompt

	like *Agent // whose prompt its first is compared with

	toolBytes int       // of tools
	shelved   time.Time // when tools were put on the shelf
	forked    bool      // set once: named by us, so nobody asks for it after a restart

	heir atomic.Pointer[Agent] // who took the prompt over; nil when it is here

	// Guarded by the store's mutex.
	elem  *list.Element // nil when dropped
	awake *list.Element // nil when its prompt is at rest
	line  []uint64      // rolling hashes of the last prompt, then of the answer
	asked int           // how many of line were in the prompt
	exact Exact         // of the last prompt
	held  int           // bytes
	looks looks

	mu      sync.Mutex // guards all below
	figures Figures
	life    life.State
}

// Figures are what a screen shows of an agent. Ratios and times are -1 where
// nothing is known.
type Figures struct {
	First, Last time.Time
	Landed      time.Time // when its last turn ended; zero before any did
	Turns       int
	Waiting     int // turns in the router's queue now
	Prefill     int // turns sent, without a first token
	Streaming   int
	Worker      string
	Context     int // tokens of the last prompt and answer
	Lasting     int // of those, that the next prompt can begin with
	Dead        int // tokens behind the last that went on from them, which nobody asks for again, as of
	DeadAt      time.Time
	Overlap     float64 // share of the last prompt believed to be held
	Hit         float64 // share of the last ended prompt that was cached
	TTFT        time.Duration
	LeaseEnds   time.Time
}

// Figures returns a copy.
func (a *Agent) Figures() Figures {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.figures
}

// Note changes the figures.
func (a *Agent) Note(f func(*Figures)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.figures)
}

// Life returns what the agent is taken to do between its turns.
func (a *Agent) Life() life.State {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.life
}

// Live changes that. While it is called no turn of the agent changes its
// figures.
func (a *Agent) Live(f func(*life.State)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f(&a.life)
}

// Forked reports whether the agent left the line of another one of a client
// that names none.
func (a *Agent) Forked() bool { return a.forked }

// seen marks a sign of life.
func (a *Agent) seen(now time.Time) {
	a.Note(func(f *Figures) { f.Last = now })
}

// name is the agent's key.
func (a *Agent) name() name { return name{a.Model, a.Who.Session, a.Who.Agent} }
