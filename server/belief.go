package server

import (
	"sync"
	"time"

	"github.com/agentinfer/dyn/ledger"
	"github.com/agentinfer/dyn/route"
)

// beliefs are what the ledger says about engines that outlived a daemon and
// cannot tell what they hold: each session's last turn left its prompt and its
// answer there. A belief is for the first turn of its agent; after that the
// index knows better. The zero value has none.
type beliefs struct {
	mu sync.Mutex // guards all below; a leaf
	of map[agentKey]belief
}

type agentKey struct{ session, agent string }

type belief struct {
	worker string
	tokens int
	turn   string // that it is for; "" is none yet
}

// Believe takes turns of an earlier daemon, the oldest first. since is when
// the engines of workers that may be adopted were started, by worker: what was
// before that is lost.
func (s *Server) Believe(turns []ledger.Turn, since map[string]time.Time) {
	b := &s.beliefs
	b.mu.Lock()
	defer b.mu.Unlock()
	b.of = map[agentKey]belief{}
	for _, t := range turns {
		k := agentKey{t.Session, t.Agent}
		delete(b.of, k)
		if start, ok := since[t.Worker]; ok && t.At.After(start) && t.Output > 0 {
			b.of[k] = belief{worker: t.Worker, tokens: t.Prompt + t.Output}
		}
	}
}

// about is the belief about a turn's agent. One that is only asked about has no
// turn, and takes nothing from the one that comes.
func (b *beliefs) about(session, agent, turn string) (belief, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.of) == 0 {
		return belief{}, false
	}
	k := agentKey{session, agent}
	one, ok := b.of[k]
	switch {
	case !ok:
		return one, false
	case turn == "":
		return one, one.turn == ""
	case one.turn != "" && one.turn != turn:
		delete(b.of, k)
		return one, false
	}
	one.turn = turn
	b.of[k] = one
	return one, true
}

// believe adds what is believed to what candidates are known to hold; mu must
// be held. A worker that was started anew, or whose KV events were replayed,
// is not believed of.
func (m *model) believe(f *flight, cs []route.Candidate) {
	id := f.t.ID
	if f.t.Hints.Query {
		id = ""
	}
	one, ok := f.s.beliefs.about(f.t.Who.Session, f.t.Who.Agent, id)
	if !ok {
		return
	}
	for i := range cs {
		b := m.members[cs[i].Worker]
		if cs[i].Worker != one.worker || b.index == nil || !b.info.Adopted || b.info.Caps.Replay {
			continue
		}
		block := b.index.Block()
		cs[i].Overlap = max(cs[i].Overlap, min(one.tokens, f.job.Prompt.Len()-1)/block*block)
	}
}
