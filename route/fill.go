package route

import "time"

// Fill sets what the books know of a candidate, named by its Worker; what the
// caller knows better (overlap, limits, state) it sets before. A worker
// without an account stays as it is.
func (b *Books) Fill(now time.Time, n *Need, c *Candidate) {
	a := b.accounts[c.Worker]
	if a == nil {
		return
	}
	a.recount(now)
	c.InFlight = max(c.InFlight, a.inFlight)
	c.Pending = max(c.Pending, a.pending)
	if c.InFlight == 0 {
		c.Idle = max(now.Sub(a.totals.at), 0) // its last turn ended then
	}
	c.Backlog, c.Decoding, c.Active = a.backlog(now), a.decoding, a.active
	c.Blocks, c.BlockSize = len(a.blocks), a.block
	c.Age, c.Thrash = a.evictionAge(now), a.thrashes(now)
	c.Rates, c.Off = a.rates(), a.clock.off()
	if c.KVTokens <= 0 {
		c.KVTokens = a.limits.KVTokens
	}
	wanted, hot := a.running+a.fading+float64(a.leased), a.running+float64(a.warm+a.leased)
	if s := b.homes[n.Session]; s != nil && s.at == a {
		own := float64(s.tokens)
		if s.running == 0 {
			leased := float64(s.pledged())
			wanted -= leased + s.wants(now)*(own-leased)
			if !s.hot(now) {
				own = leased
			}
		} else {
			wanted -= own
		}
		hot -= own
	}
	c.Hot, c.Free = int(max(hot, 0)), -1
	if kv := c.KVTokens; kv > 0 {
		c.Wanted = max(wanted, 0) / float64(kv)
		c.Free = max(kv-a.active, 0)
	}
	if a.homes > 0 {
		c.Typical = a.typical / float64(a.homes)
	}
	if n.Prefix != 0 && c.Overlap == 0 && b.homes[n.Session] == nil {
		c.Overlap = max(min(b.families.of[n.Prefix].burst(now, c.Worker), n.Prompt-1), 0)
	}
}

// Shared is how many blocks of a prompt's chain turns at a worker have: those
// that a turn would not add to Candidate.Blocks.
func (b *Books) Shared(worker string, chain []uint64) (n int) {
	if a := b.accounts[worker]; a != nil {
		for n < len(chain) && a.blocks[chain[n]] > 0 {
			n++
		}
	}
	return n
}
