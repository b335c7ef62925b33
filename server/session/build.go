package session

import (
	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/turn"
)

// Asked is what an agent's prompt is built of.
type Asked struct {
	Model  *prompt.Model
	Turn   *turn.Turn     // after prompt.Steady
	Known  *prompt.Hashes // of its messages, where they are known already
	Raw    *prompt.Raw
	AsIs   bool   // with no tools but its own
	Seed   uint64 // of the block hashes
	Blocks []int  // sizes of blocks to hash by
	Most   int    // tokens that a prompt may have; a longer one is not kept; 0 is any number
}

// Built is an agent's prompt. Nothing in it may be written.
type Built struct {
	prompt.Prompt
	Chains map[int][]uint64 // block hashes by block size
	Former bool             // rendered with the tools of turns before, see prompt.Former
	Bytes  int              // what the agent now holds, for Store.Holds
	Left   *Agent           // whose prompt it took over, or nil: that one holds less now
}

// Build makes the prompt of the agent's next turn. What is as it was in the
// turn before is not made again. Turns of one agent are built one by one.
func (a *Agent) Build(q Asked) (Built, error) {
	a.turn.Lock()
	defer a.turn.Unlock()
	left := a.inherit()
	t, former := q.Turn, false
	if !q.AsIs && prompt.Bare(t) {
		a.recall(q.Raw)
		t, former = prompt.Former(q.Turn, a.former())
	}
	a.state.Most = q.Most
	p, err := q.Model.Build(&a.state, t, q.Known, q.Raw)
	if err != nil {
		return Built{Bytes: a.bytes(), Left: left}, err
	}
	a.remember(q.Turn.Tools, q.Raw)
	b := Built{Prompt: p, Chains: make(map[int][]uint64, len(q.Blocks)), Former: former, Left: left}
	chains := make(map[int]*cache.Chain, len(q.Blocks))
	for _, block := range q.Blocks {
		c := a.chains[block]
		if c == nil {
			c = new(cache.Chain)
		}
		chains[block] = c
		b.Chains[block] = c.Of(q.Seed, p.IDs, block, p.Same)
	}
	a.against(q, t, &b)
	a.chains = chains // of the others Same tells nothing any more
	if q.Most > 0 && p.IDs.Len() > q.Most {
		a.chains = nil // what is kept is the prompt before
	}
	b.Bytes = a.bytes()
	return b, nil
}

// empty drops the prompt of an agent that nobody finds any more: one whose
// prompt it took over may still name it. Where a turn of it is being built,
// Holds comes after.
func (a *Agent) empty() {
	if a.turn.TryLock() {
		a.state, a.chains = prompt.State{}, nil
		a.turn.Unlock()
	}
}

// rest lets go of what the agent's prompt can be made without, unless a turn
// of it is being built, and returns what it then holds.
func (a *Agent) rest() (bytes int, ok bool) {
	if !a.turn.TryLock() {
		return 0, false
	}
	defer a.turn.Unlock()
	a.state.Rest()
	return a.bytes(), true
}

// inherit gives a fork what the agent that it left knows, and an agent whose
// prompt was taken over a copy of what became of it; turn must be held. It
// returns the agent that has given its prompt away, if any.
//
// A fork that left near the end, as after an edited question, takes the prompt
// over: whoever came last goes on soonest, and so does the next fork from the
// same place.
//
// Locks: an agent that holds its own turn takes another's, one at a time. It
// waits for its parent only before its first prompt, when nobody's way leads
// to it yet, and for heirs afterwards, whose first prompt came after its own.
func (a *Agent) inherit() (left *Agent) {
	first := a.parent
	if first == nil {
		first = a.heir.Load()
	}
	if first == nil {
		return nil
	}
	take := a.parent != nil && a.near
	a.parent = nil
	a.heir.Store(nil)
	p := first.keeper()
	defer p.turn.Unlock()
	if a.tools == nil {
		a.tools, a.toolBytes = p.tools, p.toolBytes
	}
	if !take {
		a.state = *p.state.Clone()
		a.chains = make(map[int]*cache.Chain, len(p.chains))
		for block, c := range p.chains {
			own := c.Clone()
			a.chains[block] = &own
		}
		return nil
	}
	a.state, a.chains = p.state, p.chains
	p.state, p.chains = prompt.State{}, nil
	p.heir.Store(a)
	if p != first {
		first.heir.Store(a) // the way is not to grow with every fork
	}
	return p
}

// keeper locks and returns who has the prompt that a once had: a itself, or
// who took it over.
func (a *Agent) keeper() *Agent {
	a.turn.Lock()
	for next := a.heir.Load(); next != nil; next = a.heir.Load() {
		a.turn.Unlock()
		next.turn.Lock()
		a = next
	}
	return a
}

// Held tells how many bytes the agent's prompt takes.
func (a *Agent) Held() int {
	a.turn.Lock()
	defer a.turn.Unlock()
	return a.bytes()
}

// bytes tells how much memory the agent's prompt takes, with all that is kept
// for the next one; turn must be held.
func (a *Agent) bytes() int {
	n := a.state.Bytes()
	for _, c := range a.chains {
		n += c.Bytes()
	}
	return n + a.toolBytes
}
