package server

import (
	"time"

	"github.com/agentinfer/dyn/cache"
	"github.com/agentinfer/dyn/prompt"
	"github.com/agentinfer/dyn/server/dialect"
	"github.com/agentinfer/dyn/turn"
)

// identify finds whose turn it is.
func (s *Server) identify(t *turn.Turn, m *model) *flight {
	f := &flight{s: s, m: m, t: t, seats: make(chan placement, 1), out: make(chan item, 16), flown: make(chan struct{}), lost: map[string]time.Time{}}
	f.rolling = prompt.Rolling(nil, t)
	f.a = s.sessions.Find(t, f.rolling, t.Arrived)
	return f
}

// render makes the prompt's ids and checks that they fit.
func (f *flight) render() error {
	p, limit, err := f.build()
	if err != nil {
		return err
	}
	room := limit - len(p.IDs)
	if f.t.MaxTokens > 0 {
		room = min(room, f.t.MaxTokens)
	}
	f.marks, f.thinks, f.asked, f.limit = p.Marks, p.Thinks, len(p.IDs), room
	f.job = turn.Job{
		ID: f.t.ID, Prompt: p.IDs, MaxTokens: room, Stop: f.t.Stop, StopIDs: f.m.Prompt.StopIDs(),
		Sampling: f.t.Sampling, Salt: f.t.Salt, Priority: f.t.Hints.Priority,
	}
	f.force()
	return nil
}

// build makes the prompt, with the agent's last one as a help. A prompt that
// is refused is not kept: nobody would count its memory.
func (f *flight) build() (p prompt.Prompt, limit int, err error) {
	f.a.Turn.Lock()
	defer f.a.Turn.Unlock()
	f.a.Inherit()
	p, err = f.m.Prompt.Build(&f.a.State, f.t, f.rolling, f.m.raw)
	if err != nil {
		return p, 0, &dialect.Problem{Kind: dialect.Invalid, Message: err.Error()}
	}
	limit = f.m.context()
	if limit > len(p.IDs) {
		return p, limit, nil
	}
	f.a.State = prompt.State{}
	f.s.sessions.Holds(f.a, 0)
	if limit == 0 {
		return p, 0, unavailable(f.m.ID)
	}
	return p, limit, &dialect.Problem{Kind: dialect.TooLong, Prompt: len(p.IDs), Limit: limit}
}

// chain hashes the prompt's blocks, once per block size that workers use.
func (f *flight) chain() {
	seed := cache.SaltSeed("", f.t.Salt)
	f.chains = make(map[int][]uint64, 1)
	for _, block := range f.m.blocks() {
		f.chains[block] = cache.Extend(make([]uint64, 0, len(f.job.Prompt)/block), seed, f.job.Prompt, block)
	}
}
