package server

import (
	"slices"

	"github.com/agentinfer/dyn/turn"
)

// workerLoad is what turns are under way at a worker.
type workerLoad struct {
	Worker  string `json:"worker_id"`
	Rank    int    `json:"dp_rank"`
	State   string `json:"state"`
	Turns   int    `json:"active_requests"`
	Pending int    `json:"active_prefill_tokens"` // uncached, of those without a first token
	Blocks  int    `json:"active_decode_blocks"`  // distinct ones of their prompts
	Block   int    `json:"block_size"`            // 0: unknown, and Blocks counts none
}

// potentialLoad is the load of a worker if a turn were added.
type potentialLoad struct {
	Worker  string `json:"worker_id"`
	Rank    int    `json:"dp_rank"`
	Pending int    `json:"potential_prefill_tokens"`
	Blocks  int    `json:"potential_decode_blocks"`
	Turns   int    `json:"active_requests"` // without it
	Out     string `json:"left_out,omitempty"`
}

// loadsAsk is a body of /v1/route/loads, which may be left out.
type loadsAsk struct {
	Model string `json:"model"`
}

// routeLoads answers what the caller's turns are at each worker.
func (s *Server) routeLoads(c *call) error {
	var ask loadsAsk
	body, err := s.body(c.RequestCtx, nil)
	if err == nil && len(body) > 0 {
		err = readObject(body, &ask)
	}
	if err != nil {
		return err
	}
	m, err := s.only(c.model(ask.Model))
	if err != nil {
		return err
	}
	list := []workerLoad{}
	for _, one := range m.under(c) {
		list = append(list, workerLoad{
			Worker: one.name, State: string(one.state), Turns: one.turns, Pending: one.pending, Blocks: one.blocks(nil), Block: one.block,
		})
	}
	return reply(c.RequestCtx, map[string]any{"workers": list})
}

// potentialLoads answers what they would be with one more turn.
func (s *Server) potentialLoads(c *call) error {
	f, _, err := s.wonders(c)
	if err != nil {
		return err
	}
	d, _, err := f.ask(nil)
	if err != nil {
		return err
	}
	list := []potentialLoad{}
	for _, one := range f.m.under(c) {
		p := potentialLoad{Worker: one.name, Pending: one.pending, Turns: one.turns}
		for _, part := range d.Parts {
			if part.Worker == one.name {
				p.Pending += part.New
				p.Out = part.Out
			}
		}
		if one.block > 0 && f.asked%one.block > 0 {
			one.tails++
		}
		p.Blocks = one.blocks(f.chains[one.block])
		list = append(list, p)
	}
	return reply(c.RequestCtx, map[string]any{"workers": list})
}

// burden is what some turns are at one worker. Chains are shared and not
// written.
type burden struct {
	name    string
	state   turn.State
	block   int
	turns   int
	pending int
	tails   int // prompts that end inside a block
	chains  [][]uint64
}

// blocks counts distinct blocks, those of one more chain too.
func (b *burden) blocks(more []uint64) int {
	seen := make(map[uint64]struct{}, len(more))
	for _, chain := range append(slices.Clip(b.chains), more) {
		for _, hash := range chain {
			seen[hash] = struct{}{}
		}
	}
	return len(seen) + b.tails
}

// under is what the turns of a call's key are at each worker, in the order of
// their names; of all turns where it came without a key of a tenant.
func (m *model) under(c *call) []burden {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := make([]burden, 0, len(m.members))
	at := map[*member]int{}
	for name, b := range m.members {
		one := burden{name: name, state: b.info.State}
		if b.index != nil {
			one.block = b.index.Block()
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b burden) int { return natural(a.name, b.name) })
	for i := range list {
		at[m.members[list[i].name]] = i
	}
	for st := range m.seats {
		i, ok := at[st.member]
		if !ok || c.who != nil && st.tenant != c.tenant() {
			continue
		}
		one := &list[i]
		one.turns++
		one.pending += st.pending
		if st.block > 0 && st.block == one.block {
			one.chains = append(one.chains, st.chain)
			if st.tokens%st.block > 0 {
				one.tails++
			}
		}
	}
	return list
}
